"""Which flags a node gives, who says so, and what is left open."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support.nodes import arm, host, known, offering
from unmask.cpu.node_flags import can, lacking, lacks, node, sure, uncertain
from unmask.model.baseline import FlagSource, UnknownNode
from unmask.model.cpu import Accelerator, HostCpu, HypervisorCpu
from unmask.model.inventory import Host, Platform
from unmask.model.reading import Known, Missing


def test_a_kernels_list_is_what_kvm_passes_on() -> None:
    place = known(host("one", "SandyBridge", more="monitor constant_tsc"))
    assert place.source is FlagSource.KERNEL
    assert sure(place, "aes")
    assert sure(place, "x2apic")
    # KVM keeps it, and the other is a word of the host's kernel.
    assert not sure(place, "monitor")
    assert not sure(place, "constant_tsc")
    assert lacks(place, "avx2")
    assert lacking(place, {"aes", "avx2", "adx"}) == {"avx2", "adx"}
    assert not uncertain(place, {"avx2", "aes"})


def test_a_flag_that_no_kernel_prints_is_neither_sure_nor_lacking() -> None:
    place = known(host("one", "SandyBridge"))
    assert not sure(place, "rdctl-no")
    assert not lacks(place, "rdctl-no")
    assert not can(place, "rdctl-no")


def test_a_flag_that_kvm_gives_on_condition_can_be_started_with() -> None:
    place = known(host("one", "EPYC", more="topoext"))
    assert not sure(place, "topoext")
    assert can(place, "topoext")
    assert not can(known(host("two", "EPYC", without="topoext")), "topoext")


def test_intels_bit_behind_ibrs_is_known_and_amds_is_not() -> None:
    assert sure(known(host("one", "Broadwell-IBRS")), "spec-ctrl")
    assert not sure(known(host("one", "Broadwell")), "spec-ctrl")
    assert not sure(known(host("one", "EPYC-Rome", more="ibrs")), "spec-ctrl")


def test_kvm_makes_umip_on_intel_alone() -> None:
    assert sure(known(host("one", "Westmere")), "umip")
    assert not sure(known(host("one", "Opteron_G4")), "umip")
    assert sure(known(host("one", "EPYC-Rome", more="umip")), "umip")


def test_the_hypervisors_word_goes_before_the_kernels() -> None:
    told = offering("one", "Westmere", {"Westmere": True})
    kernel = HostCpu("x86_64", frozenset({"lm", "avx2"}), "GenuineIntel", "silicon")
    place = known(replace(told, cpu=Known(kernel)))
    assert place.source is FlagSource.HYPERVISOR
    assert sure(place, "pclmulqdq")
    assert lacks(place, "avx2")
    assert place.vendor == "GenuineIntel"
    assert dict(place.usable) == {"Westmere": True}


def test_a_vendor_is_taken_from_the_expanded_model_where_nothing_else_tells() -> None:
    assert known(offering("one", "EPYC", {})).vendor == "AuthenticAMD"


def test_what_the_hypervisor_takes_from_its_model_is_lacking() -> None:
    place = known(offering("one", "Haswell", {}, without="aes rtm hle"))
    assert lacking(place, {"aes", "avx2", "rtm"}) == {"aes", "rtm"}


def test_an_offer_without_a_model_or_for_emulation_says_nothing() -> None:
    offers = (
        HypervisorCpu("x86_64", Accelerator.TCG),
        HypervisorCpu("x86_64", Accelerator.KVM, usable=(("Westmere", False),)),
    )
    place = known(replace(host("one", "SandyBridge"), offers=offers))
    assert place.source is FlagSource.KERNEL
    assert place.usable == (("Westmere", False),)


def test_what_libvirts_description_does_not_know_is_left_open() -> None:
    cpu = HostCpu("x86_64", frozenset({"lm", "aes"}), "GenuineIntel", "like X", complete=False)
    place = known(Host("h", "h", Platform.LIBVIRT, "", Known(cpu)))
    assert place.source is FlagSource.CAPABILITIES
    assert sure(place, "aes")
    assert lacks(place, "pclmulqdq")
    assert not lacks(place, "avx_vnni")
    assert uncertain(place, {"aes", "pclmulqdq", "avx_vnni"}) == {"avx_vnni"}


def test_a_list_of_some_flags_leaves_all_others_open() -> None:
    cpu = HostCpu("x86_64", frozenset({"aes"}), complete=False)
    place = known(replace(host("one", None), cpu=Known(cpu)))
    assert place.source is FlagSource.HYPERVISOR
    assert uncertain(place, {"aes", "avx"}) == {"avx"}
    assert not lacks(place, "avx")


def test_of_another_architecture_the_list_itself_counts() -> None:
    place = known(arm("one", "fp asimd aes pmull"))
    assert place.given == {"fp", "asimd", "aes", "pmull"}
    assert lacks(place, "sha2")


@pytest.mark.parametrize("cpu", [Missing("it is offline"), Known(HostCpu("x86_64", frozenset()))])
def test_a_node_without_flags_is_unknown_and_says_why(cpu: Missing | Known[HostCpu]) -> None:
    found = node(replace(host("one", None), cpu=cpu))
    assert isinstance(found, UnknownNode)
    assert found.reason in ("it is offline", "none of its flags are known")
    assert found.needs
