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

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from support import nodes
from support.qemu_migration import Machine, migrate, running
from support.qemu_program import Program, installed, restricted, unpacked
from unmask import plugins
from unmask.cpu import catalogue, features
from unmask.cpu.resolve import resolve
from unmask.dialects import qemu
from unmask.engine import moves
from unmask.model.cpu import Accelerator, HostCpu, Origin, State
from unmask.model.finding import Rule
from unmask.model.inventory import Cluster, Host, Inventory, Platform, Software
from unmask.model.move import Answer, Move
from unmask.model.reading import Known, Missing

pytestmark = pytest.mark.peer

RULES = plugins.load("unmask.rules", "RULE", Rule)
MODELS = (
    "kvm64", "Penryn", "Nehalem", "Westmere", "Broadwell-noTSX", "Skylake-Client-noTSX-IBRS",
    "Opteron_G3", "EPYC", "EPYC-Rome",
    "qemu64,+aes,+pni,+popcnt,+sse4.1,+sse4.2,+ssse3",
)  # fmt: skip
"""The last is what Proxmox VE makes of x86-64-v2-AES."""
TAKEN: Mapping[str, frozenset[str]] = {
    "encryption": frozenset({"aes", "pclmulqdq"}),
    "generation": frozenset(
        {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "rdrand", "xsaveopt"}
    ),
    "vendor": frozenset({"abm", "clwb", "mmxext", "sse4a", "xgetbv1"}),
}
"""What each restricted target lacks: AES that the firmware hides, what came with Sandy Bridge and
Haswell, and what AMD's processors had first."""
OFF_UNDER_KVM = frozenset({"acpi", "monitor", "svm"})
"""QEMU turns them off in models under KVM, not in its emulation (kvm_default_props)."""
ORIGIN, TARGET = "lab/one", "lab/two"


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


@cache
def emulated(program: Program) -> frozenset[str]:
    """Return what a QEMU says that its emulation has, in Linux's words."""
    with (
        TemporaryDirectory(prefix="unmask-") as place,
        running(program, Path(place) / "m", "-machine", "none") as machine,
    ):
        assert isinstance(machine, Machine), machine
        most = {"type": "full", "model": {"name": "max"}}
        props = machine.ask("query-cpu-model-expansion", **most)["model"]["props"]
    names = (name for name, value in props.items() if value is True and features.known(name))
    return frozenset(map(features.canonical, names))


def option(model: str, program: Program, *, enforce: bool = True) -> str:
    """Return `-cpu` for a model without the flags that this QEMU's emulation does not have."""
    name, *asked = model.split(",")
    spec = qemu.spec_of(model, Origin.LIVE)
    nowhere = Missing("no host is looked at")
    view = resolve(spec, "x86_64", Accelerator.KVM, nowhere)
    wanted = {flag for flag, state in view.states.items() if state is State.SHOWN}
    off = sorted((wanted - emulated(program)) | OFF_UNDER_KVM)
    written = [f"-{features.qemu_name(flag)}" for flag in off if features.settable(flag)]
    return ",".join([name, *asked, *written, *["enforce"] * enforce])


def host(subject: str, program: Program, vendor: str) -> Host:
    """Return the host that a QEMU is: its flags as a kernel would print them."""
    shown = frozenset(filter(features.listed, emulated(program)))
    cpu = HostCpu("x86_64", shown, vendor, "an emulated processor")
    software = Software("Proxmox VE 9.1.4", program.version, "6.14.11-4-pve")
    name = subject.partition("/")[2]
    return Host(
        subject, name, Platform.PROXMOX, "lab", Known(cpu), software,
        parameters=(("kvm_amd.nested", "N"), ("kvm_intel.nested", "N")),
    )  # fmt: skip


def predicted(cpu: str, origin: Program, target: Program, machine: str) -> Move:
    """Return what unmask says of a guest that runs with `-cpu` on one QEMU and goes to another."""
    spec = qemu.spec_of(cpu, Origin.LIVE)
    model = catalogue.find(spec.model)
    vendor = model.vendor if model else "AuthenticAMD"
    guest = replace(
        nodes.guest(100, spec), running=spec, machine=machine, ties=Known(()), confined=Known(())
    )
    inventory = Inventory(
        hosts=(host(ORIGIN, origin, vendor), host(TARGET, target, vendor)),
        guests=(guest,),
        clusters=(Cluster("lab", "lab", Platform.PROXMOX),),
    )
    (move,) = moves.moves(inventory, RULES, moves.Asked())
    return move


def newest(program: Program, kind: str = "pc-i440fx") -> str:
    """Return the newest machine type of a kind that a QEMU knows."""
    major, minor, _ = program.version.split(".")
    return f"{kind}-{major}.{minor}"


def blocking(move: Move) -> frozenset[str]:
    """Return the codes of the rules that block the live move."""
    return frozenset(reason.code for reason in move.reasons if reason.stops)


def lost(move: Move) -> frozenset[str]:
    """Return the flags for whose want it is blocked."""
    return frozenset(flag for reason in move.reasons if reason.stops for flag in reason.features)


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


def refused(text: str) -> frozenset[str]:
    """Return the flags of which QEMU says that it cannot give them."""
    found = re.findall(r"doesn't support requested feature: CPUID\S+?\.([a-z0-9_.-]+) \[", text)
    return frozenset(map(features.canonical, found))


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


REAL = (*(f"{major}.{minor}" for major in range(4, 12) for minor in range(3)), "3.0", "3.1",
        "1.3", "1.4", "1.7", "2.0", "2.3", "2.4", "2.12")  # fmt: skip


def qemus() -> list[Program]:
    return [installed(), *unpacked()]


@pytest.mark.parametrize("kind", ["pc-i440fx", "pc-q35"])
def test_machines_are_known_or_not_as_predicted(kind: str) -> None:
    """Of the installed QEMU, and of those that tools/qemu_versions.sh has unpacked."""
    here = installed()
    cpu = option("kvm64", here)
    for program in qemus():
        known = program.machines()
        for version in REAL:
            machine = f"{kind}-{version}"
            said = predicted(cpu, here, program, machine)
            stopped = "MIG007" in blocking(said)
            assert stopped is (machine not in known), (program.version, machine, said)


@pytest.mark.parametrize("kind", ["pc-i440fx", "pc-q35"])
def test_guests_move_between_versions_as_predicted(kind: str, place: Path) -> None:
    here = installed()
    others = unpacked()
    if not others:
        pytest.skip("no other QEMU: tools/qemu_versions.sh unpacks one")
    for number, (origin, target, machine) in enumerate(
        (origin, target, newest(by, kind))
        for other in others
        for origin, target in ((here, other), (other, here))
        for by in (here, other)
        if newest(by, kind) in origin.machines()
    ):
        cpu = option("Westmere", here)
        said = predicted(cpu, origin, target, machine)
        name = place.with_name(f"m{number}")
        became = migrate(origin, target, name, "-machine", machine, "-cpu", cpu)
        assert became.arrived is (said.live is Answer.POSSIBLE), (said, became)
        if not became.arrived:
            assert blocking(said) == {"MIG007"}
            assert "unsupported machine type" in became.refusal
            assert became.source == "running"
