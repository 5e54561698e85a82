"""What rules say where a change is pending: a cure that waits, and a start that will fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.etc_pve import collect, write
from support.golden import ROOT
from unmask import plugins
from unmask.engine.run import judge
from unmask.model.finding import Finding, Rule, Severity

BIRCH = (ROOT / "examples/homelab/nodes/birch/cpuinfo").read_text(encoding="utf-8")
"""An Ice Lake server: no AMD model starts there, and no TSX."""
RULES = plugins.load("unmask.rules", "RULE", Rule)


def findings(root: Path, config: str) -> dict[str, Finding]:
    """Return what is found on guest 101 of birch, by code."""
    copy = {"nodes/birch/cpuinfo": BIRCH, "nodes/birch/qemu-server/101.conf": config}
    outcome = judge(collect(write(root, copy)), RULES)
    return {finding.code: finding for finding in outcome.findings}


@pytest.mark.parametrize(
    ("code", "before", "after"),
    [
        ("SEC001", "cpu: kvm64\n", "cpu: host\n"),
        ("REQ001", "cpu: kvm64\nostype: win11\n", "cpu: host\n"),
        ("CPU004", "kvm: 0\n", "kvm: 1\n"),
    ],
)
def test_a_change_that_waits_is_the_remedy(
    tmp_path: Path, code: str, before: str, after: str
) -> None:
    found = findings(tmp_path, f"{before}\n[PENDING]\n{after}")
    assert "pending cures it: stop the guest and start it again" in found[code].problem.remedy
    assert found[code].problem.command == "qm reboot 101"
    without = findings(tmp_path, before)
    assert without[code].problem.command.startswith("qm set 101 ")


def test_a_change_that_cures_nothing_is_no_remedy(tmp_path: Path) -> None:
    found = findings(tmp_path, "cpu: kvm64\nostype: win11\n\n[PENDING]\ncpu: qemu64\n")
    for code in ("SEC001", "REQ001"):
        assert found[code].problem.command.startswith("qm set 101 --cpu "), code


def test_a_pending_model_that_the_host_cannot_give_is_found_before_the_start(
    tmp_path: Path,
) -> None:
    problem = findings(tmp_path, "cpu: kvm64\n\n[PENDING]\ncpu: EPYC-Genoa\n")["CPU005"].problem
    assert problem.severity is Severity.HIGH
    assert "EPYC-Genoa asks for" in problem.message
    assert problem.evidence[0].startswith("The CPU after the change that is pending is EPYC-Genoa")


def test_nobody_is_told_to_restart_a_guest_that_would_not_come_back(tmp_path: Path) -> None:
    config = "cpu: kvm64\nostype: win11\n\n[PENDING]\ncpu: EPYC-Genoa\n"
    found = findings(tmp_path, config)
    assert {"CPU001", "CPU005", "CPU009", "REQ001", "SEC001"} <= found.keys()
    for finding in found.values():
        assert "reboot" not in finding.problem.command, finding
    assert "the guest does not start" in found["CPU009"].problem.remedy


def test_a_model_that_is_about_to_be_replaced_endangers_no_start(tmp_path: Path) -> None:
    assert "CPU005" in findings(tmp_path, "cpu: EPYC-Genoa\n")
    assert "CPU005" not in findings(tmp_path, "cpu: EPYC-Genoa\n\n[PENDING]\ncpu: kvm64\n")


def test_a_pending_model_with_tsx_is_found_before_the_start(tmp_path: Path) -> None:
    problem = findings(tmp_path, "cpu: kvm64\n\n[PENDING]\ncpu: Haswell\n")["CPU008"].problem
    assert "Haswell asks for TSX" in problem.message
    assert "Haswell" in problem.evidence[0]
    assert "CPU008" not in findings(tmp_path, "cpu: Haswell\n\n[PENDING]\ncpu: kvm64\n")


def test_a_mapped_name_is_called_as_it_is_written(tmp_path: Path) -> None:
    for value in ("Icelake-Client,flags=+pcid", "flags=+pcid,cputype=Icelake-Client"):
        problem = findings(tmp_path, f"cpu: {value}\n")["CPU007"].problem
        assert "the CPU model Icelake-Client is deprecated: use Icelake-Server" in problem.message
        assert problem.command == "qm set 101 --cpu Icelake-Server,flags=+pcid"
