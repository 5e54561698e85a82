"""Workloads of cases: found by whoever looks for them, judged by what the guest itself sees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from support import rule_case
from support.visited import guest, inside
from unmask.engine import workloads
from unmask.engine.cases import guest_cases
from unmask.errors import UnreadError
from unmask.model.case import GuestCase
from unmask.model.cpu import Accelerator, HostCpu, State
from unmask.model.inside import KernelCrypto, System, Virtualisation
from unmask.model.inventory import Guest, Inventory, Platform
from unmask.model.outlook import NoteKind, Status
from unmask.model.reading import Missing
from unmask.model.visit import Declaration, Visit
from unmask.model.workload import Finder, Unread, Workload, WorkloadKind

AES = HostCpu("x86_64", frozenset(("aes", "ssse3")), "GenuineIntel", "A CPU")


def finder(*found: Workload, kind: WorkloadKind = WorkloadKind.LUKS, owed: str = "") -> Finder:
    def find(_guest: Guest) -> Iterator[Workload]:
        yield from found
        if owed:
            raise UnreadError(owed, "root in the guest")

    return Finder(kind, find)


def work(consumer: str = "dm-crypt", name: str = "data", **more: object) -> Workload:
    return replace(Workload(WorkloadKind.LUKS, name, consumer), **more)  # type: ignore[arg-type]


def judged(seen: Guest, *finders: Finder) -> GuestCase:
    (case,) = guest_cases(Inventory(guests=(seen,)), finders)
    return case


def test_a_guest_that_nobody_visited_is_not_asked() -> None:
    for unvisited in (rule_case.guest({}), guest(visit=Visit())):
        case = judged(unvisited, finder(work(), owed="never"))
        assert (case.workloads, case.unread, case.observed) == ((), (), None)


def test_what_the_guest_sees_beats_what_is_configured() -> None:
    case = judged(guest(inside(cpu=AES)), finder(work()))
    assert case.view.hides("aes")
    assert case.observed
    assert case.observed.shows("aes")
    assert (case.observed.label, case.observed.model) == ("kvm64", "kvm64")
    assert [item.status for item in case.workloads] == ["hardware"]


@pytest.mark.parametrize(
    ("kind", "consumer", "said"),
    [
        (WorkloadKind.TLS, "gnutls", {NoteKind.FASTER}),
        (WorkloadKind.SAMBA, "gnutls", set()),  # SMB 3 has no ChaCha20
        (WorkloadKind.TLS, "go", {NoteKind.CHOICE}),
        (WorkloadKind.BACKUP, "go", set()),
        (WorkloadKind.BACKUP, "openssl", set()),
        (WorkloadKind.OPENVPN, "openvpn", {NoteKind.FASTER}),
    ],
)
def test_what_a_library_does_in_tls_is_said_of_tls(
    kind: WorkloadKind, consumer: str, said: set[NoteKind]
) -> None:
    flags = frozenset(("aes", "ssse3", "sse4_1"))
    item = work(consumer, kind=kind, cipher="AES-256-GCM")
    case = judged(guest(inside(cpu=replace(AES, flags=flags))), finder(item, kind=kind))
    (outlook,) = [found.outlook for found in case.workloads]
    assert outlook
    assert outlook.status is Status.PARTIAL
    assert {note.kind for note in outlook.notes} == said


def test_without_the_guests_word_the_configuration_counts() -> None:
    case = judged(guest(inside(cpu=Missing("no /proc/cpuinfo"))), finder(work()))
    assert case.observed is None
    (item,) = case.workloads
    assert item.outlook
    assert (item.status, item.outlook.missing) == ("software", ("aes",))


def test_a_machine_without_hypervisor_is_what_it_says() -> None:
    seen = guest(inside(cpu=AES), platform=Platform.UNSEEN)
    case = judged(seen, finder(work()))
    assert case.view is case.observed
    assert case.view.label == "A CPU"


@pytest.mark.parametrize(
    ("accelerator", "detected", "expected"),
    [
        (Accelerator.UNKNOWN, "kvm", Accelerator.KVM),
        (Accelerator.UNKNOWN, "qemu", Accelerator.TCG),
        (Accelerator.UNKNOWN, "vmware", Accelerator.OTHER),
        (Accelerator.UNKNOWN, "none", Accelerator.OTHER),
        (Accelerator.UNKNOWN, "", Accelerator.UNKNOWN),
        (Accelerator.KVM, "qemu", Accelerator.KVM),
        (Accelerator.TCG, "kvm", Accelerator.TCG),
    ],
)
def test_what_runs_the_guest(
    accelerator: Accelerator, detected: str, expected: Accelerator
) -> None:
    seen = inside(cpu=AES, virtualisation=Virtualisation(detected))
    case = judged(guest(seen, accelerator=accelerator))
    assert case.observed
    assert case.observed.accelerator is expected


def test_a_flag_that_the_kernel_overlooks_serves_programs_alone() -> None:
    kernel = KernelCrypto(parameters=("clearcpuid=153",))
    lacking = HostCpu("x86_64", AES.flags - {"aes"})
    westmere = replace(guest().configured, model="Westmere")
    seen = guest(inside(cpu=lacking, kernel_crypto=kernel), configured=westmere)
    case = judged(seen, finder(work(), work("openssl", "web", cipher="aes-256-ctr")))
    assert [item.status for item in case.workloads] == ["software", "hardware"]


def test_a_driver_that_is_used_beats_the_flags() -> None:
    slow = work(driver="xts(ecb(aes-generic))")
    (item,) = judged(guest(inside(cpu=AES)), finder(slow)).workloads
    assert item.outlook
    assert item.status == "software"
    assert item.outlook.noted(NoteKind.UNUSED)
    fast = work(driver="xts-aes-aesni")
    hidden = HostCpu("x86_64", frozenset(("ssse3",)))
    (item,) = judged(guest(inside(cpu=hidden)), finder(fast)).workloads
    assert item.outlook
    assert (item.status, item.outlook.missing) == ("hardware", ())


def test_the_hosts_work_and_unknown_software_have_no_outlook() -> None:
    below = work("", "vda", host_side=True)
    found = judged(guest(inside(cpu=AES)), finder(below, work("", "vdb"))).workloads
    assert [(item.outlook, item.status) for item in found] == [
        (None, "not-affected"),
        (None, Status.UNKNOWN.value),
    ]


def test_what_is_found_before_something_is_lacking_counts() -> None:
    case = judged(guest(inside(cpu=AES)), finder(work(), owed="only root may read it"))
    assert len(case.workloads) == 1
    assert case.unread == (Unread(WorkloadKind.LUKS, "only root may read it", "root in the guest"),)


def test_workloads_are_sorted_by_kind_and_name() -> None:
    zfs = Workload(WorkloadKind.ZFS, "tank", "openzfs")
    found = judged(
        guest(inside(cpu=AES)),
        finder(zfs, kind=WorkloadKind.ZFS),
        finder(work(name="b"), work(name="a")),
    ).workloads
    assert [item.workload.name for item in found] == ["a", "b", "tank"]


def test_a_guest_that_claims_very_much_is_cut_short() -> None:
    asked: list[int] = []

    def endless(_guest: Guest) -> Iterator[Workload]:
        for number in range(10_000):
            asked.append(number)
            yield work(name=f"d{number}")

    case = judged(guest(inside(cpu=AES)), Finder(WorkloadKind.LUKS, endless))
    assert len(case.workloads) == workloads.LIMIT
    assert len(asked) == workloads.LIMIT + 1
    (unread,) = case.unread
    assert "more than 100 of this kind" in unread.reason


def test_long_names_and_much_evidence_are_cut() -> None:
    long = "x" * 1000
    (item,) = judged(
        guest(inside(cpu=AES)),
        finder(work(name=long, detail=long, evidence=(long,) * 50)),
    ).workloads
    assert len(item.workload.name) == workloads.NAME
    assert len(item.workload.detail) == workloads.SENTENCE
    assert [len(text) for text in item.workload.evidence] == [workloads.SENTENCE] * 10


def test_a_finder_with_a_bug_names_itself() -> None:
    def broken(_guest: Guest) -> Iterator[Workload]:
        raise ValueError("oops")

    with pytest.raises(ValueError, match="oops") as error:
        judged(guest(inside()), Finder(WorkloadKind.ZFS, broken))
    assert error.value.__notes__ == ["raised by the finder of zfs in one/web: a bug in unmask"]


def test_freebsd_and_windows_are_read_by_their_own_rules() -> None:
    seen = inside(system=System("FreeBSD"), cpu=AES)
    case = judged(guest(seen))
    assert case.observed
    assert case.observed.hides("pclmulqdq")
    few = HostCpu("x86_64", frozenset(("aes",)), complete=False)
    windows = judged(guest(inside(system=System("Windows"), cpu=few)))
    assert windows.observed
    assert windows.observed.shows("aes")
    assert windows.observed.state("pclmulqdq") is windows.view.state("pclmulqdq")
    assert windows.observed.state("pclmulqdq") is State.HIDDEN


def test_guests_that_say_the_same_share_one_view_and_one_outlook() -> None:
    cpus = [replace(AES, microcode=str(number)) for number in range(50)]
    seen = [guest(inside(cpu=cpu), subject=f"one/{i}") for i, cpu in enumerate(cpus)]
    cases = guest_cases(Inventory(guests=tuple(seen)), (finder(work()),))
    assert len({id(case.observed) for case in cases}) == 1
    assert len({id(case.workloads[0].outlook) for case in cases}) == 1


def test_declarations_alone_are_enough() -> None:
    told = (Declaration("luks", True, "the tag unmask-luks"),)  # noqa: FBT003 - the record's order
    case = judged(rule_case.guest({}), finder())
    assert case.workloads == ()
    (item,) = judged(replace(rule_case.guest({}), declared=told), finder()).workloads
    assert item.workload.consumer == "dm-crypt"
