"""Real QEMU processes move guests to each other, and answer as was predicted.

Each case asks `engine.moves` about an inventory of two hosts and a guest with the very `-cpu` that
QEMU is then started with, and moves the guest. Nothing but emulation runs here: a host is a QEMU
binary, and the flags of its `/proc/cpuinfo` are those that this binary says its emulation has.
A restricted target is a copy of the binary whose table of emulated features has zeros in it
(`support.qemu_program`), so that QEMU's own code finds the flag missing.

What this shows: where the target cannot give what an enforced model has, QEMU there does not start
and the guest goes on running where it is, and in all other cases it arrives and runs; without
`enforce` QEMU reports a success and the guest arrives without the flags; a machine type that the
target does not know is refused. What it cannot show: what KVM makes of silicon. The same code
(x86_cpu_filter_features in target/i386/cpu.c) compares and refuses, but under KVM the kernel tells
what there is, and QEMU adds flags of KVM's own to a model; those that the emulation lacks are
turned off in every `-cpu` here. Nor does it show guests that crash, since nothing runs but the
firmware, or what KVM makes of registers that the target has no place for (MIG005).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from support.qemu_migration import Machine, migrate, running
from support.qemu_prediction import (
    MODELS,
    blocking,
    emulated,
    lost,
    newest,
    option,
    predicted,
    refused,
)
from support.qemu_program import Program, installed, restricted
from unmask.model.move import Answer

pytestmark = pytest.mark.peer

TAKEN: Mapping[str, frozenset[str]] = {
    "encryption": frozenset({"aes", "pclmulqdq"}),
    "generation": frozenset(
        {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "rdrand", "xsaveopt"}
    ),
    "vendor": frozenset({"abm", "clwb", "mmxext", "sse4a", "xgetbv1"}),
}
"""What each restricted target lacks: AES that the firmware hides, what came with Sandy Bridge and
Haswell, and what AMD's processors had first."""


@dataclass(frozen=True)
class Bench:
    """The QEMUs: the installed one, and the restricted copies by what was taken from them."""

    whole: Program
    targets: Mapping[str, Program]

    def program(self, name: str) -> Program:
        return self.targets.get(name, self.whole)


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    whole = installed()
    with TemporaryDirectory(prefix="unmask-") as place:
        yield Bench(
            whole,
            {name: restricted(whole, flags, Path(place) / name) for name, flags in TAKEN.items()},
        )


@pytest.fixture
def place() -> Iterator[Path]:
    """A name for sockets, which pytest's own directories are too deep for."""
    with TemporaryDirectory(prefix="unmask-") as directory:
        yield Path(directory) / "m"


@pytest.mark.parametrize("target", [*TAKEN, "whole"])
@pytest.mark.parametrize("model", MODELS)
def test_an_enforced_guest_goes_or_stays_as_predicted(
    model: str, target: str, bench: Bench, place: Path
) -> None:
    cpu, machine = option(model, bench.whole), newest(bench.whole)
    there = bench.program(target)
    said = predicted(cpu, bench.whole, there, machine)
    assert Answer.UNKNOWN not in (said.live, said.cold), said
    options = ("-machine", machine, "-cpu", cpu)
    with running(there, place, *options) as started:
        assert isinstance(started, Machine) is (said.cold is Answer.POSSIBLE), (said, started)
    became = migrate(bench.whole, there, place, *options)
    assert became.arrived is (said.live is Answer.POSSIBLE), (said, became)
    if became.arrived:
        assert became.source != "running", "it runs in one place"
    else:
        assert blocking(said) == {"MIG001"}
        assert became.source == "running", "the guest goes on running where it is"
        assert refused(became.refusal) == lost(said), became.refusal


@pytest.mark.parametrize("target", TAKEN)
def test_each_target_lets_some_models_in_and_others_not(target: str, bench: Bench) -> None:
    """Without this the test above might hold nothing but one of the two answers."""
    there = bench.program(target)
    assert emulated(bench.whole) - emulated(there) >= TAKEN[target]
    answers = [
        predicted(option(model, bench.whole), bench.whole, there, newest(bench.whole)).live
        for model in MODELS
    ]
    assert set(answers) == {Answer.POSSIBLE, Answer.BLOCKED}, answers


@pytest.mark.parametrize("target", TAKEN)
def test_the_other_direction_is_another_question(target: str, bench: Bench, place: Path) -> None:
    """A guest that was started on the restricted host goes to the whole one."""
    origin = bench.program(target)
    cpu, machine = option("EPYC-Rome", origin), newest(bench.whole)
    said = predicted(cpu, origin, bench.whole, machine)
    assert (said.live, said.cold) == (Answer.POSSIBLE, Answer.POSSIBLE), said
    assert migrate(origin, bench.whole, place, "-machine", machine, "-cpu", cpu).arrived


@pytest.mark.parametrize("target", TAKEN)
@pytest.mark.parametrize("model", ["EPYC-Rome", "max"])
def test_nothing_stops_a_guest_that_is_not_enforced(
    model: str, target: str, bench: Bench, place: Path
) -> None:
    """QEMU reports success, and the processor has changed under the guest: what MIG002 warns of."""
    cpu = option(model, bench.whole, enforce=False) if model != "max" else model
    there, machine = bench.program(target), newest(bench.whole)
    said = predicted(cpu, bench.whole, there, machine)
    assert "MIG002" in blocking(said) <= {"MIG002", "MIG005"}, said
    assert (said.live, said.cold) == (Answer.BLOCKED, Answer.POSSIBLE)
    assert any("Nothing stops this move" in reason.message for reason in said.reasons)
    became = migrate(bench.whole, there, place, "-machine", machine, "-cpu", cpu, look=True)
    assert became.arrived, became.refusal
    gone = became.before - became.after
    assert gone, "nothing was taken: this shows nothing"
    assert gone == lost(said)
