"""What disks, drives and saved states tie a guest to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from unmask.dialects.proxmox import guest
from unmask.dialects.proxmox.specification import Place
from unmask.dialects.proxmox.storage import Storage
from unmask.dialects.proxmox.surroundings import Surroundings
from unmask.model.reading import Known, Missing
from unmask.model.tie import Tie, TieKind

STORAGES = {
    item.name: item
    for item in (
        Storage("local", "dir", shared=False),
        Storage("thin", "lvmthin", shared=False),
        Storage("tank", "zfspool", shared=False),
        Storage("pair", "zfspool", shared=False, nodes=("elm", "oak")),
        Storage("chain", "dir", shared=False, chained=True),
        Storage("ceph", "rbd", shared=True),
        Storage("near", "nfs", shared=True, nodes=("elm", "oak")),
        Storage("san", "lvm", shared=True),
        Storage("off", "nfs", shared=True, disabled=True),
        Storage("own", "linstor", shared=None),
        Storage("vmware", "esxi", shared=False),
    )
}
AROUND = Surroundings(("ash", "elm", "oak"), Known(STORAGES))
SNAPSHOT = "\n\n[before]\nscsi0: {}\nsnaptime: 1\n"


def ties(text: str, around: Surroundings = AROUND) -> list[Tie]:
    return list(guest.read(f"{text}\n", "101", Place("lab", "elm", around=around)).ties.value)


def replicated(*nodes: str) -> Surroundings:
    return replace(AROUND, replicas={"101": frozenset(nodes)})


@pytest.mark.parametrize(
    "line",
    [
        "scsi0: ceph:vm-101-disk-0,size=8G",
        "scsi0: san:vm-101-disk-0",
        "efidisk0: ceph:vm-101-disk-1,efitype=4m",
        "ide2: none,media=cdrom",
        "scsi0: file=none",
        "scsi1: /dev/disk/by-id/x,shared=1",
        "ide2: ceph:iso/x.iso,media=cdrom",
        "boot: order=scsi0",
        "scsihw: virtio-scsi-single",
    ],
)
def test_what_is_the_same_everywhere_ties_to_nothing(line: str) -> None:
    assert ties(line) == []


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("scsi0: tank:vm-101-disk-0,size=8G", "scsi0 on tank"),
        ("virtio1: file=thin:vm-101-disk-0", "virtio1 on thin"),
        ("sata0: local:101/vm-101-disk-0.qcow2", "sata0 on local"),
        ("efidisk0: tank:vm-101-disk-1,efitype=4m", "efidisk0 on tank"),
        ("tpmstate0: tank:vm-101-disk-2,version=v2.0", "tpmstate0 on tank"),
        ("unused0: tank:vm-101-disk-3", "unused0 on tank"),
    ],
)
def test_a_local_disk_is_copied_to_where_its_storage_is(line: str, what: str) -> None:
    assert ties(line) == [Tie(TieKind.LOCAL_DISK, what, copied_to=("ash", "oak"))]


def test_a_local_disk_is_not_copied_to_where_its_storage_is_not() -> None:
    (tie,) = ties("scsi0: pair:vm-101-disk-0")
    assert (tie.copied_to, tie.live, tie.cold) == (("oak",), True, True)
    assert [node for node in AROUND.nodes if tie.holds(node)] == ["ash", "elm"]


def test_a_shared_storage_that_not_every_node_has() -> None:
    assert ties("scsi0: near:101/vm-101-disk-0.raw") == [
        Tie(TieKind.STORAGE, "scsi0 on near", ("oak",))
    ]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("scsi0: gone:vm-101-disk-0", "scsi0 on gone, a storage that is not configured"),
        ("scsi0: off:101/vm-101-disk-0.raw", "scsi0 on off, which is disabled"),
    ],
)
def test_a_storage_that_is_not_there(line: str, what: str) -> None:
    assert ties(line) == [Tie(TieKind.STORAGE, what)]


@pytest.mark.parametrize(
    ("line", "kind", "what"),
    [
        ("ide2: cdrom,media=cdrom", "passthrough", "ide2, the CD drive of its node"),
        ("scsi1: /dev/sdb", "passthrough", "scsi1: /dev/sdb"),
        ("ide2: local:iso/x.iso,media=cdrom", "local-file", "ide2 on local"),
        ("scsi0: vmware:ha/vm.vmdk", "local-disk",
         "scsi0 on vmware, a storage of the type esxi that is not copied"),
        ("scsi0: tank:base-104-disk-0/vm-101-disk-0", "local-disk",
         "scsi0 on tank, a linked clone"),
        ("scsi0: local:104/base-104-disk-0.qcow2/101/vm-101-disk-0.qcow2", "local-disk",
         "scsi0 on local, a linked clone"),
        ("scsi0: tank:vm-102-disk-0", "local-disk", "scsi0 on tank, the volume of another guest"),
        ("scsi0: local:102/vm-102-disk-0.raw", "local-disk",
         "scsi0 on local, the volume of another guest"),
    ],
)  # fmt: skip
def test_what_no_migration_copies(line: str, kind: str, what: str) -> None:
    (tie,) = ties(line)
    assert (tie.kind, tie.what) == (kind, what)
    assert (tie.nodes, tie.copied_to, tie.live, tie.cold) == ((), (), True, True)


def test_a_cloud_init_drive_is_copied() -> None:
    assert ties("ide2: tank:vm-101-cloudinit,media=cdrom") == [
        Tie(TieKind.LOCAL_FILE, "ide2 on tank", copied_to=("ash", "oak"))
    ]


def test_a_replicated_disk_is_there_already_and_goes_live_nowhere_else() -> None:
    assert ties("scsi0: tank:vm-101-disk-0", replicated("oak")) == [
        Tie(TieKind.LOCAL_DISK, "scsi0 on tank", ("oak",), copied_to=("ash",)),
        Tie(TieKind.LOCAL_DISK, "replication to oak", ("oak",), live=True, cold=False),
    ]


@pytest.mark.parametrize(
    "line", ["scsi0: tank:vm-101-disk-0,replicate=0", "scsi0: thin:vm-101-disk-0"]
)
def test_a_disk_that_is_left_out_of_replication_is_copied(line: str) -> None:
    assert ties(line, replicated("oak"))[0].copied_to == ("ash", "oak")


@pytest.mark.parametrize(
    ("volume", "cold"),
    [
        ("tank:vm-101-disk-0", ("ash", "oak")),
        ("local:101/vm-101-disk-0.qcow2", ("ash", "oak")),
        ("chain:101/vm-101-disk-0.qcow2", ()),
        ("thin:vm-101-disk-0", ()),
        ("local:101/vm-101-disk-0.raw", ()),
    ],
)
def test_snapshots_stop_a_live_copy_and_some_cold_ones(volume: str, cold: tuple[str, ...]) -> None:
    what = f"scsi0 on {volume.partition(':')[0]}, with snapshots"
    text = f"parent: before\nscsi0: {volume}" + SNAPSHOT.format(volume)
    assert ties(text) == [
        Tie(TieKind.LOCAL_DISK, what, live=True, cold=False),
        Tie(TieKind.LOCAL_DISK, what, live=False, cold=True, copied_to=cold),
    ]


def test_a_replicated_disk_with_snapshots_goes_where_it_is_replicated_to() -> None:
    volume = "tank:vm-101-disk-0"
    text = f"parent: before\nscsi0: {volume}" + SNAPSHOT.format(volume)
    live, cold, _ = ties(text, replicated("oak"))
    assert [node for node in AROUND.nodes if live.live and live.holds(node)] == ["ash", "elm"]
    assert not cold.holds("ash")


def test_snapshots_that_nobody_has_told_of_hold_all_disks() -> None:
    """The API tells that there is one (`parent`), and not what is in it."""
    live, cold = ties("parent: before\nscsi0: tank:vm-101-disk-0")
    assert (live.live, live.copied_to, cold.copied_to) == (True, (), ("ash", "oak"))


def test_a_volume_that_only_a_snapshot_has() -> None:
    live, cold = ties("parent: before" + SNAPSHOT.format("tank:vm-101-disk-7"))
    assert live.what == "snapshot before on tank, with snapshots"
    assert not cold.holds("oak")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("lock: suspended\nvmstate: tank:vm-101-state-suspend", "the saved state on tank"),
        ("\n\n[before]\nvmstate: tank:vm-101-state-before\n", "snapshot before on tank"),
    ],
)
def test_a_saved_memory_is_copied(text: str, what: str) -> None:
    assert ties(text) == [Tie(TieKind.LOCAL_DISK, what, copied_to=("ash", "oak"))]


@pytest.mark.parametrize(
    ("line", "around"),
    [
        ("scsi0: own:vm-101-disk-0", AROUND),
        ("scsi0: far:vm-101-disk-0",
         replace(AROUND, hidden=lambda *_: Missing("not listed", "Datastore.Audit"))),
        ("scsi0: tank:vm-101-disk-0", Surroundings(("elm", "oak"))),
    ],
)  # fmt: skip
def test_a_storage_of_which_too_little_is_known(line: str, around: Surroundings) -> None:
    (tie,) = ties(line, around)
    assert (tie.live, tie.cold) == (True, True)
    assert tie.unread is not None


def test_a_container() -> None:
    text = (
        "arch: amd64\nrootfs: tank:subvol-101-disk-0,size=8G\nmp0: /srv/media,mp=/media\n"
        "mp1: /srv/same,mp=/same,shared=1\nmp2: volume=ceph:vm-101-disk-1,mp=/data\nscsi0: x\n"
    )
    place = Place("lab", "elm", around=AROUND)
    assert guest.read_container(text, "101", place).ties.value == (
        Tie(TieKind.RESOURCE, "mp0: /srv/media"),
        Tie(TieKind.LOCAL_DISK, "rootfs on tank", copied_to=("ash", "oak")),
    )


ODD: Mapping[str, str] = {
    "no volume": "scsi0: x",
    "empty": "scsi0: ,media=disk",
    "no storage": "scsi0: :vm-101-disk-0",
    "long": "scsi0: tank:" + "y" * 5000,
    "many": "\n".join(f"scsi{number}: tank:vm-101-disk-{number}" for number in range(999)),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_lines_are_read_without_an_error_and_bounded(name: str) -> None:
    found = ties(ODD[name])
    assert len(found) <= 128
    assert all(len(tie.what) < 300 for tie in found)


def test_where_replication_is_not_known_neither_is_whether_a_disk_goes_live() -> None:
    missing = Missing("it did not answer")
    around = replace(AROUND, unreplicated=missing)
    assert ties("scsi0: tank:vm-101-disk-0", around)[1:] == [
        Tie(TieKind.LOCAL_DISK, "replication", live=True, cold=False, unread=missing)
    ]
    assert ties("scsi0: ceph:vm-101-disk-0", around) == []
