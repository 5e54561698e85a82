"""From one configuration to a guest and its CPU specifications."""

from __future__ import annotations

import pytest

from unmask.dialects.proxmox import custom_models, guest
from unmask.dialects.proxmox.specification import Place
from unmask.model.cpu import Accelerator, CpuSpec, Mode, Origin, RemarkKind
from unmask.model.inventory import Guest, GuestKind, GuestState, Platform

MODELS = custom_models.parse(
    "cpu-model: seal\n    flags +aes;+pclmulqdq\n    reported-model Westmere\n\n"
    "cpu-model: nest\n    flags +nested-virt\n"
).models
PLACE = Place("yard", "oak", models=MODELS)


def read(*lines: str, place: Place = PLACE) -> Guest:
    return guest.read("\n".join(lines) + "\n", "101", place, "yard/101.conf")


def kinds(spec: CpuSpec) -> set[RemarkKind]:
    return {remark.kind for remark in spec.remarks}


def said(spec: CpuSpec, kind: RemarkKind) -> str:
    (remark,) = spec.remarked(kind)
    return remark.text


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
    assert "cpu-models.conf was not there" in said(spec, RemarkKind.CUSTOM_MISSING)


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
    assert (spec.label, spec.model) == ("Icelake-Client", "Icelake-Server")
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
    assert (found.current.origin, found.current.model) == (Origin.LIVE, "kvm64")


@pytest.mark.parametrize("lines", [("lock: backup", RUNNING), (RUNNING,), ("lock: suspended",)])
def test_any_other_guest_has_no_running_cpu(lines: tuple[str, ...]) -> None:
    found = read(*lines)
    assert (found.running, found.state) == (None, GuestState.UNKNOWN)


def test_the_operators_name_is_kept_where_the_running_cpu_is_the_same() -> None:
    text = "qemu64,+aes,enforce,+kvm_pv_eoi,+kvm_pv_unhalt,+pni,+popcnt,+sse4.1,+sse4.2,+ssse3"
    found = read("cpu: x86-64-v2-AES", "lock: suspended", f"runningcpu: {text}")
    assert found.current.label == "x86-64-v2-AES"


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
