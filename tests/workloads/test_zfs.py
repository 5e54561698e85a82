"""ZFS's own encryption, by pool and cipher."""

from __future__ import annotations

from typing import Any

import pytest

from support.visited import find, find_and_owe, guest, inside, judged
from unmask.model.disk import Disk, DiskPart, HostEncryption
from unmask.model.finding import Confidence
from unmask.model.inside import Inside, System
from unmask.model.inside_storage import Choice, Zfs, ZfsDataset, ZfsPool
from unmask.model.inventory import Guest, GuestState
from unmask.model.reading import Known, Missing
from unmask.model.visit import Visit, Way
from unmask.model.workload import Activity, WorkloadKind
from unmask.workloads import zfs

GCM = "aes-256-gcm"
FREEBSD = System("FreeBSD", kernel="14.1-RELEASE-p5", machine="amd64")


def dataset(name: str, cipher: str = GCM, status: str = "available") -> ZfsDataset:
    return ZfsDataset(name, cipher, keystatus=status)


def pool(*datasets: ZfsDataset, **more: Any) -> Zfs:
    return Zfs("2.1.11-1", (ZfsPool("tank", "ONLINE"),), datasets, **more)


def on_disk(label: str = "tank", **changes: Any) -> Guest:
    """Return a guest with a disk that the host sees a pool on."""
    disk = Disk("scsi1", parts=Known((DiskPart("zfs", 1, label=label),)))
    seen: Inside | None = changes.pop("inside", None)
    visit = Visit(disks=Known((disk,)))
    if seen:
        visit = Visit(Known(seen), Way.AGENT, disks=Known((disk,)))
    return guest(visit=visit, **changes)


def test_an_open_dataset_has_its_own_name() -> None:
    (found,) = find(zfs, guest(inside(zfs=pool(dataset("tank/secure"), dataset("tank", "off")))))
    assert (found.name, found.consumer, found.cipher) == ("tank/secure", "openzfs", GCM)
    assert (found.activity, found.confidence) == (Activity.ACTIVE, Confidence.CERTAIN)
    assert found.version == "2.1.11-1"


def test_many_datasets_are_one_workload() -> None:
    many = [dataset(f"tank/{number}") for number in range(5000)]
    (found,) = find(zfs, guest(inside(zfs=pool(*many))))
    assert (found.name, found.detail) == ("tank", "5000 datasets of the pool tank")
    assert found.evidence[0] == (
        "zfs list shows aes-256-gcm for tank/0, tank/1, tank/2 and 4997 more."
    )


def test_datasets_that_are_locked() -> None:
    locked = dataset("tank/a", status="unavailable")
    (found,) = find(zfs, guest(inside(zfs=pool(locked))))
    assert (found.activity, found.confidence) == (Activity.CLOSED, Confidence.FIRM)
    (both,) = find(zfs, guest(inside(zfs=pool(locked, dataset("tank/b")))))
    assert (both.activity, both.detail) == (
        Activity.ACTIVE,
        "2 datasets of the pool tank, 1 locked",
    )
    assert "The keys of 1 dataset are not loaded, tank/a among them." in both.evidence
    (unsaid,) = find(zfs, guest(inside(zfs=pool(dataset("tank/a", status="")))))
    assert unsaid.activity is Activity.CONFIGURED


def test_ciphers_and_pools_are_told_apart() -> None:
    several = pool(dataset("tank/a"), dataset("tank/b", "aes-256-ccm"), dataset("other/a"))
    found = find(zfs, guest(inside(zfs=several)))
    assert [(item.name, item.cipher) for item in found] == [
        ("tank/a", GCM),
        ("tank/b", "aes-256-ccm"),
        ("other/a", GCM),
    ]


@pytest.mark.parametrize(
    ("cipher", "chosen", "offered", "driver"),
    [
        (GCM, "fastest", "avx2-vaes avx generic pclmulqdq", "icp_gcm_impl=avx2-vaes"),
        (GCM, "fastest", "avx generic pclmulqdq", "icp_gcm_impl=avx"),
        (GCM, "fastest", "generic pclmulqdq", "icp_gcm_impl=pclmulqdq"),
        (GCM, "fastest", "generic", "icp_gcm_impl=generic"),
        (GCM, "generic", "avx generic pclmulqdq", "icp_gcm_impl=generic"),
        (GCM, "cycle", "avx generic pclmulqdq", ""),
        (GCM, "fastest", "something-new", ""),
        ("aes-256-ccm", "fastest", "generic x86_64 aesni", "icp_aes_impl=aesni"),
        ("aes-256-ccm", "fastest", "generic x86_64", "icp_aes_impl=x86_64"),
    ],
)
def test_the_module_tells_what_it_can_run(
    cipher: str, chosen: str, offered: str, driver: str
) -> None:
    choice = Choice(chosen, tuple(offered.split()))
    seen = pool(dataset("tank/a", cipher), gcm=choice, aes=choice)
    (found,) = find(zfs, guest(inside(zfs=seen)))
    assert found.driver == driver


def test_on_freebsd_the_kernel_encrypts() -> None:
    seen = guest(inside(system=FREEBSD, zfs=pool(dataset("tank/a"))))
    (found,) = find(zfs, seen)
    assert (found.consumer, found.version, found.driver) == ("freebsd", "14.1-RELEASE-p5", "")
    assert judged(seen, WorkloadKind.ZFS)["tank/a"][1] == ("aes", "sse4_1")


@pytest.mark.parametrize("state", [GuestState.STOPPED, GuestState.RUNNING])
def test_a_label_does_not_tell_whether_its_pool_is_encrypted(state: GuestState) -> None:
    found, owed = find_and_owe(zfs, on_disk(state=state))
    assert found == []
    assert owed == (
        "scsi1, partition 1 holds the ZFS pool tank, whose label does not tell whether it is "
        "encrypted (a way into the guest, where the pool is imported)"
    )
    assert "holds a ZFS pool," in find_and_owe(zfs, on_disk(""))[1]


def test_a_pool_that_is_imported_was_looked_into() -> None:
    entered = inside(zfs=pool(dataset("tank", "off")))
    assert find_and_owe(zfs, on_disk(inside=entered)) == ([], "")
    other = find_and_owe(zfs, on_disk("elsewhere", inside=entered))
    assert "the ZFS pool elsewhere" in other[1]


def test_what_was_not_read_is_owed() -> None:
    late = Missing("the command in the guest did not end in time")
    assert find_and_owe(zfs, guest(inside(zfs=late))) == ([], f"{late.reason} ()")
    _, owed = find_and_owe(zfs, guest(inside(zfs=pool())))
    assert "the datasets of the pool tank were not shown" in owed
    assert find_and_owe(zfs, guest(inside(zfs=Zfs()))) == ([], "")
    assert find_and_owe(zfs, guest()) == ([], "")
    assert find_and_owe(zfs, guest(Inside(system=Known(System("Windows"))))) == ([], "")


def test_a_dataset_of_the_host_is_the_hosts() -> None:
    below = HostEncryption("zfs", GCM, "the dataset rpool/data on pve1")
    disk = Disk("scsi0", encryption=(below, HostEncryption("luks")))
    (found,) = find(zfs, guest(visit=Visit(disks=Known((disk,)))))
    assert found.host_side
    (said,) = found.evidence
    assert said.startswith("On the host, the dataset rpool/data on pve1 encrypts scsi0 with aes-")
