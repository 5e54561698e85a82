"""What a guest sees, from its CPU specification and its host."""

from dataclasses import replace

import pytest

from unmask.cpu import catalogue
from unmask.cpu.resolve import resolve
from unmask.model.cpu import (
    Accelerator,
    CpuSpec,
    FeatureView,
    HostCpu,
    HypervisorCpu,
    Mode,
    Origin,
    Remark,
    RemarkKind,
    State,
)
from unmask.model.reading import Known, Missing, Reading

KVM, TCG = Accelerator.KVM, Accelerator.TCG
NOT_KNOWN = Missing("no one looked")


def spec(mode: Mode = Mode.MODEL, model: str = "", **more: object) -> CpuSpec:
    label = model or mode.value
    return replace(CpuSpec(label, Origin.CONFIG, mode, label, model), **more)  # type: ignore[arg-type]


def host_like(model: str, without: str = "", **more: object) -> HostCpu:
    """Return a host that has all that a QEMU model has, and the flags only silicon has."""
    known = catalogue.find(model)
    assert known
    flags = (known.flags | {"monitor", "est", "vmx", "ss", "acpi"}) - set(without.split())
    host = HostCpu("x86_64", flags, "GenuineIntel", f"Silicon like {model}")
    return replace(host, **more)  # type: ignore[arg-type]


def view(
    cpu: CpuSpec, host: HostCpu | None = None, accelerator: Accelerator = KVM, arch: str = "x86_64"
) -> FeatureView:
    reading: Reading[HostCpu] = Known(host) if host else NOT_KNOWN
    return resolve(cpu, arch, accelerator, reading)


def test_a_generic_model_hides_what_the_host_has() -> None:
    seen = view(spec(model="kvm64"), host_like("Haswell"))
    assert seen.hides("aes")
    assert seen.hides("pclmulqdq")
    assert (seen.level, seen.level_certain) == (1, True)
    assert seen.starts


def test_a_model_shows_aes_without_pclmulqdq() -> None:
    v2_aes = frozenset({"aes", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"})
    seen = view(spec(model="qemu64", on=v2_aes, enforced=True), host_like("Haswell"))
    assert seen.shows("aes", "sse4_2")
    assert seen.hides("pclmulqdq")
    assert seen.level == 2


def test_a_model_needs_no_known_host() -> None:
    seen = view(spec(model="Westmere"))
    assert seen.shows("aes", "pclmulqdq")
    assert seen.starts
    assert any("not known" in step for step in seen.steps)


def test_westmere_has_the_pclmulqdq_that_libvirts_map_lacks() -> None:
    assert view(spec(model="Westmere"), host_like("Westmere")).shows("pclmulqdq")


def test_enforced_flags_that_the_host_lacks_forbid_the_start() -> None:
    seen = view(spec(model="Haswell", enforced=True), host_like("Haswell", "hle rtm"))
    assert not seen.starts
    assert seen.lost == {"hle", "rtm"}


def test_flags_that_are_not_enforced_vanish_silently() -> None:
    seen = view(spec(model="Westmere"), host_like("Westmere", "aes pclmulqdq"))
    assert seen.starts
    assert seen.lost == {"aes", "pclmulqdq"}
    assert seen.hides("aes")


def test_what_kvm_makes_itself_is_never_lost() -> None:
    host = host_like("Haswell", "x2apic tsc_deadline_timer arat hypervisor")
    assert not view(spec(model="Haswell", enforced=True), host).lost


def test_bits_that_no_kernel_prints_are_not_held_against_a_host() -> None:
    host = host_like("Haswell-IBRS", "spec-ctrl")
    assert not view(spec(model="Haswell-IBRS", enforced=True), host).lost
    bare = host_like("Haswell-IBRS", "spec-ctrl ibrs ibpb")
    assert view(spec(model="Haswell-IBRS", enforced=True), bare).lost >= {"ibrs", "ibpb"}


def test_minus_beats_plus_and_model() -> None:
    seen = view(spec(model="Haswell", on=frozenset({"vaes"}), off=frozenset({"aes", "vaes"})))
    assert seen.hides("aes")
    assert seen.hides("vaes")


def test_host_shows_the_host() -> None:
    seen = view(spec(Mode.HOST), host_like("Haswell"))
    assert seen.shows("aes", "avx2", "hypervisor")
    assert seen.hides("avx512f")
    assert seen.state("monitor") is State.UNKNOWN
    assert seen.label == "host"
    assert (seen.level, seen.level_certain) == (3, True)


def test_host_on_a_host_without_aes_shows_none() -> None:
    assert view(spec(Mode.HOST), host_like("Haswell", "aes")).hides("aes")


def test_host_on_an_unknown_host_depends_on_it() -> None:
    seen = view(spec(Mode.HOST, off=frozenset({"pcid"})))
    assert seen.state("aes") is State.HOST
    assert seen.state("pcid") is State.HIDDEN
    assert seen.level is None


def test_host_with_an_incomplete_description_is_unknown_beyond_it() -> None:
    seen = view(spec(Mode.HOST), host_like("Haswell", complete=False))
    assert seen.shows("aes")
    assert seen.state("avx512f") is State.UNKNOWN
    assert (seen.level, seen.level_certain) == (3, False)


def test_host_does_not_start_without_kvm() -> None:
    seen = view(spec(Mode.HOST), host_like("Haswell"), TCG)
    assert not seen.starts
    assert seen.state("aes") is State.UNKNOWN


def test_maximum_is_host_under_kvm_and_all_of_tcg_under_tcg() -> None:
    assert view(spec(Mode.MAXIMUM), host_like("Haswell", "aes")).hides("aes")
    emulated = view(spec(Mode.MAXIMUM), host_like("Haswell", "aes"), TCG)
    assert emulated.shows("aes", "pclmulqdq", "avx2")
    assert emulated.hides("avx512f")


def test_tcg_leaves_out_what_it_does_not_implement() -> None:
    seen = view(spec(model="Haswell", on=frozenset({"avx512f"})), accelerator=TCG)
    assert seen.shows("aes", "avx2")
    assert seen.hides("hle")
    assert seen.hides("avx512f")
    assert seen.lost == {"avx512f"}
    assert seen.starts


def test_tcg_ignores_the_host() -> None:
    assert view(spec(model="Haswell"), host_like("kvm64"), TCG).shows("aes", "avx2")


def test_what_tcg_implements_depends_on_qemus_version() -> None:
    epyc = spec(model="EPYC")
    states = {
        version: resolve(epyc, "x86_64", TCG, NOT_KNOWN, qemu=version).state("sha_ni")
        for version in ("7.2.22", "10.0.13", "")
    }
    assert states == {"7.2.22": State.HIDDEN, "10.0.13": State.SHOWN, "": State.UNKNOWN}


def test_optional_flags_depend_on_the_host() -> None:
    cpu = spec(model="Westmere", optional=frozenset({"avx2", "avx512f"}))
    assert view(cpu).state("avx512f") is State.HOST
    on_haswell = view(cpu, host_like("Haswell"))
    assert on_haswell.shows("avx2")
    assert on_haswell.hides("avx512f")


def test_match_minimum_gives_what_else_the_host_has() -> None:
    cpu = spec(model="Nehalem", properties=(("match", "minimum"),))
    assert view(cpu, host_like("Haswell")).shows("aes", "avx2")
    assert view(cpu).state("aes") is State.HOST
    assert view(cpu).shows("sse4_2")


def test_a_live_specification_is_taken_exactly() -> None:
    live = spec(model="Haswell", on=frozenset({"rdrand"}), off=frozenset({"hle"}), exact=True)
    seen = view(live, host_like("Nehalem"))
    assert seen.shows("aes", "rdrand")
    assert seen.hides("hle")
    assert not seen.lost


def test_an_unknown_model_shows_only_what_is_named() -> None:
    cpu = spec(model="NoSuchCPU", on=frozenset({"aes"}), off=frozenset({"avx"}))
    seen = view(cpu, host_like("Haswell"))
    assert seen.shows("aes")
    assert seen.hides("avx")
    assert seen.state("pclmulqdq") is State.UNKNOWN
    assert seen.level is None


def test_host_model_is_what_libvirt_would_expand() -> None:
    offer = HypervisorCpu("x86_64", KVM, host_model=spec(model="Westmere", on=frozenset({"vmx"})))
    seen = resolve(spec(Mode.HOST_MODEL), "x86_64", KVM, Known(host_like("Haswell")), (offer,))
    assert seen.label == "Westmere"
    assert seen.shows("aes", "pclmulqdq", "vmx")
    assert seen.hides("avx")


def test_host_model_without_an_expansion_depends_on_the_host() -> None:
    assert view(spec(Mode.HOST_MODEL)).state("aes") is State.HOST
    assert view(spec(Mode.HOST_MODEL), host_like("Haswell")).shows("aes")


def test_another_accelerators_expansion_is_not_used() -> None:
    offer = HypervisorCpu("x86_64", TCG, host_model=spec(model="EPYC"))
    seen = resolve(spec(Mode.HOST_MODEL), "x86_64", KVM, NOT_KNOWN, (offer,))
    assert seen.state("aes") is State.HOST


def test_x86_flags_are_never_missing_elsewhere() -> None:
    seen = view(spec(model="cortex-a57"), accelerator=TCG, arch="aarch64")
    assert seen.state("aes") is State.UNKNOWN
    assert seen.level is None
    assert not seen.x86


def test_an_arm_host_is_passed_through() -> None:
    arm = HostCpu("aarch64", frozenset({"aes", "pmull"}), "ARM", "Neoverse-N1")
    seen = view(spec(Mode.HOST), arm, arch="aarch64")
    assert seen.shows("aes", "pmull")
    assert seen.hides("sha512")


def test_a_container_has_all_that_its_host_has() -> None:
    seen = view(spec(Mode.NONE), host_like("Haswell"), Accelerator.OTHER)
    assert seen.shows("aes", "monitor")
    assert view(spec(Mode.NONE)).state("aes") is State.HOST


def test_a_configuration_that_cannot_start_says_so() -> None:
    remark = Remark(RemarkKind.NO_START, "cortex-a57 is no x86 model.")
    assert not view(spec(model="qemu64", remarks=(remark,))).starts


@pytest.mark.parametrize(
    ("accelerator", "properties", "vendor"),
    [
        (KVM, (), "GenuineIntel"),
        (KVM, (("vendor", "AuthenticAMD"),), "AuthenticAMD"),
        (TCG, (), "AuthenticAMD"),
    ],
)
def test_vendor(
    accelerator: Accelerator, properties: tuple[tuple[str, str], ...], vendor: str
) -> None:
    seen = view(spec(model="qemu64", properties=properties), host_like("Haswell"), accelerator)
    assert seen.vendor == vendor
