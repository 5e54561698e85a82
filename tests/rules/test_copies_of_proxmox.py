"""What rules say of configurations as Proxmox VE writes them, from the file to the finding.

The fixtures of a rule are made of specifications; here the specification is the dialect's.
"""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from support.etc_pve import collect, write
from unmask import plugins
from unmask.engine.run import judge
from unmask.model.finding import Finding, Outcome, Rule, Severity

INTEL = (
    "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel name\t: Test CPU\n"
    "flags\t\t: fpu de pse tsc msr pae mce cx8 apic mtrr pge mca cmov pat pse36 clflush mmx fxsr"
    " sse sse2 ss syscall nx lm sep vme pni pclmulqdq ssse3 cx16 sse4_1 sse4_2 x2apic popcnt aes"
    " hypervisor lahf_lm arat vmx pcid spec_ctrl ibrs ibpb ssbd md_clear\n\n"
)
ARM = "processor\t: 0\nFeatures\t: fp asimd aes pmull sha1 sha2\nCPU implementer\t: 0x41\n\n"


def audit(root: Path, config: str, *, cpuinfo: str = "", code: str = "", **files: str) -> Outcome:
    """Judge guest 101 of node elm; `files` are more files of the copy, by a name of their own."""
    copy = {"nodes/elm/qemu-server/101.conf": config, **files}
    if cpuinfo:
        copy["nodes/elm/cpuinfo"] = cpuinfo
    rules = plugins.load("unmask.rules", "RULE", Rule)
    return judge(collect(write(root, copy)), [rule for rule in rules if rule.code.startswith(code)])


def only(outcome: Outcome) -> Finding:
    (finding,) = outcome.findings
    return finding


def test_a_custom_model_whose_file_was_not_copied_is_unknown_not_missing(tmp_path: Path) -> None:
    outcome = audit(tmp_path, "cpu: custom-nas\n", cpuinfo=INTEL)
    assert outcome.findings == ()
    reasons = {skip.code: skip.reason for skip in outcome.skips}
    assert "cpu-models.conf was not there" in reasons["CPU001"]


def test_a_custom_model_that_the_cluster_does_not_define_is_missing(tmp_path: Path) -> None:
    models = {"virtual-guest/cpu-models.conf": "cpu-model: other\n    reported-model EPYC\n"}
    finding = only(audit(tmp_path, "cpu: custom-nas\n", code="CPU006", **models))
    assert "so the guest gets kvm64" in finding.problem.message


def test_a_guest_of_another_architecture_is_not_told_to_delete_a_line_it_has_not(
    tmp_path: Path,
) -> None:
    problem = only(audit(tmp_path, "arch: aarch64\n", code="CPU004")).problem
    assert (problem.severity, problem.command) == (Severity.INFO, "")
    assert "kvm: 0" not in problem.remedy
    assert "whether its own is one is not known" in problem.remedy


def test_an_emulated_guest_of_an_unknown_host_of_x86_is_told_how_to_end_it(tmp_path: Path) -> None:
    problem = only(audit(tmp_path, "kvm: 0\n", code="CPU004")).problem
    assert (problem.severity, problem.command) == (Severity.MEDIUM, "qm set 101 --delete kvm")


def test_a_node_of_another_architecture_is_no_place_where_a_guest_could_go(
    tmp_path: Path,
) -> None:
    arm = {"nodes/pi/cpuinfo": ARM}
    outcome = audit(tmp_path, "cpu: kvm64\n", cpuinfo=INTEL, code="CPU00", **arm)
    problem = only(outcome).problem
    assert problem.command == "qm set 101 --cpu Westmere"
    assert "other node" not in problem.remedy


BARE = INTEL.replace(" pcid", "")


@pytest.mark.parametrize(
    ("code", "line", "cpuinfo", "command"),
    [
        ("CPU001", "host,flags=-aes", INTEL, "--cpu host"),
        ("CPU001", "host,flags=+pcid;-aes,hidden=1", INTEL, "--cpu host,hidden=1,flags=+pcid"),
        ("CPU001", "Westmere,flags=-aes", INTEL, "--cpu Westmere"),
        ("CPU001", "x86-64-v2-AES,flags=-aes;+pcid", INTEL, "--cpu Westmere,flags=+pcid"),
        ("CPU005", "x86-64-v2-AES,flags=+pcid", BARE, "--cpu x86-64-v2-AES"),
        ("CPU005", "host,flags=+pcid;+aes", BARE, "--cpu host,flags=+aes"),
        ("CPU005", "EPYC,flags=+pcid", BARE, "--cpu Westmere"),
    ],
)
def test_a_command_leaves_out_what_would_undo_it(
    tmp_path: Path, code: str, line: str, cpuinfo: str, command: str
) -> None:
    problem = only(audit(tmp_path, f"cpu: {line}\n", cpuinfo=cpuinfo, code=code)).problem
    assert shlex.split(problem.command) == ["qm", "set", "101", *command.split()]
    cured = audit(tmp_path, f"cpu: {command.split()[1]}\n", cpuinfo=cpuinfo, code=code)
    assert cured.findings == ()


@pytest.mark.parametrize(
    ("code", "cpu"),
    [
        ("CPU001", "qemu64"),
        ("CPU002", "qemu64,+aes"),
        ("CPU005", "EPYC"),
        ("CPU008", "Westmere,+hle,+rtm"),
        ("REQ001", "qemu64"),
        ("SEC001", "Westmere"),
    ],
)
def test_a_remedy_is_never_a_change_that_the_arguments_undo(
    tmp_path: Path, code: str, cpu: str
) -> None:
    config = f"cpu: host\nostype: win11\nargs: -cpu {cpu}\n"
    problem = only(audit(tmp_path, config, cpuinfo=INTEL, code=code)).problem
    assert problem.command == ""
    assert "The -cpu in args decides" in problem.remedy


@pytest.mark.parametrize("args", ["-accel tcg", "-machine accel=tcg", "-M q35,accel=tcg:kvm"])
def test_an_accelerator_in_the_arguments_counts(tmp_path: Path, args: str) -> None:
    outcome = audit(tmp_path, f"cpu: qemu64\nargs: {args}\n", cpuinfo=INTEL, code="CPU0")
    problem = only(outcome).problem
    assert (problem.severity, problem.command) == (Severity.MEDIUM, "")
    assert problem.remedy.startswith("Remove the accelerator tcg from args")


@pytest.mark.parametrize("args", ["-accel kvm", "-machine accel=kvm:tcg", "-device x,accel=tcg"])
def test_other_arguments_leave_kvm_at_work(tmp_path: Path, args: str) -> None:
    outcome = audit(tmp_path, f"cpu: host\nargs: {args}\n", cpuinfo=INTEL, code="CPU0")
    assert outcome.findings == ()


def test_host_does_not_start_where_the_arguments_turn_kvm_off(tmp_path: Path) -> None:
    config = "cpu: host\nargs: -accel tcg,thread=multi\n"
    problem = only(audit(tmp_path, config, cpuinfo=INTEL, code="CPU005")).problem
    assert problem.severity is Severity.HIGH
    assert "QEMU refuses the CPU model host without KVM" in problem.message
