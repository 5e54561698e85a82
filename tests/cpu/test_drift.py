"""What has become of nodes since an earlier inventory."""

from __future__ import annotations

from dataclasses import replace

from support.nodes import host, offering
from unmask.cpu.drift import SILENT, drift
from unmask.model.baseline import Drift
from unmask.model.inventory import Host, Software
from unmask.model.reading import Known


def of(then: Host, now: Host) -> Drift:
    (found,) = drift([then], [now])
    return found


def test_lost_and_gained_flags_with_what_changed_beside_them() -> None:
    then = host(
        "one", "Haswell", microcode="0x10", software=Software("Proxmox VE 9.0", "10.0", "6.8")
    )
    now = host(
        "one", "Haswell", without="hle rtm", more="ssbd md_clear", microcode="0x28",
        software=Software("Proxmox VE 9.1", "10.1", "6.14"),
    )  # fmt: skip
    found = of(then, now)
    assert found.lost == ("hle", "rtm")
    assert found.gained == ("md_clear", "ssbd")
    said = " ".join(found.evidence)
    for words in ("microcode was 0x10 and is 0x28", "kernel was 6.8 and is 6.14", "QEMU was 10.0"):
        assert words in said
    assert "Proxmox VE 9.0 and is Proxmox VE 9.1" in said
    assert found.changed


def test_a_node_that_did_not_change_has_nothing_to_say() -> None:
    found = of(host("one", "Haswell"), host("one", "Haswell"))
    assert not found.changed
    assert found == Drift("lab/one")


def test_a_flag_that_goes_without_any_cause_points_to_the_firmware() -> None:
    found = of(host("one", "Haswell"), host("one", "Haswell", without="aes"))
    assert found.lost == ("aes",)
    assert found.evidence == (SILENT,)


def test_other_versions_alone_are_told_too() -> None:
    found = of(host("one", "Haswell", microcode="1"), host("one", "Haswell", microcode="2"))
    assert not found.lost
    assert found.evidence == ("The microcode was 1 and is 2 now.",)
    assert found.changed


def test_what_was_not_known_once_is_no_change() -> None:
    then = host("one", "Haswell", software=Software())
    assert not of(then, host("one", "Haswell")).evidence


def test_other_hardware_is_named() -> None:
    found = of(host("one", "Haswell"), host("one", "Westmere"))
    assert "CPU Haswell and is CPU Westmere now: this is other hardware." in found.evidence[0]


def test_words_of_the_kernel_that_no_guest_gets_are_no_drift() -> None:
    now = host("one", "Haswell", more="constant_tsc monitor arch_perfmon")
    assert not of(host("one", "Haswell"), now).changed


def test_a_node_whose_flags_are_not_known_is_not_taken_for_unchanged() -> None:
    assert of(host("one", "Haswell"), host("one", None)).unknown == (
        "are not known now: the node is offline"
    )
    assert of(host("one", None), host("one", "Haswell")).unknown.startswith("were not known then")


def test_two_ways_of_asking_are_not_compared() -> None:
    told = replace(offering("one", "Haswell", {}), subject="lab/one")
    found = of(told, host("one", "Haswell"))
    assert found.unknown == "were told by the hypervisor then and by its kernel now"
    assert not found.lost


def test_nodes_that_came_and_went() -> None:
    found = drift([host("old", "Haswell")], [host("new", "Haswell")])
    assert [(item.node, item.presence) for item in found] == [
        ("lab/new", "new"),
        ("lab/old", "gone"),
    ]


def test_vulnerabilities_and_parameters_are_evidence() -> None:
    then, now = host("one", "Haswell"), host("one", "Haswell")
    cpu = replace(now.cpu.value, bugs=frozenset({"mds", "taa"}))
    now = replace(now, cpu=Known(cpu), parameters=(("kvm_intel.nested", "N"),))
    then = replace(
        then,
        cpu=Known(replace(then.cpu.value, bugs=frozenset({"mds", "l1tf"}))),
        parameters=(("kvm_intel.nested", "Y"), ("kvm.ignore_msrs", "N")),
    )
    said = of(then, now).evidence
    assert said == (
        "The kernel lists other vulnerabilities: taa more, l1tf no longer.",
        "KVM's parameter kvm.ignore_msrs was N and is not set now.",
        "KVM's parameter kvm_intel.nested was Y and is N now.",
    )
