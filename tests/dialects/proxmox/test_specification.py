"""From the options of a configuration to a CPU specification."""

from __future__ import annotations

import pytest

from support.proxmox_guest import MODELS, kinds, read, said
from unmask.dialects.proxmox import specification
from unmask.dialects.proxmox.specification import Place
from unmask.model.cpu import Accelerator, Mode, Origin, RemarkKind


@pytest.mark.parametrize(
    ("lines", "origin", "label", "model"),
    [
        ((), Origin.DEFAULT, "kvm64", "kvm64"),
        (("kvm: 0",), Origin.DEFAULT, "qemu64", "qemu64"),
        (("cpu: kvm64",), Origin.CONFIG, "kvm64", "kvm64"),
        (("cpu: x86-64-v2-AES",), Origin.CONFIG, "x86-64-v2-AES", "qemu64"),
        (("cpu: cputype=EPYC-Rome",), Origin.CONFIG, "EPYC-Rome", "EPYC-Rome"),
        (("cpu: custom-seal",), Origin.CUSTOM, "custom-seal", "Westmere"),
        (("args: -cpu Haswell,+aes",), Origin.ARGS, "Haswell", "Haswell"),
    ],
)
def test_origin_label_and_model(
    lines: tuple[str, ...], origin: Origin, label: str, model: str
) -> None:
    spec = read(*lines).configured
    assert (spec.origin, spec.mode, spec.label, spec.model) == (origin, Mode.MODEL, label, model)
    assert spec.steps


def test_the_default_has_what_proxmox_adds_and_is_enforced() -> None:
    spec = read().configured
    assert (spec.written, set(spec.on), spec.enforced) == ("", {"lahf_lm", "sep"}, True)
    assert not read("kvm: 0").configured.enforced
    assert not read("cpu: host").configured.enforced


def test_flags_of_the_abstract_models_are_beside_qemu64() -> None:
    spec = read("cpu: x86-64-v2-AES,flags=+pcid;-aes").configured
    assert spec.on == {"pcid", "pni", "popcnt", "sse4_1", "sse4_2", "ssse3"}
    assert spec.off == {"aes"}


def test_a_vendor_and_hiding_are_settings() -> None:
    found = dict(read("cpu: EPYC,hidden=1,phys-bits=host").configured.properties)
    assert (found["vendor"], found["kvm"], found["host-phys-bits"]) == (
        "AuthenticAMD",
        "off",
        "true",
    )


@pytest.mark.parametrize(
    ("written", "meant", "kind"),
    [
        ("host  # fast", "host", RemarkKind.CPU_DROPPED),
        ("kvm64,flags=+avx2", "kvm64,flags=+avx2", RemarkKind.CPU_DROPPED),
        ("custom-gone", "custom-gone", RemarkKind.CUSTOM_MISSING),
    ],
)
def test_a_cpu_that_proxmox_drops_leaves_the_default(
    written: str, meant: str, kind: RemarkKind
) -> None:
    spec = read(f"cpu: {written}").configured
    assert (spec.origin, spec.label, spec.model) == (Origin.DEFAULT, "kvm64", "kvm64")
    assert spec.written == meant
    assert written in said(spec, kind)
    assert "kvm64" in said(spec, kind)


def test_a_second_cpu_line_that_is_dropped_changes_nothing() -> None:
    spec = read("cpu: EPYC", "cpu: EPIC").configured
    assert (spec.written, spec.model, kinds(spec)) == ("EPYC", "EPYC", {RemarkKind.IGNORED})
    assert "EPIC" in said(spec, RemarkKind.IGNORED)


def test_without_the_file_of_custom_models_nothing_is_guessed() -> None:
    spec = read("cpu: custom-qemu64", place=Place("yard", "oak", models=None)).configured
    assert (spec.mode, spec.origin, spec.model) == (Mode.UNKNOWN, Origin.CUSTOM, "")
    assert "cpu-models.conf was not there" in said(spec, RemarkKind.UNRESOLVED)
    assert kinds(spec) == {RemarkKind.UNRESOLVED}


def test_args_replace_the_configured_model_and_both_are_named() -> None:
    spec = read("cpu: kvm64", "args: -smp 2 -cpu 'host,-hypervisor,kvm=off'").configured
    assert (spec.origin, spec.mode, spec.label) == (Origin.ARGS, Mode.HOST, "host")
    assert (spec.written, set(spec.off)) == ("kvm64", {"hypervisor"})
    text = said(spec, RemarkKind.OVERRIDDEN)
    assert "host,-hypervisor,kvm=off" in text
    assert "kvm64" in text


def test_args_without_a_cpu_replace_nothing() -> None:
    assert read("cpu: EPYC", "args: -smp 4,cores=4").configured == read("cpu: EPYC").configured


def test_an_open_quote_loses_all_args() -> None:
    spec = read("cpu: EPYC", "args: -cpu 'host").configured
    assert (spec.model, kinds(spec)) == ("EPYC", {RemarkKind.IGNORED})


def test_qemu_refuses_a_cpu_with_an_equals_sign() -> None:
    spec = read("cpu: EPYC", "args: -cpu=host").configured
    assert (spec.origin, spec.mode) == (Origin.ARGS, Mode.HOST)
    assert "-cpu=host" in said(spec, RemarkKind.NO_START)


def test_an_unknown_model_in_args_is_unknown() -> None:
    spec = read("args: -cpu Mystery").configured
    assert (spec.mode, spec.origin) == (Mode.UNKNOWN, Origin.ARGS)
    assert RemarkKind.UNRESOLVED in kinds(spec)


@pytest.mark.parametrize("lines", [("kvm: 0", "cpu: host"), ("kvm: 0", "args: -cpu host")])
def test_host_needs_kvm(lines: tuple[str, ...]) -> None:
    found = read(*lines)
    assert found.accelerator is Accelerator.TCG
    assert RemarkKind.NO_START in kinds(found.configured)


def test_args_save_an_emulated_guest_from_host() -> None:
    spec = read("kvm: 0", "cpu: host", "args: -cpu EPYC").configured
    assert kinds(spec) == {RemarkKind.OVERRIDDEN}


def test_a_model_of_another_architecture_never_starts() -> None:
    spec = read("cpu: cortex-a57").configured
    assert (spec.mode, spec.label) == (Mode.UNKNOWN, "cortex-a57")
    assert "does not exist" in said(spec, RemarkKind.NO_START)
    assert RemarkKind.NO_START in kinds(read("cpu: cortex-a57", "args: -cpu EPYC").configured), (
        "Proxmox gives up before QEMU sees args"
    )


def test_a_deprecated_name_is_mapped_and_said() -> None:
    spec = read("cpu: Icelake-Client").configured
    assert (spec.written, spec.label, spec.model) == (
        "Icelake-Client",
        "Icelake-Server",
        "Icelake-Server",
    )
    assert "Icelake-Server" in said(spec, RemarkKind.DEPRECATED)


def test_flags_beside_host_add_nothing() -> None:
    assert "+aes" in said(read("cpu: host,flags=+aes").configured, RemarkKind.NOTE)


def test_nested_virt_depends_on_a_host_that_is_not_known() -> None:
    for line in ("cpu: EPYC,flags=+nested-virt", "cpu: custom-nest"):
        assert read(line).configured.optional == {"svm", "vmx"}
    off = read("cpu: EPYC,flags=-nested-virt").configured
    assert (set(off.optional), set(off.off)) == (set(), {"svm", "vmx"})
    amd = Place("yard", "oak", "x86_64", frozenset({"svm"}), MODELS)
    assert "svm" in read("cpu: EPYC,flags=+nested-virt", place=amd).configured.on


@pytest.mark.parametrize(
    ("lines", "host_arch", "arch", "accelerator", "label"),
    [
        (("arch: aarch64",), "", "aarch64", Accelerator.TCG, "max"),
        (("arch: aarch64",), "aarch64", "aarch64", Accelerator.KVM, "host"),
        ((), "aarch64", "aarch64", Accelerator.KVM, "host"),
        (("kvm: 0",), "aarch64", "aarch64", Accelerator.TCG, "max"),
        (("arch: x86_64",), "aarch64", "x86_64", Accelerator.TCG, "qemu64"),
        (("arch: aarch64", "cpu: cortex-a72"), "", "aarch64", Accelerator.TCG, "cortex-a72"),
    ],
)
def test_architectures(
    lines: tuple[str, ...], host_arch: str, arch: str, accelerator: Accelerator, label: str
) -> None:
    found = read(*lines, place=Place("yard", "oak", host_arch))
    assert (found.arch, found.accelerator) == (arch, accelerator)
    assert (found.configured.label, found.configured.on) == (label, frozenset())
    if accelerator is Accelerator.TCG:
        assert "QEMU emulates" in found.configured.steps[0]


@pytest.mark.parametrize("name", ["a,b", "a,flags=+aes", "a=b", ","])
def test_a_custom_model_whose_name_no_guest_can_spell_is_unknown(name: str) -> None:
    spec = specification.of_model(name, Place("lab", "pve1", models=None))
    assert (spec.mode, spec.origin, spec.label) == (Mode.UNKNOWN, Origin.CUSTOM, f"custom-{name}")
    assert spec.remarked(RemarkKind.UNRESOLVED)
