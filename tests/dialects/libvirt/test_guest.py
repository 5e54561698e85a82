"""One guest out of libvirt's forms of its XML, and whether a change waits for a restart."""

from __future__ import annotations

import pytest

from unmask.dialects.libvirt import capabilities, domain, xml
from unmask.dialects.libvirt.domain import Domain
from unmask.dialects.libvirt.guest import Forms, guest
from unmask.model.cpu import HypervisorCpu, Mode, Origin, RemarkKind
from unmask.model.inventory import Guest, GuestKind, GuestState

QEMU = "xmlns:qemu='http://libvirt.org/schemas/domain/qemu/1.0'"
NAMED = "<name>web</name><uuid>u-1</uuid><os><type arch='x86_64'>hvm</type></os>"
RAW = "<qemu:commandline><qemu:arg value='-cpu'/><qemu:arg value='{}'/></qemu:commandline>"


def model(name: str, *features: str, check: str = "none") -> str:
    """Return a custom `<cpu>`; features are "policy:name"."""
    listed = "".join(
        "<feature policy='{}' name='{}'/>".format(*item.split(":")) for item in features
    )
    return f"<cpu mode='custom' match='exact' check='{check}'><model>{name}</model>{listed}</cpu>"


def read(cpu: str, attributes: str = "") -> Domain:
    text = f"<domain type='qemu' {attributes} {QEMU}>{NAMED}{cpu}</domain>"
    return domain.read(xml.parse(text, "the test"))


def running(
    live: str, inactive: str, started: str = "", offers: tuple[HypervisorCpu, ...] = ()
) -> Guest:
    forms = Forms(
        live=read(live, "id='3'"),
        inactive=read(inactive),
        started=read(started, "id='3'") if started else None,
    )
    return guest(forms, "host", GuestState.RUNNING, offers)


def offer(name: str, *features: str) -> HypervisorCpu:
    listed = "".join(f"<feature policy='require' name='{item}'/>" for item in features)
    text = (
        "<domainCapabilities><domain>qemu</domain><arch>x86_64</arch><cpu>"
        f"<mode name='host-model' supported='yes'><model>{name}</model>{listed}</mode>"
        "</cpu></domainCapabilities>"
    )
    return capabilities.domain(xml.parse(text, "it")).cpu


LIVE_WESTMERE = model("Westmere", "require:pclmuldq", "require:hypervisor", check="full")


def test_a_stopped_guest() -> None:
    found = guest(Forms(inactive=read(model("kvm64"))), "host", GuestState.STOPPED, location="x")
    assert (found.subject, found.ident, found.name) == ("host/web", "u-1", "web")
    assert (found.kind, found.host, found.location) == (GuestKind.VM, "host", "x")
    assert (found.configured.label, found.running, found.pending) == ("kvm64", None, None)


def test_a_running_guest_as_it_is_configured() -> None:
    found = running(LIVE_WESTMERE, model("Westmere"), model("Westmere"))
    assert found.running is not None
    assert (found.running.origin, found.running.label) == (Origin.LIVE, "Westmere")
    assert (found.configured.origin, found.pending) == (Origin.CONFIG, None)
    assert found.current is found.running


SINCE_START = {
    "another model": (model("Westmere"), model("Nehalem"), True),
    "fallback and check only": (model("EPYC"), model("EPYC", check="partial"), False),
    "a feature more": (model("EPYC"), model("EPYC", "require:aes"), True),
    "a feature less": (model("EPYC", "disable:aes"), model("EPYC"), True),
    "force for require": (model("EPYC", "force:aes"), model("EPYC", "require:aes"), False),
    "optional was given": (model("kvm64", "require:avx"), model("kvm64", "optional:avx"), False),
    "optional was not": (model("kvm64", "disable:avx"), model("kvm64", "optional:avx"), False),
    "another mode": (model("EPYC"), "<cpu mode='maximum'/>", True),
    "the same mode": ("<cpu mode='maximum'/>", "<cpu mode='maximum'/>", False),
    "minimum": (model("EPYC"), "<cpu match='minimum'><model>Nehalem</model></cpu>", False),
    "host-model from maximum": ("<cpu mode='maximum'/>", "<cpu mode='host-model'/>", True),
    "a new -cpu": (model("EPYC"), model("EPYC") + RAW.format("max"), True),
    "the same -cpu": (model("EPYC") + RAW.format("max"), model("kvm64") + RAW.format("max"), False),
}


@pytest.mark.parametrize("case", SINCE_START)
def test_a_change_since_the_start(case: str) -> None:
    started, inactive, waits = SINCE_START[case]
    live = started.replace("check='none'", "check='full'")
    found = running(live, inactive, started)
    assert (found.pending is not None) is waits
    if found.pending:
        assert found.pending.written == read(inactive).cpu.written
        assert found.configured.written == read(started, "id='3'").cpu.written


SINCE_LIVE = {
    "as asked": ("EPYC", ("disable:sha-ni", "require:npt"), model("EPYC"), False),
    "another model": ("EPYC", (), model("Haswell"), True),
    "what the host lacks": (
        "kvm64",
        ("disable:avx512f",),
        model("kvm64", "require:avx512f"),
        False,
    ),
    "never asked for": ("kvm64", (), model("kvm64", "require:aes"), True),
    "asked for": ("kvm64", ("require:aes",), model("kvm64", "require:aes"), False),
    "still in the model": ("Westmere", (), model("Westmere", "disable:aes"), True),
    "still listed": ("kvm64", ("require:aes",), model("kvm64", "disable:aes"), True),
    "not known to the catalogue": ("FutureLake", (), model("FutureLake", "require:aes"), False),
}


@pytest.mark.parametrize("case", SINCE_LIVE)
def test_a_change_seen_over_a_read_only_connection(case: str) -> None:
    name, listed, inactive, waits = SINCE_LIVE[case]
    found = running(model(name, *listed, check="full"), inactive)
    assert (found.pending is not None) is waits


def test_read_only_and_other_modes() -> None:
    host = "<cpu mode='host-passthrough'/>"
    assert running(host, host).pending is None
    assert running(host, host.replace("/>", "><feature name='aes'/></cpu>")).pending is not None
    assert running(host, model("kvm64")).pending is not None
    assert running(model("EPYC", check="full") + RAW.format("max"), model("EPYC")).pending


def test_host_model_expanded_as_today() -> None:
    live = model("Westmere", "require:hypervisor", "require:pclmuldq", check="full")
    offers = (offer("Westmere", "pclmuldq"),)
    found = running(live, "<cpu mode='host-model'/>", live, offers)
    assert found.pending is None
    assert found.running is not None
    assert found.running.label == "host-model (Westmere)"
    assert found.configured.mode is Mode.HOST_MODEL


def test_host_model_expanded_otherwise_today() -> None:
    found = running(LIVE_WESTMERE, "<cpu mode='host-model'/>", LIVE_WESTMERE, (offer("kvm64"),))
    assert found.pending is not None
    assert "expanded differently now: aes pclmulqdq" in found.remarks[-1].text


def test_host_model_without_capabilities_cannot_be_told() -> None:
    found = running(LIVE_WESTMERE, "<cpu mode='host-model'/>", LIVE_WESTMERE)
    assert found.pending is None
    assert found.remarks[-1].kind is RemarkKind.NOTE
    assert "is not known" in found.remarks[-1].text


def test_a_transient_guest_has_nothing_to_wait_for() -> None:
    found = guest(Forms(live=read(LIVE_WESTMERE, "id='1'")), "host", GuestState.PAUSED)
    assert (found.state, found.pending) == (GuestState.PAUSED, None)
    assert found.configured is found.running


def test_a_saved_guest_resumes_with_the_old_cpu() -> None:
    forms = Forms(inactive=read(model("Haswell")), saved=read(model("Westmere")))
    found = guest(forms, "host", GuestState.STOPPED)
    assert found.state is GuestState.SUSPENDED
    assert (found.configured.label, found.running) == ("Westmere", None)
    assert found.pending is not None
    assert found.pending.label == "Haswell"
    same = guest(Forms(inactive=forms.saved, saved=forms.saved), "host", GuestState.STOPPED)
    assert same.pending is None
    assert "managed save" in same.remarks[-1].text


def test_a_container_and_a_nameless_guest() -> None:
    text = "<domain type='lxc' id='1'><os><type arch='x86_64'>exe</type></os></domain>"
    found = guest(
        Forms(live=domain.read(xml.parse(text, "it"))), "host", GuestState.RUNNING, name="file"
    )
    assert (found.kind, found.name, found.subject) == (GuestKind.CONTAINER, "file", "host/file")
    assert (found.current.mode, found.running) == (Mode.NONE, None)


def test_no_form_at_all_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="live or its inactive form"):
        guest(Forms(), "host", GuestState.UNKNOWN)
