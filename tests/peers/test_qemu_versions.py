"""Two versions of QEMU move guests to each other, and answer as was predicted.

The versions are the installed one and those that tools/qemu_versions.sh has unpacked; each emulates
what it emulates, and knows the machine types that it knows. What test_qemu_migration.py says of
what this shows and what it cannot show holds here too.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from support.qemu_migration import migrate
from support.qemu_prediction import (
    MODELS,
    blocking,
    lost,
    newest,
    option,
    predicted,
    refused,
)
from support.qemu_program import installed, unpacked
from unmask.model.move import Answer

pytestmark = pytest.mark.peer


@pytest.fixture
def place() -> Iterator[Path]:
    """A name for sockets, which pytest's own directories are too deep for."""
    with TemporaryDirectory(prefix="unmask-") as directory:
        yield Path(directory) / "m"


@pytest.mark.parametrize("model", MODELS)
def test_guests_go_to_an_older_emulation_or_stay_as_predicted(model: str, place: Path) -> None:
    """Newer versions of QEMU emulate more: hosts that differ without anybody's doing.

    `x2apic` is turned off: KVM makes it on every host, and the emulation of 7.2 does not.
    """
    here, machine = installed(), newest(installed())
    others = [item for item in unpacked() if machine in item.machines()]
    if not others:
        pytest.skip("no newer QEMU: tools/qemu_versions.sh unpacks one")
    for number, other in enumerate(others):
        cpu = option(model, other, beside=frozenset({"x2apic"}))
        said = predicted(cpu, other, here, machine)
        name = place.with_name(f"m{number}")
        became = migrate(other, here, name, "-machine", machine, "-cpu", cpu)
        assert became.arrived is (said.live is Answer.POSSIBLE), (said, became)
        assert refused(became.refusal) == lost(said), became.refusal
        if not became.arrived:
            assert became.source == "running"
            assert blocking(said) == {"MIG001"}


REAL = (*(f"{major}.{minor}" for major in range(4, 12) for minor in range(3)), "3.0", "3.1",
        "1.3", "1.4", "1.7", "2.0", "2.3", "2.4", "2.12")  # fmt: skip
"""From 4.0 on, QEMU has had versions .0, .1 and .2 every year; some are newer than any here."""


@pytest.mark.parametrize("kind", ["pc-i440fx", "pc-q35"])
def test_machines_are_known_or_not_as_predicted(kind: str) -> None:
    """Of the installed QEMU, and of those that tools/qemu_versions.sh has unpacked."""
    here = installed()
    cpu = option("kvm64", here)
    for program in [here, *unpacked()]:
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
