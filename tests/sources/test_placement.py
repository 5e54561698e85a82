"""Where guests can be, read from files and from the API: the same ties, the same rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import recorded_site
from support.etc_pve import COROSYNC, collect, write
from support.lab_cases import ask
from support.lab_target import read
from support.recordings import Recording, need_recordings, recordings
from unmask.dialects import saved
from unmask.errors import UnreadError
from unmask.lab.lab import Lab
from unmask.model.inventory import Guest, GuestKind, GuestState, Inventory
from unmask.model.reading import Known, Missing
from unmask.model.tie import Confinement, Tie, TieKind
from unmask.sources import _pve_tree

MIGRATE = re.compile(r"/api2/json/nodes/(?P<node>[^/?]+)/qemu/(?P<vmid>\d+)/migrate")
MEMORY = b"\n[withram]\nvmstate: local:112/vm-112-state-withram.raw\n"
EARLY = 234
"""Recordings before this number show the cluster before anything was changed."""


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab() as made:
        yield made


@pytest.fixture(scope="module")
def live(lab: Lab) -> Inventory:
    return read(lab)


@pytest.fixture(scope="module")
def copy(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Inventory:
    folder = tmp_path_factory.mktemp("pve")
    lab.write_tree(folder)
    return collect(folder)


def machines(found: Inventory) -> dict[str, Guest]:
    return {guest.ident: guest for guest in found.guests if guest.kind is GuestKind.VM}


def test_the_api_and_the_files_tell_the_same(live: Inventory, copy: Inventory) -> None:
    ours, theirs = machines(live), machines(copy)
    assert ours.keys() == theirs.keys()
    for ident, guest in ours.items():
        other = theirs[ident]
        assert guest.ties == other.ties, ident
        assert guest.confined == other.confined, ident
        assert guest.machine == other.machine, ident


def test_every_kind_of_tie_occurs_in_the_lab(copy: Inventory) -> None:
    found = [tie for guest in machines(copy).values() for tie in guest.ties.value]
    of_libvirt = {TieKind.SNAPSHOTS}
    assert {tie.kind for tie in found} == set(TieKind) - of_libvirt
    assert [tie for tie in found if tie.unread]
    assert [tie for tie in found if tie.copied_to]
    assert [tie for tie in found if tie.nodes]


def test_rules_of_the_lab(copy: Inventory) -> None:
    found = {ident: guest.confined.value for ident, guest in machines(copy).items()}
    assert {ident: rules for ident, rules in found.items() if rules} == {
        "112": (Confinement("gateway", ("pve1", "pve2"), strict=False),),
        "114": (Confinement("not-both", apart=("homelab/123",)),),
        "123": (Confinement("not-both", apart=("homelab/114",)),),
        "125": (Confinement("proxy", ("pve2", "pve3")),),
    }


def test_ties_are_saved_and_loaded(live: Inventory) -> None:
    again = saved.load(saved.dump(live))
    assert machines(again) == machines(live)


def test_few_requests_for_all_guests(lab: Lab) -> None:
    before = lab.counts()
    read(lab)
    asked = lab.counts() - before
    for path in ("/storage", "/cluster/ha/rules", "/cluster/mapping/pci", "/cluster/mapping/dir"):
        assert asked[f"GET {path}"] == 1
    assert not asked["GET /cluster/mapping/usb"]  # no guest has one
    assert not asked["GET /cluster/ha/groups"]


def test_what_the_login_may_not_see_is_not_known_and_not_taken_for_absent() -> None:
    """Without Datastore.Audit, and without Mapping.Audit on devices."""
    with Lab() as own:
        files = own.cluster.files
        files["user.cfg"] = files["user.cfg"].replace(
            "role:CPUAdmin:Datastore.Audit,Mapping.Audit,", "role:CPUAdmin:"
        )
        found = machines(read(own, "fix"))
    (disk,) = [tie for tie in found["112"].ties.value if tie.what == "scsi0 on ceph"]
    assert disk.unread is not None
    assert disk.unread.needs == "Datastore.Audit on /storage/ceph"
    device = [tie for tie in found["131"].ties.value if tie.what == "hostpci0, mapped as gpu"]
    assert [tie.unread.needs if tie.unread else "" for tie in device] == [
        "",
        "Mapping.Audit on /mapping/pci/gpu",
    ]
    assert found["125"].confined.known  # it has Sys.Audit on /


def test_rules_that_may_not_be_read_are_not_known(lab: Lab) -> None:
    for guest in read(lab, "partial").guests:
        with pytest.raises(UnreadError, match=r"Sys\.Audit"):
            assert guest.confined.value is None


def test_before_version_9_groups_take_the_place_of_rules() -> None:
    with Lab(version="8.4") as old:
        files = old.cluster.files
        files["ha/resources.cfg"] = "vm: 125\n\tgroup pair\n\nvm: 112\n\tgroup home\n\n"
        files["ha/groups.cfg"] = (
            "group: pair\n\tnodes pve3,pve2:2\n\trestricted 1\n\ngroup: home\n\tnodes pve2\n"
        )
        found = machines(read(old))
        asked = old.counts()
    assert found["125"].confined == Known((Confinement("group pair", ("pve2", "pve3")),))
    assert found["112"].confined == Known((Confinement("group home", ("pve2",), strict=False),))
    assert found["101"].confined == Known(())
    assert asked["GET /cluster/ha/groups"] == asked["GET /cluster/ha/resources"] == 1
    assert not asked["GET /cluster/ha/rules"]


def test_a_container_of_the_api_is_not_known(live: Inventory) -> None:
    (guest,) = [guest for guest in live.guests if guest.ident == "200"]
    assert isinstance(guest.ties, Missing)
    assert "pve+ssh" in guest.ties.needs


def test_a_guest_whose_configuration_cannot_be_read() -> None:
    with Lab() as lab:
        lab.set_fault("node-down=2")
        found = machines(read(lab))
    assert isinstance(found["112"].ties, Missing)
    assert "offline" in found["112"].ties.reason


DISK = "scsi0: tank:vm-101-disk-0\n"


def test_a_copy_without_storage_cfg_tells_of_devices_only(tmp_path: Path) -> None:
    lines = f"{DISK}hostpci0: 03:00.0\nusb0: mapping=key\n"
    (guest,) = collect(write(tmp_path, {"nodes/elm/qemu-server/101.conf": lines})).guests
    pci, usb, mapped, disk = guest.ties.value
    assert (pci.what, pci.unread, usb.unread) == ("hostpci0: 03:00.0", None, None)
    assert [tie.unread.needs if tie.unread else "" for tie in (mapped, disk)] == [
        "mapping/usb.cfg of the cluster",
        "storage.cfg of the cluster",
    ]
    assert isinstance(guest.confined, Missing)


def test_a_whole_copy_without_rules_confines_nobody(tmp_path: Path) -> None:
    files = {
        "corosync.conf": COROSYNC,
        "storage.cfg": "zfspool: tank\n\tpool tank\n",
        "nodes/elm/qemu-server/101.conf": DISK,
        "nodes/oak/lxc/200.conf": "rootfs: tank:subvol-200-disk-0\n",
    }
    found = {guest.ident: guest for guest in collect(write(tmp_path, files)).guests}
    assert found["101"].confined == Known(())
    assert found["101"].ties == Known(
        (Tie(TieKind.LOCAL_DISK, "scsi0 on tank", copied_to=("oak",)),)
    )
    assert found["200"].ties == Known(
        (Tie(TieKind.LOCAL_DISK, "rootfs on tank", copied_to=("elm",)),)
    )


def test_a_copy_with_groups_of_an_older_version(tmp_path: Path) -> None:
    files = {
        "ha/groups.cfg": "group: pair\n\tnodes elm\n\trestricted 1\n",
        "ha/resources.cfg": "vm: 101\n\tgroup pair\n",
        "nodes/elm/qemu-server/101.conf": DISK,
    }
    (guest,) = collect(write(tmp_path / "yard", files)).guests
    assert guest.confined == Known((Confinement("group pair", ("elm",)),))


def test_what_a_real_server_said_of_migrations() -> None:
    """Its preconditions list local disks and devices, and the nodes where a guest may go."""
    need_recordings()
    files = {path: text.encode() for path, text in recorded_site.site().files.items()}
    # The files are made of answers that do not tell of snapshots.
    files["nodes/pve1/qemu-server/112.conf"] += MEMORY
    found = machines(_pve_tree.inventory(files, "lab"))
    compared = [
        _same_as_recorded(found[match["vmid"]], record)
        for number, record in recordings().items()
        if number < EARLY or 486 < number < 500
        if (match := MIGRATE.fullmatch(record.path)) and record.status == 200
    ]
    assert len(compared) > 25
    assert sum(compared) == 2


def _same_as_recorded(guest: Guest, record: Recording) -> int:
    """Compare what a guest has; return how many local disks that is.

    Proxmox does not look into `args`, which one of the guests boots a kernel with.
    """
    told = record.json["data"]
    ties = [tie for tie in guest.ties.value if not tie.what.startswith("args")]
    disks = [tie.what.partition(" ")[0] for tie in ties if tie.kind is TieKind.LOCAL_DISK]
    assert disks == [disk.get("drivename", "snapshot") for disk in told["local_disks"]], guest.ident
    assert len(ties) - len(disks) == len(told["local_resources"]), guest.ident
    for node in told["allowed_nodes"]:
        assert not [tie for tie in ties if tie.holds(node)], guest.ident
    return len(disks)


def test_the_labs_own_preconditions_say_the_same(lab: Lab, live: Inventory) -> None:
    """The lab answers as Proxmox VE does, from the same files and by code of its own."""
    compared = 0
    for ident, guest in machines(live).items():
        node = guest.host.rpartition("/")[2]
        status, _, body = ask(lab, "root", f"GET /nodes/{node}/qemu/{ident}/migrate")
        if status != 200:
            assert guest.lock, ident
            continue
        compared += 1
        told = body["data"]
        for other in told["not_allowed_nodes"]:
            assert (other in told["allowed_nodes"]) == _goes(guest, live, other), (ident, other)
        held = {tie.what.partition(":")[0].partition(",")[0] for tie in _devices(guest)}
        assert held == {name for name in told["local_resources"] if name != "virtiofs"}, ident
    assert compared > 15


def _goes(guest: Guest, found: Inventory, node: str) -> bool:
    """Return whether the preconditions of a stopped guest allow a node: devices do not count."""
    counted = [
        tie
        for tie in guest.ties.value
        if tie.cold and not tie.unread and (tie.nodes or tie.copied_to or "mapped" in tie.what)
    ]
    there = {item.subject for item in found.guests if item.host.endswith(f"/{node}")}
    rules = [
        rule
        for rule in guest.confined.value
        if rule.strict and ((rule.nodes and node not in rule.nodes) or there & set(rule.apart))
    ]
    return not rules and not any(tie.holds(node) for tie in counted)


def _devices(guest: Guest) -> list[Tie]:
    """Return what the preconditions list as local resources of a guest."""
    running = guest.state is GuestState.RUNNING
    kinds = (TieKind.PASSTHROUGH, TieKind.RESOURCE, TieKind.CONFIDENTIAL)
    return [
        tie
        for tie in guest.ties.value
        if tie.kind in kinds and (tie.live if running else tie.cold and "hostpci" not in tie.what)
    ]
