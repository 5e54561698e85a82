"""What each form of `<cpu>` asks for; the outcomes are those that libvirt 9.0 was seen to give."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from unmask.cpu.resolve import resolve
from unmask.dialects.libvirt import cpu, xml
from unmask.dialects.libvirt.place import Place
from unmask.model.cpu import Accelerator, CpuSpec, Mode, Origin, RemarkKind, State
from unmask.model.reading import Missing

KVM = Place("x86_64", Accelerator.KVM)
TCG = Place("x86_64", Accelerator.TCG)
NO_HOST = Missing("no host")


def read(text: str, place: Place = KVM) -> CpuSpec:
    return cpu.spec(xml.parse(text, "the test") if text else None, place)


@dataclass(frozen=True)
class Expected:
    mode: Mode
    label: str
    origin: Origin = Origin.CONFIG
    on: str = ""
    off: str = ""
    optional: str = ""
    enforced: bool = False


QEMU64 = Expected(Mode.MODEL, "qemu64", Origin.DEFAULT)

FORMS = {
    "": QEMU64,
    "<cpu/>": QEMU64,
    "<cpu mode='custom'/>": QEMU64,
    "<cpu><topology sockets='1' cores='2' threads='1'/></cpu>": QEMU64,
    "<cpu match='exact'><model>Westmere</model></cpu>": Expected(
        Mode.MODEL, "Westmere", enforced=True
    ),
    "<cpu><model>Westmere</model></cpu>": Expected(Mode.MODEL, "Westmere", enforced=True),
    "<cpu mode='custom' match='exact' check='none'><model>Haswell</model></cpu>": Expected(
        Mode.MODEL, "Haswell"
    ),
    "<cpu mode='custom'><model>EPYC</model></cpu>": Expected(
        Mode.MODEL, "EPYC", off="monitor", enforced=True
    ),
    "<cpu mode='host-model'/>": Expected(Mode.HOST_MODEL, "host-model", enforced=True),
    "<cpu mode='host-model'><feature policy='disable' name='avx'/></cpu>": Expected(
        Mode.HOST_MODEL, "host-model", off="avx", enforced=True
    ),
    "<cpu mode='host-passthrough' migratable='on'/>": Expected(Mode.HOST, "host-passthrough"),
    "<cpu mode='host-passthrough'><feature policy='require' name='topoext'/></cpu>": Expected(
        Mode.HOST, "host-passthrough", on="topoext"
    ),
    "<cpu mode='maximum'><feature policy='disable' name='avx2'/></cpu>": Expected(
        Mode.MAXIMUM, "maximum", off="avx2"
    ),
    "<cpu check='none'><model>qemu64</model><feature policy='require' name='pclmuldq'/>"
    "<feature policy='force' name='sse4.1'/><feature policy='optional' name='avx'/>"
    "<feature policy='disable' name='svm'/><feature policy='forbid' name='sha-ni'/>"
    "<feature name='aes'/></cpu>": Expected(
        Mode.MODEL, "qemu64", on="aes pclmulqdq sse4_1", off="sha_ni svm", optional="avx"
    ),
    "<cpu check='none'><model>kvm64</model><feature name='spec-ctrl'/></cpu>": Expected(
        Mode.MODEL, "kvm64", on="ibpb ibrs spec-ctrl"
    ),
}


@pytest.mark.parametrize("text", FORMS)
def test_every_form_becomes_a_specification(text: str) -> None:
    spec = read(text)
    assert spec.remarked(RemarkKind.NO_START) == ()
    assert spec.remarked(RemarkKind.UNRESOLVED) == ()
    assert (
        Expected(
            mode=spec.mode,
            label=spec.label,
            origin=spec.origin,
            on=" ".join(sorted(spec.on)),
            off=" ".join(sorted(spec.off)),
            optional=" ".join(sorted(spec.optional)),
            enforced=spec.enforced,
        )
        == FORMS[text]
    )
    assert spec.steps


@pytest.mark.parametrize(
    ("text", "place", "check"),
    [
        ("<cpu><model>Haswell</model></cpu>", KVM, "partial"),
        ("<cpu><model>Haswell</model></cpu>", TCG, "none"),
        ("<cpu mode='host-model'/>", TCG, "partial"),
        ("<cpu mode='host-passthrough'/>", KVM, "none"),
        ("<cpu mode='maximum'/>", TCG, "none"),
        ("", KVM, "none"),
        ("<cpu check='none'><model>Haswell</model></cpu>", KVM, "none"),
    ],
)
def test_default_of_check(text: str, place: Place, check: str) -> None:
    spec = read(text, place)
    assert dict(spec.properties).get("check") == check
    assert spec.enforced is (check == "partial")


REFUSED = {
    "<cpu mode='bogus'/>": "the CPU mode 'bogus'",
    "<cpu match='bogus'><model>EPYC</model></cpu>": "match='bogus'",
    "<cpu check='bogus'><model>EPYC</model></cpu>": "check='bogus'",
    "<cpu><model fallback='no'>EPYC</model></cpu>": "fallback='no'",
    "<cpu><feature name='aes'/></cpu>": "features without a model",
    "<cpu><model>EPYC</model><feature policy='must' name='aes'/></cpu>": "the policy 'must'",
    "<cpu><model>EPYC</model><feature name='aes'/><feature name='aes'/></cpu>": "listed twice",
    "<cpu><model>qemu64</model><feature name='pclmulqdq'/></cpu>": "pclmulqdq is pclmuldq",
    "<cpu><model>qemu64</model><feature name='sse4_1'/></cpu>": "sse4_1 is sse4.1",
    "<cpu><model>qemu64</model><feature name='sha_ni'/></cpu>": "sha_ni is sha-ni",
    "<cpu><model>x86-64-v2-AES</model></cpu>": "a CPU model of Proxmox VE",
    "<cpu><model>max</model></cpu>": "QEMU's own name",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_libvirt_refuses_does_not_start(text: str) -> None:
    spec = read(text)
    said = [remark.text for remark in spec.remarked(RemarkKind.NO_START)]
    assert len(said) == 1
    assert REFUSED[text] in said[0]
    assert not resolve(spec, "x86_64", Accelerator.KVM, NO_HOST).starts


def test_passthrough_does_not_start_without_kvm() -> None:
    text = "<cpu mode='host-passthrough'/>"
    assert read(text, TCG).remarked(RemarkKind.NO_START)
    assert not read(text, KVM).remarks


def test_a_name_that_nobody_knows_stays_unknown() -> None:
    spec = read("<cpu><model>NoSuchCPU</model><feature name='aes'/></cpu>")
    assert (spec.mode, spec.label, spec.model) == (Mode.UNKNOWN, "NoSuchCPU", "")
    assert "NoSuchCPU is not known to unmask" in spec.remarked(RemarkKind.UNRESOLVED)[0].text
    view = resolve(spec, "x86_64", Accelerator.KVM, NO_HOST)
    assert (view.state("aes"), view.state("avx")) == (State.SHOWN, State.UNKNOWN)


def test_a_feature_that_nobody_knows_is_said() -> None:
    spec = read("<cpu check='none'><model>kvm64</model><feature name='nosuchflag'/></cpu>")
    assert "nosuchflag is not known to unmask" in spec.remarked(RemarkKind.UNRESOLVED)[0].text


def test_the_hosts_own_names_decide_over_ours() -> None:
    text = "<cpu><model>Haswell-v4</model></cpu>"
    assert "9.0 does not know" in read(text).remarked(RemarkKind.NOTE)[0].text
    offered = replace(KVM, models=frozenset({"Haswell", "Haswell-v4"}))
    assert read(text, offered).remarks == ()
    refused = read(text, replace(KVM, models=frozenset({"Haswell"})))
    assert "libvirt on this host does not know" in refused.remarked(RemarkKind.NO_START)[0].text


@pytest.mark.parametrize(
    ("arch", "emulator", "label"),
    [
        ("x86_64", "/usr/bin/kvm", "qemu64"),
        ("i686", "/usr/bin/qemu-system-x86_64", "qemu64"),
        ("i686", "/usr/bin/qemu-system-i386", "qemu32"),
    ],
)
def test_default_model_of_x86(arch: str, emulator: str, label: str) -> None:
    spec = read("", Place(arch, Accelerator.TCG, emulator=emulator))
    assert (spec.mode, spec.model, spec.origin) == (Mode.MODEL, label, Origin.DEFAULT)


@pytest.mark.parametrize("arch", ["aarch64", "s390x", "ppc64", "riscv64", "i686", ""])
def test_no_x86_default_where_it_is_not_certain(arch: str) -> None:
    spec = read("", Place(arch, Accelerator.KVM))
    assert (spec.mode, spec.model) == (Mode.UNKNOWN, "")
    assert spec.remarked(RemarkKind.UNRESOLVED)


def test_models_of_other_architectures_are_taken_as_they_are() -> None:
    place = Place("s390x", Accelerator.KVM)
    spec = read("<cpu><model>z15</model><feature name='msa9'/></cpu>", place)
    assert (spec.mode, spec.model, spec.on) == (Mode.MODEL, "z15", frozenset({"msa9"}))
    assert spec.remarks == ()


def test_minimum_and_strict_are_said() -> None:
    minimum = read("<cpu match='minimum'><model>Nehalem</model></cpu>")
    assert ("match", "minimum") in minimum.properties
    assert "all of its host-model" in minimum.remarks[0].text
    strict = read("<cpu match='strict'><model>Nehalem</model></cpu>")
    assert "no more than Nehalem" in strict.remarks[0].text


def test_forbid_is_said_where_it_is_checked() -> None:
    text = "<cpu><model>Nehalem</model><feature policy='forbid' name='aes'/></cpu>"
    assert "without aes" in read(text).remarks[0].text
    assert read(text, TCG).remarks == ()
    assert ("forbid", "aes") in read(text).properties
    chosen = text.replace("<cpu><model>Nehalem</model>", "<cpu mode='host-model'>")
    assert ("forbid", "aes") in read(chosen).properties


def test_libvirts_map_asks_more_than_qemu() -> None:
    note = read("<cpu><model>qemu64</model></cpu>").remarks[0].text
    assert "counts svm to qemu64" in note
    assert read("<cpu check='none'><model>qemu64</model></cpu>").remarks == ()


def test_vendor_shown_and_vendor_demanded() -> None:
    text = "<cpu><model vendor_id='GenuineIntel'>EPYC</model><vendor>AMD</vendor></cpu>"
    properties = dict(read(text).properties)
    assert properties["vendor"] == "GenuineIntel"
    assert properties["required-vendor"] == "AuthenticAMD"


LIVE = replace(KVM, live=True)
FULL = "<cpu mode='custom' match='exact' check='full'><model>{}</model>{}</cpu>"


def live_state(model: str, features: str, flag: str, place: Place = LIVE) -> State:
    spec = read(FULL.format(model, features), place)
    assert (spec.origin, spec.exact, spec.enforced) == (Origin.LIVE, True, False)
    return resolve(spec, place.arch, place.accelerator, NO_HOST).state(flag)


@pytest.mark.parametrize("accelerator", [Accelerator.KVM, Accelerator.TCG])
def test_live_list_is_complete(accelerator: Accelerator) -> None:
    """QEMU's Westmere has PCLMULQDQ, libvirt's has not: unlisted, the guest has it not."""
    place = replace(LIVE, accelerator=accelerator)
    listed = "<feature policy='require' name='pclmuldq'/>"
    assert live_state("Westmere", listed, "pclmulqdq", place) is State.SHOWN
    assert live_state("Westmere", "", "pclmulqdq", place) is State.HIDDEN
    assert live_state("Westmere", "", "aes", place) is State.SHOWN
    gone = "<feature policy='disable' name='aes'/>"
    assert live_state("Westmere", gone, "aes", place) is State.HIDDEN
    assert live_state("Haswell", "", "f16c", place) is State.HIDDEN
    assert live_state("Skylake-Client", "", "mpx", place) is State.SHOWN


def test_live_hypervisor_flag() -> None:
    assert live_state("kvm64", "", "hypervisor") is State.HIDDEN
    shown = "<feature policy='require' name='hypervisor'/>"
    assert live_state("kvm64", shown, "hypervisor") is State.SHOWN


def test_live_unknown_model_shows_what_is_listed() -> None:
    listed = "<feature policy='require' name='aes'/><feature policy='disable' name='avx'/>"
    assert live_state("FutureLake", listed, "aes") is State.SHOWN
    assert live_state("FutureLake", listed, "avx") is State.HIDDEN
    assert live_state("FutureLake", listed, "pclmulqdq") is State.UNKNOWN


def test_live_passthrough_says_nothing_of_flags() -> None:
    spec = read("<cpu mode='host-passthrough' check='none' migratable='on'/>", LIVE)
    assert (spec.mode, spec.origin, spec.exact) == (Mode.HOST, Origin.LIVE, False)


def test_host_model_is_expanded_to_a_complete_list() -> None:
    mode = xml.parse(
        "<mode name='host-model' supported='yes'><model fallback='forbid'>Westmere</model>"
        "<vendor>Intel</vendor><feature policy='require' name='avx'/></mode>", "it",
    )  # fmt: skip
    spec = cpu.host_model(mode, LIVE)
    assert spec is not None
    assert (spec.model, spec.exact) == ("Westmere", True)
    assert "avx" in spec.on
    assert "pclmulqdq" in spec.off
    assert cpu.host_model(xml.parse("<mode name='host-model' supported='no'/>", "it"), KVM) is None
