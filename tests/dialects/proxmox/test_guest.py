"""From one configuration to a guest, its pending change, its snapshots, and what is said of it."""

from __future__ import annotations

import pytest

from support.proxmox_guest import PLACE, read, said
from unmask.dialects.proxmox import guest
from unmask.model.cpu import Accelerator, Mode, Origin, RemarkKind
from unmask.model.inventory import GuestKind, GuestState, Platform


def test_a_guest_is_called_by_cluster_and_vmid() -> None:
    found = read("name: web", "ostype: l26", "template: 1")
    assert (found.subject, found.ident, found.name) == ("yard/101", "101", "web")
    assert (found.host, found.platform, found.kind) == (
        "yard/oak",
        Platform.PROXMOX,
        GuestKind.VM,
    )
    assert (found.state, found.template, found.os_declared) == (GuestState.UNKNOWN, True, "l26")
    assert (found.location, found.remarks) == ("yard/101.conf", ())
    assert read("template: 0").name == "VM 101"


def test_a_pending_change_is_laid_over_the_configuration() -> None:
    found = read("cpu: kvm64", "ostype: solaris", "[PENDING]", "cpu: EPYC,flags=+aes")
    assert found.configured.model == "kvm64"
    assert found.pending is not None
    assert (found.pending.model, set(found.pending.on)) == ("EPYC", {"aes"})
    assert found.pending.off == {"x2apic"}


def test_a_pending_delete_brings_the_default_back() -> None:
    found = read("cpu: EPYC", "[PENDING]", "delete: cpu")
    assert found.pending is not None
    assert (found.pending.origin, found.pending.model) == (Origin.DEFAULT, "kvm64")


@pytest.mark.parametrize(
    "lines",
    [
        ("cpu: EPYC",),
        ("cpu: EPYC", "[PENDING]", "memory: 64"),
        ("cpu: EPYC", "[PENDING]", "cpu: cputype=EPYC"),
        ("cpu: EPYC", "[PENDING]", "cpu: nonsense"),
        ("cpu: nonsense", "[PENDING]", "cpu: kvm64"),
        ("[PENDING]", "delete: cpu"),
    ],
)
def test_what_leaves_the_same_cpu_is_not_pending(lines: tuple[str, ...]) -> None:
    assert read(*lines).pending is None


def test_a_pending_end_of_emulation_is_said() -> None:
    found = read("kvm: 0", "cpu: EPYC", "[PENDING]", "delete: kvm")
    assert found.accelerator is Accelerator.TCG
    assert found.pending is not None
    assert "KVM" in said(found.pending, RemarkKind.NOTE)


RUNNING = "runningcpu: kvm64,enforce,+kvm_pv_eoi,+kvm_pv_unhalt,+lahf_lm,+sep"


def test_a_suspended_guest_resumes_with_its_old_cpu() -> None:
    found = read("cpu: host", "lock: suspended", RUNNING, "vmstate: local:x")
    assert found.state is GuestState.SUSPENDED
    assert found.configured.mode is Mode.HOST
    assert found.running is found.current
    assert found.pending is found.configured
    assert (found.current.origin, found.current.model) == (Origin.LIVE, "kvm64")


@pytest.mark.parametrize("lines", [("lock: backup", RUNNING), (RUNNING,), ("lock: suspended",)])
def test_any_other_guest_has_no_running_cpu(lines: tuple[str, ...]) -> None:
    found = read(*lines)
    assert (found.running, found.state) == (None, GuestState.UNKNOWN)


def test_the_operators_name_is_kept_where_the_running_cpu_is_the_same() -> None:
    text = "qemu64,+aes,enforce,+kvm_pv_eoi,+kvm_pv_unhalt,+pni,+popcnt,+sse4.1,+sse4.2,+ssse3"
    found = read("cpu: x86-64-v2-AES", "lock: suspended", f"runningcpu: {text}")
    assert found.current.label == "x86-64-v2-AES"
    assert found.pending is None


def test_snapshots_with_memory_bring_their_own_cpu_back() -> None:
    found = read(
        "cpu: host", "[with-memory]", "cpu: EPYC", RUNNING, "vmstate: local:x",
        "[without]", "cpu: EPYC", RUNNING, "[older]", "memory: 64",
    )  # fmt: skip
    brief = {shot.name: (shot.cpu.model, shot.with_memory) for shot in found.snapshots}
    assert brief == {
        "older": ("kvm64", False),
        "with-memory": ("kvm64", True),
        "without": ("EPYC", False),
    }


def test_what_proxmox_drops_or_takes_differently_is_said() -> None:
    found = read("cores: 4 # all", "ostype: win11 # PC", "nonsense", "[PENDING]", "kvm: maybe")
    texts = [remark.text for remark in found.remarks]
    assert [remark.kind for remark in found.remarks] == [RemarkKind.IGNORED] * 4
    assert "line 1" in texts[0]
    assert "nonsense" in texts[1]
    assert "ostype" in texts[2]
    assert "pending line 5" in texts[3]
    assert found.os_declared == "win11"


def test_many_faults_and_long_texts_are_bounded() -> None:
    found = read(*["x" * 1000] * 500, "name: " + "n" * 1000)
    assert len(found.remarks) == guest.REMARKS_LIMIT + 1
    assert all(len(remark.text) < 500 for remark in found.remarks)
    assert len(found.name) <= guest.NAME_LIMIT


def test_containers_share_the_cpu_of_their_host() -> None:
    text = "arch: arm64\nhostname: dns\nostype: debian\nlxc.cap.drop: x\ntemplate: 1\n"
    found = guest.read_container(text, "201", PLACE, "201.conf")
    assert (found.kind, found.arch, found.name) == (GuestKind.CONTAINER, "aarch64", "dns")
    assert (found.configured.mode, found.accelerator) == (Mode.NONE, Accelerator.OTHER)
    assert (found.template, found.os_declared) == (True, "debian")
    assert "shares the host's" in found.configured.steps[0]
    assert guest.read_container("", "201", PLACE).name == "CT 201"


def test_a_pending_change_of_kvm_changes_what_will_run_the_guest() -> None:
    found = read("cpu: x86-64-v3", "kvm: 0", "[PENDING]", "kvm: 1")
    assert (found.accelerator, found.pending_accelerator) == (Accelerator.TCG, Accelerator.KVM)
    assert read("cpu: host", "[PENDING]", "cpu: kvm64").pending_accelerator is None


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("1", True), ("0", False), ("", False), ("enabled=1,fstrim_cloned_disks=1", True),
        ("fstrim_cloned_disks=1,enabled=yes", True), ("enabled=0", False), ("1,type=isa", True),
        ("type=isa,1", True), ("on", True), ("fstrim_cloned_disks=1", False), ("nonsense", False),
    ],
)  # fmt: skip
def test_which_options_let_a_guest_have_an_agent(option: str, expected: bool) -> None:  # noqa: FBT001
    assert guest.has_agent(option) is expected
    assert read(f"agent: {option}", "cores: 1").agent is expected
