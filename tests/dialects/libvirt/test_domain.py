from __future__ import annotations

import pytest

from unmask.cpu.resolve import resolve
from unmask.dialects.libvirt import domain, xml
from unmask.dialects.libvirt.domain import Domain
from unmask.model.cpu import Accelerator, Mode, Origin, RemarkKind, State
from unmask.model.reading import Missing

QEMU = "xmlns:qemu='http://libvirt.org/schemas/domain/qemu/1.0'"
OS = "<os><type arch='x86_64' machine='pc-q35-7.2'>hvm</type></os>"


def read(inner: str, attributes: str = "type='kvm'", host_arch: str = "") -> Domain:
    text = f"<domain {attributes} {QEMU}>{inner}</domain>"
    return domain.read(xml.parse(text, "the test"), host_arch)


def commandline(*arguments: str) -> str:
    words = "".join(f"<qemu:arg value='{argument}'/>" for argument in arguments)
    return f"<qemu:commandline>{words}</qemu:commandline>"


def state(found: Domain, flag: str) -> State:
    missing = Missing("no host")
    return resolve(found.cpu, found.arch, found.accelerator, missing).state(flag)


def test_what_a_domain_says() -> None:
    found = read(
        "<name>web</name><uuid>0f1e</uuid><metadata>"
        "<l:libosinfo xmlns:l='http://libosinfo.org/xmlns/libvirt/domain/1.0'>"
        "<l:os id='http://debian.org/debian/12'/></l:libosinfo></metadata>"
        f"{OS}<cpu mode='host-model'/><cputune/>"
        "<devices><emulator>/usr/bin/qemu-system-x86_64</emulator></devices>"
    )
    assert (found.name, found.uuid, found.kind) == ("web", "0f1e", "kvm")
    assert (found.arch, found.machine) == ("x86_64", "pc-q35-7.2")
    assert found.emulator == "/usr/bin/qemu-system-x86_64"
    assert found.os_declared == "http://debian.org/debian/12"
    assert found.cpu.mode is Mode.HOST_MODEL
    assert (found.live, found.container, found.remarks) == (False, False, ())


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("kvm", Accelerator.KVM),
        ("qemu", Accelerator.TCG),
        ("xen", Accelerator.OTHER),
        ("hvf", Accelerator.OTHER),
        ("", Accelerator.UNKNOWN),
    ],
)
def test_type_tells_the_accelerator(kind: str, expected: Accelerator) -> None:
    assert read(OS, f"type='{kind}'").accelerator is expected


@pytest.mark.parametrize(
    ("inner", "host_arch", "expected"),
    [
        ("<os><type arch='armv7l'/></os>", "", "arm"),
        ("<os><type arch='ppc64le'/></os>", "", "ppc64"),
        ("<os><type>hvm</type></os>", "aarch64", "aarch64"),
        ("<devices><emulator>/usr/bin/qemu-system-i386</emulator></devices>", "", "i686"),
        ("<devices><emulator>/usr/libexec/qemu-kvm</emulator></devices>", "", ""),
        ("", "", ""),
    ],
)
def test_architecture(inner: str, host_arch: str, expected: str) -> None:
    assert read(inner, host_arch=host_arch).arch == expected


def test_an_incomplete_document_is_said_and_nothing_is_guessed() -> None:
    found = read("<devices/>", "")
    said = found.remarks[0]
    assert said.kind is RemarkKind.UNRESOLVED
    assert said.text == "The XML is incomplete: it lacks a type and a name and an architecture."
    assert found.cpu.mode is Mode.UNKNOWN
    assert "qemu64" in found.cpu.remarks[0].text
    assert state(found, "aes") is State.UNKNOWN


def test_last_cpu_of_the_command_line_wins() -> None:
    inner = OS + "<cpu mode='host-passthrough'/>" + commandline(
        "-device", "usb-kbd", "-cpu", "max", "-cpu", "Penryn,+aes,vendor=GenuineIntel,check"
    )  # fmt: skip
    found = read(inner + "<!-- <qemu:arg value='-cpu'/><qemu:arg value='host'/> -->")
    assert (found.cpu.origin, found.cpu.label) == (Origin.ARGS, "Penryn")
    assert "replaces host-passthrough" in found.cpu.remarked(RemarkKind.OVERRIDDEN)[0].text
    assert (state(found, "aes"), state(found, "pclmulqdq")) == (State.SHOWN, State.HIDDEN)


def test_arguments_in_a_comment_are_not_there() -> None:
    inner = OS + "<qemu:commandline><!-- <qemu:arg value='-cpu'/><qemu:arg value='max'/> -->"
    assert read(inner + "</qemu:commandline>").cpu.origin is Origin.DEFAULT


def test_an_argument_that_qemu_refuses() -> None:
    found = read(OS + commandline("-cpu=host"))
    assert found.cpu.remarked(RemarkKind.NO_START)
    assert read(OS + commandline("-cpu")).cpu.remarked(RemarkKind.NO_START)


def test_a_model_that_libvirt_refuses_is_refused_before_qemu_is_asked() -> None:
    cpu = "<cpu><model>x86-64-v2-AES</model></cpu>"
    assert read(OS + cpu + commandline("-cpu", "max")).cpu.remarked(RemarkKind.NO_START)


def test_live_list_of_an_overridden_guest_stays_true() -> None:
    cpu = (
        "<cpu mode='custom' match='exact' check='full'><model fallback='forbid'>qemu64</model>"
        "<feature policy='require' name='aes'/></cpu>"
    )
    found = read(OS + cpu + commandline("-cpu", "max"), "type='qemu' id='4'")
    assert (found.cpu.origin, found.cpu.label, found.cpu.exact) == (Origin.LIVE, "max", True)
    assert found.cpu.remarked(RemarkKind.OVERRIDDEN)
    assert (state(found, "aes"), state(found, "avx2")) == (State.SHOWN, State.HIDDEN)


def test_live_passthrough_that_is_overridden_is_what_qemu_was_told() -> None:
    inner = OS + "<cpu mode='host-passthrough'/>" + commandline("-cpu", "kvm64")
    found = read(inner, "type='kvm' id='4'")
    assert (found.cpu.origin, found.cpu.model) == (Origin.LIVE, "kvm64")


def test_second_cpu_element_is_dropped() -> None:
    found = read(OS + "<cpu><model>kvm64</model></cpu><cpu mode='host-model'/>")
    assert found.cpu.label == "kvm64"
    assert found.cpu.remarked(RemarkKind.IGNORED)


def test_a_container_has_no_cpu_of_its_own() -> None:
    found = read("<name>c</name><os><type arch='x86_64'>exe</type></os>", "type='lxc'")
    assert found.container
    assert found.cpu.mode is Mode.NONE
    assert found.remarks == ()


def test_launch_security_is_said() -> None:
    found = read(f"<name>s</name>{OS}<launchSecurity type='sev'/>")
    assert "'sev' ties the guest to its host" in found.remarks[0].text


def test_fragment_with_a_full_check_is_live() -> None:
    text = "<cpu mode='custom' match='exact' check='full'><model>kvm64</model></cpu>"
    found = domain.fragment(xml.parse(text, "it"))
    assert (found.live, found.cpu.origin, found.arch) == (True, Origin.LIVE, "x86_64")
    other = domain.fragment(xml.parse("<cpu><arch>aarch64</arch><model>max</model></cpu>", "it"))
    assert (other.live, other.arch) == (False, "aarch64")
