"""The letter to a provider: what it says, what it asks for, and what it keeps to itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support import golden
from support.documents import HOSTILE, document, lab
from support.rented import PC, WORK, guest, inside, letter, spec, workload
from unmask.model.cpu import Accelerator, HostCpu, Mode, Remark, RemarkKind
from unmask.model.inside import KernelCrypto, Partial, System, Virtualisation
from unmask.model.inventory import Gap, GuestKind
from unmask.model.outlook import Status
from unmask.model.reading import Known, Missing
from unmask.model.visit import Visit
from unmask.model.workload import Unread, WorkloadKind
from unmask.report.ticket import FORMAT, WIDTH, render

VMWARE = Virtualisation("vmware", vendor="VMware, Inc.", hypervisor_flag=True)
TCG = replace(PC, detected="qemu")
LXC = replace(PC, container="lxc")
CASES = {
    "kvm64": letter(guest(inside()), work=WORK),
    "aes-only": letter(
        guest(
            inside("QEMU Virtual CPU version 2.5+", "aes", "ssse3", crypto_drivers=Missing("late")),
            configured=spec("qemu64 or a model built on it", "it is qemu64", "or built on it"),
        ),
        work=(workload(WorkloadKind.TLS, "openssl", Status.PARTIAL, "pclmulqdq"),),
        unread=(Unread(WorkloadKind.ZFS, "the command did not end in time"),),
    ),
    "emulated": letter(
        guest(
            inside("QEMU TCG CPU version 2.5+", "aes", "pclmulqdq", virtualisation=Known(TCG)),
            Accelerator.TCG,
            configured=spec("max", mode=Mode.MAXIMUM),
        )
    ),
    "container": letter(
        guest(
            inside(virtualisation=Known(LXC)),
            kind=GuestKind.CONTAINER,
            remarks=(Remark(RemarkKind.NOTE, "It is a container (lxc)."),),
        )
    ),
    "vmware": letter(
        guest(
            inside("Intel(R) Xeon(R)", virtualisation=Known(VMWARE)),
            Accelerator.OTHER,
            configured=spec("Intel(R) Xeon(R)", "it is the name of silicon", mode=Mode.UNKNOWN),
        )
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_letter_is_as_expected(name: str) -> None:
    golden.check(f"report/ticket-{name}.txt", CASES[name])


@pytest.mark.parametrize("name", CASES)
def test_it_keeps_to_itself_who_and_where(name: str) -> None:
    for private in ("198.51.100.7", "root@", "ssh://", "secret-name", "another"):
        assert private not in CASES[name]
    assert "vps.example" in CASES[name]


@pytest.mark.parametrize("name", CASES)
def test_it_fits_a_form(name: str) -> None:
    assert max(map(len, CASES[name].splitlines())) <= WIDTH
    assert CASES[name].isascii()


@pytest.mark.parametrize(
    "name", ["198.51.100.7", "198.51.100.7:2222", "2001:db8::7", "fe80::1%eth0"]
)
def test_an_address_is_no_name(name: str) -> None:
    text = letter(guest(inside(), name=name))
    assert name not in text
    assert "198.51" not in text
    assert "[its name or contract number]" in text


def test_a_name_keeps_no_port() -> None:
    assert "vps.example:2222" not in letter(guest(inside(), name="vps.example:2222"))


def test_addresses_in_what_the_guest_says_are_left_out() -> None:
    said = KernelCrypto(
        messages=("aes: peer 203.0.113.9 and 2001:db8::7 by 52:54:00:12:34:56 at 12:30:45",)
    )
    text = letter(guest(inside(kernel_crypto=Known(said))))
    for address in ("203.0.113.9", "2001:db8::7", "52:54:00:12:34:56"):
        assert address not in text
    assert "aes: peer (address) and (address)" in " ".join(text.split())
    assert "12:30:45" in text


def test_what_the_guest_says_is_harmless() -> None:
    evil = System(HOSTILE, HOSTILE, name=HOSTILE)
    virtual = Virtualisation(HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE)
    said = KernelCrypto(messages=(HOSTILE,) * 50, parameters=(f"clearcpuid={HOSTILE}",))
    text = letter(
        guest(
            inside(
                HOSTILE,
                system=Known(evil),
                virtualisation=Known(virtual),
                kernel_crypto=Known(said),
            ),
            name=HOSTILE,
            remarks=(Remark(RemarkKind.NOTE, HOSTILE),),
            configured=spec(HOSTILE, HOSTILE),
        )
    )
    assert all(line.isprintable() for line in text.splitlines())
    assert text.count("The kernel's log:") == 6


def test_nothing_is_asked_for_where_nothing_lacks() -> None:
    text = letter(guest(inside("Intel(R) Xeon(R)", "aes", "pclmulqdq")))
    assert " ".join(text.split()) == (
        "vps.example: there is nothing to ask its provider for: its CPU shows aes, pclmulqdq, all "
        "that most encryption needs. Where it is slow all the same, unmask bench tells why."
    )


def test_workloads_that_lack_more_are_asked_for() -> None:
    lacking = workload(WorkloadKind.WIREGUARD, "wireguard", Status.PARTIAL, "avx2", "ssse3")
    text = letter(guest(inside("Intel(R) Xeon(R)", "aes", "pclmulqdq", "ssse3")), work=(lacking,))
    assert "a CPU type that shows avx2: host" in " ".join(text.split())


@pytest.mark.parametrize(
    ("name", "flags", "sure"),
    [
        ("Common KVM processor", (), ""),
        ("Common KVM processor", ("aes",), "No x86 processor has aes without pclmulqdq"),
        ("Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz", (), "Every Intel(R) Xeon(R) Gold 6130 CPU"),
        ("Intel(R) Xeon(R) CPU E5520 @ 2.27GHz", (), ""),
    ],
)
def test_what_is_sure_is_not_doubted(name: str, flags: tuple[str, ...], sure: str) -> None:
    said = " ".join(letter(guest(inside(name, *flags))).split())
    assert sure in said
    assert ("Whether the processor below has what is missing" in said) is not bool(sure)


def test_a_machine_of_its_own_has_nobody_to_ask() -> None:
    silicon = Virtualisation("none", vendor="Supermicro")
    text = letter(guest(inside(virtualisation=Known(silicon)), Accelerator.OTHER))
    assert "no hypervisor shows itself that could hide them" in " ".join(text.split())
    assert "Hello" not in text


def test_arm() -> None:
    cpu = HostCpu("aarch64", frozenset({"fp", "asimd"}), "ARM", "Neoverse-N1")
    text = letter(guest(inside(cpu=Known(cpu)), arch="aarch64", configured=spec("not told")))
    said = " ".join(text.split())
    assert "shows aes, pmull: host." in said
    assert "qm set VMID --cpu host libvirt" in said
    assert "Westmere" not in said


@pytest.mark.parametrize("arch", ["s390x", "ppc64", ""])
def test_other_architectures_have_no_such_flags(arch: str) -> None:
    cpu = HostCpu(arch, frozenset({"msa"}))
    text = letter(guest(inside(cpu=Known(cpu)), arch=arch))
    assert "no CPU flag decides on encryption" in " ".join(text.split())


def test_what_was_not_read_is_no_request() -> None:
    text = letter(guest(inside(cpu=Missing("the guest's answer ended before it"))))
    assert "its CPU was not read: the guest's answer ended before it" in " ".join(text.split())
    visit = Visit(Missing("nobody has looked inside the guest"))
    assert "nobody has looked inside" in letter(replace(guest(inside()), visit=visit))
    partly = HostCpu("x86_64", frozenset(), model_name="x", complete=False)
    said = " ".join(letter(guest(inside(cpu=Known(partly)))).split())
    assert "it is not known whether it sees aes, pclmulqdq" in said


def test_what_could_not_be_read_is_admitted() -> None:
    partial = (Partial("zfs", "without root it lacks much", "root in the guest"),)
    text = " ".join(letter(guest(inside(root=False, partial=partial)), work=WORK).split())
    assert "read as a user who is not root" in text
    assert "1 of the readings is incomplete" in text


def test_several_machines_get_a_letter_each() -> None:
    second = guest(inside(), subject="b", ident="b", name="second.example")
    text = letter(guest(inside()), second)
    assert text.count("Hello,") == 2
    assert "-" * WIDTH in text


def test_no_ticket_for_guests_whose_hypervisor_is_seen() -> None:
    held = replace(lab(), gaps=(Gap("ssh://vps", "its host key is not known"),))
    text = render(document(inventory=held), 80)
    assert text.startswith("There is no ticket to write")
    assert "- ssh://vps: its host key is not known" in text


def test_it_can_be_chosen_by_name() -> None:
    assert FORMAT.name == "ticket"
    assert FORMAT.coloured is None
