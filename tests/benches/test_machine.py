"""This machine as a way in, and what is planned for a machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from unmask.benches import _machine
from unmask.benches._door import LocalDoor
from unmask.benches._effort import PACES, Effort
from unmask.benches._machine import Subject, Wanted
from unmask.errors import TargetError
from unmask.model.bench import Tool
from unmask.model.cpu import HostCpu
from unmask.model.inside import Inside, System
from unmask.model.inside_programs import OpenSsl, TlsProcess, TlsService
from unmask.model.inside_tunnels import OpenVpn
from unmask.model.reading import Known

INSIDE = Inside(
    cpu=Known(HostCpu("x86_64", frozenset({"ssse3"}), "GenuineIntel")),
    openssl=Known(OpenSsl("OpenSSL 3.0.19")),
)
END = b"\nover"


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "it's a file"
    path.write_text("one\ntwo\n")
    assert _machine.read_file(LocalDoor(), str(path), 4096).strip() == "one\ntwo"
    assert _machine.read_file(LocalDoor(), str(tmp_path / "missing"), 4096).strip() == ""


def test_what_runs_here_is_told_when_nobody_waits_any_more(tmp_path: Path) -> None:
    program = f"cat; echo told >{tmp_path}/told\n"
    assert LocalDoor().run(f"exec 3<&0; echo begun; {program}", END, 0.5, 4096) == b"begun\n"
    assert (tmp_path / "told").read_text() == "told\n"


def test_what_runs_here_is_ended_in_any_case() -> None:
    program = "trap '' TERM HUP INT; echo begun; while :; do sleep 1; done\n"
    assert LocalDoor().run(program, END, 0.5, 4096) == b"begun\n"


def test_no_more_is_heard_than_is_wanted() -> None:
    assert len(LocalDoor().run("yes | head -c 100000; exit\n", END, 20, 1000)) == 1000


@pytest.mark.parametrize("effort", list(Effort))
def test_rounds_begin_with_different_runs(effort: Effort) -> None:
    plan = _machine.planned(INSIDE, Wanted(effort))
    assert len(plan.rounds) == PACES[effort].rounds
    assert len({frozenset(part) for part in plan.rounds}) == 1
    assert len({part[0] for part in plan.rounds}) > 1
    assert plan.budget == PACES[effort].budget


def test_many_runs_get_more_time() -> None:
    many = Wanted(Effort.QUICK, tuple(f"aes-{n}-gcm" for n in range(12)))
    assert _machine.planned(INSIDE, many).budget == 4 * PACES[Effort.QUICK].budget


def test_without_openssl_the_kernel_is_measured_all_the_same() -> None:
    plan = _machine.planned(replace(INSIDE, openssl=Known(OpenSsl())), Wanted(Effort.QUICK))
    assert plan.rounds == ((), (), ())
    assert [run.tool for run in plan.runs] == [Tool.CRYPTSETUP]


def test_windows_is_not_measured() -> None:
    class Windows(LocalDoor):
        def look(self, seconds: float, only: frozenset[str]) -> Inside:  # noqa: ARG002
            return replace(INSIDE, system=Known(System("Windows")))

    with pytest.raises(TargetError, match="it runs Windows"):
        _machine.measure(Windows(), Subject("lab/1"), Wanted(Effort.QUICK))


def test_services_are_those_that_were_found() -> None:
    inside = replace(
        INSIDE,
        tls_services=Known((TlsService("nginx"),)),
        tls_processes=Known((TlsProcess("nginx"), TlsProcess("haproxy"))),
        openvpn=Known((OpenVpn("office"),)),
    )
    assert _machine.services(inside) == ("nginx", "haproxy", "openvpn")
    assert _machine.services(INSIDE) == ()
