"""What a machine tells from inside of what it runs on."""

from __future__ import annotations

from typing import Any

import pytest

from unmask.model.cpu import Accelerator, HostCpu, Mode, RemarkKind
from unmask.model.inside import Inside, System, Virtualisation
from unmask.model.inventory import Guest, GuestKind, GuestState, Platform
from unmask.model.reading import Known, Missing
from unmask.model.visit import Visit
from unmask.sources import _unseen_guest
from unmask.sources._unseen_guest import BARE, HIDDEN, MASKED, below

SILICON = "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz"
KVM64 = "Common KVM processor"
MAX = "QEMU TCG CPU version 2.5+"
QEMU: dict[str, Any] = {"vendor": "QEMU", "hypervisor_flag": True}
FLAGS = frozenset({"fpu", "lm", "hypervisor"})


def seen(detected: str = "", *, name: str = KVM64, **more: Any) -> _unseen_guest.Below:
    virtual = Virtualisation(detected, **more)
    return below(virtual, HostCpu("x86_64", FLAGS, model_name=name))


@pytest.mark.parametrize(
    ("detected", "name", "more", "accelerator"),
    [
        ("kvm", KVM64, QEMU, Accelerator.KVM),
        ("kvm", SILICON, {"vendor": "Hetzner"}, Accelerator.KVM),
        ("qemu", KVM64, QEMU, Accelerator.TCG),
        ("qemu", MAX, QEMU, Accelerator.TCG),
        ("qemu", SILICON, QEMU, Accelerator.KVM),
        ("xen", SILICON, {}, Accelerator.OTHER),
        ("vmware", SILICON, {}, Accelerator.OTHER),
        ("microsoft", SILICON, {}, Accelerator.OTHER),
        ("amazon", SILICON, {}, Accelerator.OTHER),
        # Systems that cannot name it: Alpine, Windows, FreeBSD under QEMU's emulation.
        ("", SILICON, QEMU, Accelerator.KVM),
        ("", KVM64, QEMU, Accelerator.UNKNOWN),
        ("", MAX, {}, Accelerator.TCG),
        ("generic", KVM64, {}, Accelerator.UNKNOWN),
        ("", SILICON, {"vendor": "VMware, Inc.", "hypervisor_flag": True}, Accelerator.OTHER),
        ("none", SILICON, {"vendor": "Supermicro"}, Accelerator.OTHER),
    ],
)
def test_what_runs_it(
    detected: str, name: str, more: dict[str, Any], accelerator: Accelerator
) -> None:
    assert seen(detected, name=name, **more).accelerator is accelerator


@pytest.mark.parametrize(
    ("detected", "name", "more", "remark"),
    [
        ("none", SILICON, {"vendor": "Supermicro"}, BARE),
        ("", SILICON, {"vendor": "Dell Inc."}, BARE),
        ("none", KVM64, {}, MASKED),
        ("qemu", SILICON, QEMU, HIDDEN),
        ("xen", SILICON, {}, "Its hypervisor is xen, not QEMU"),
        ("", SILICON, {"vendor": "Xen", "hypervisor_flag": True}, "Its hypervisor is xen"),
        ("kvm", SILICON, {"container": "lxc"}, "It is a container (lxc)"),
    ],
)
def test_what_is_remarked(detected: str, name: str, more: dict[str, Any], remark: str) -> None:
    (said,) = seen(detected, name=name, **more).remarks
    assert said.kind is RemarkKind.NOTE
    assert said.text.startswith(remark)


@pytest.mark.parametrize("flag", ["avx512f", "vmx"])
def test_flags_that_qemu_never_emulates_give_a_hidden_kvm_away(flag: str) -> None:
    named = "Intel Xeon Processor (Skylake)"
    cpu = HostCpu("x86_64", FLAGS | {flag}, model_name=named)
    found = below(Virtualisation("qemu", **QEMU), cpu)
    assert found.accelerator is Accelerator.KVM
    assert [flag in note.text for note in found.remarks] == [True]
    plain = below(Virtualisation("qemu", **QEMU), HostCpu("x86_64", FLAGS, model_name=named))
    assert plain.accelerator is Accelerator.TCG


def test_nothing_is_remarked_of_a_common_guest() -> None:
    assert seen("kvm", **QEMU).remarks == ()
    assert seen("", **QEMU).remarks == ()


def test_windows_with_its_own_hypervisor_is_no_guest_of_it() -> None:
    maker: dict[str, Any] = {"vendor": "Microsoft Corporation", "hypervisor_flag": True}
    assert seen("", name=SILICON, product="Surface Pro", **maker).word == ""
    assert seen("", name=SILICON, product="Virtual Machine", **maker).word == "microsoft"


def test_arm_without_any_word_may_be_anything() -> None:
    found = below(Virtualisation(), HostCpu("aarch64", frozenset({"aes"})))
    assert (found.accelerator, found.bare, found.remarks) == (Accelerator.UNKNOWN, False, ())


def test_a_container_on_a_machine_of_its_own_is_not_called_bare() -> None:
    found = seen("none", name=SILICON, container="lxc")
    assert [note.text.startswith("It is a container") for note in found.remarks] == [True]


def made(**fields: object) -> Guest:
    inside = Inside(**fields)  # type: ignore[arg-type]
    visit = Visit(inside=Known(inside))
    return _unseen_guest.guest("vps.example", inside, visit, "ssh://vps.example")


def test_a_guest_without_a_host() -> None:
    cpu = HostCpu("x86_64", FLAGS, "GenuineIntel", KVM64, 15, 6, 1)
    guest = made(cpu=Known(cpu), virtualisation=Known(Virtualisation("kvm")))
    assert (guest.subject, guest.ident, guest.name, guest.host) == ("vps.example",) * 3 + ("",)
    assert (guest.platform, guest.kind) == (Platform.UNSEEN, GuestKind.VM)
    assert (guest.state, guest.arch) == (GuestState.RUNNING, "x86_64")
    assert (guest.configured.mode, guest.configured.label) == (Mode.MODEL, "kvm64")
    assert guest.visit.inside.known


def test_a_container_has_no_cpu_of_its_own() -> None:
    cpu = HostCpu("x86_64", FLAGS, model_name=SILICON)
    virtual = Virtualisation("none", container="openvz")
    guest = made(cpu=Known(cpu), virtualisation=Known(virtual))
    assert guest.kind is GuestKind.CONTAINER
    assert (guest.configured.mode, guest.configured.label) == (Mode.NONE, SILICON)


def test_a_machine_of_its_own() -> None:
    cpu = HostCpu("x86_64", FLAGS, model_name=SILICON)
    guest = made(cpu=Known(cpu), virtualisation=Known(Virtualisation("none")))
    assert guest.configured.label == SILICON
    assert guest.configured.steps[-1] == "no hypervisor shows itself"


def test_what_was_not_read_is_not_told() -> None:
    guest = made(
        cpu=Missing("the command in the guest did not end in time"),
        system=Known(System("Linux", machine="aarch64")),
    )
    assert guest.arch == "aarch64"
    assert guest.configured.mode is Mode.UNKNOWN
    assert guest.configured.steps == ("the command in the guest did not end in time",)


@pytest.mark.parametrize(("machine", "arch"), [("amd64", "x86_64"), ("arm64", "aarch64")])
def test_the_machine_of_freebsd_is_called_as_qemu_calls_it(machine: str, arch: str) -> None:
    system = System("FreeBSD", machine=machine)
    guest = made(cpu=Missing("it has no boot messages"), system=Known(system))
    assert guest.arch == arch
