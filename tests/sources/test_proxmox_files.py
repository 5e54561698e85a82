"""Copies of /etc/pve: directories, archives and single files."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.etc_pve import CPUINFO, WHOLE, archive, collect, guests, write
from unmask.model.cpu import Accelerator, Mode, RemarkKind
from unmask.model.inventory import GuestKind, Inventory, Platform
from unmask.model.reading import Known, Missing
from unmask.model.source import CollectOptions
from unmask.plugins import load
from unmask.sources import _pve_tree, proxmox_files
from unmask.sources.proxmox_files import SOURCE

EXAMPLE = Path(__file__).parents[2] / "examples" / "homelab"


def check_whole(inventory: Inventory) -> None:
    """Hold an inventory against what `WHOLE` holds."""
    assert inventory.gaps == ()
    assert [host.subject for host in inventory.hosts] == ["yard/elm", "yard/oak"]
    elm, oak = inventory.hosts
    assert isinstance(elm.cpu, Known)
    assert isinstance(oak.cpu, Missing)
    assert oak.cpu.needs.startswith("nodes/oak/cpuinfo")
    assert (elm.cluster, elm.platform) == ("yard", Platform.PROXMOX)
    found = guests(inventory)
    assert list(found) == ["yard/101", "yard/102", "yard/201"]
    web, db, dns = found.values()
    assert (web.host, web.configured.model, set(web.configured.on)) == (
        "yard/elm",
        "EPYC",
        {"aes", "svm"},
    )
    assert db.configured.remarked(RemarkKind.CUSTOM_MISSING)
    assert (db.host, db.configured.mode) == ("yard/oak", Mode.MODEL)
    assert (dns.kind, dns.accelerator) == (GuestKind.CONTAINER, Accelerator.OTHER)
    (cluster,) = inventory.clusters
    assert (cluster.subject, cluster.name) == ("yard", "yard")
    assert [(name, spec.model) for name, spec in cluster.custom_models] == [("seal", "EPYC")]


@pytest.mark.parametrize("prefix", ["", "etc/pve/", "backup/2026/etc/pve/"])
def test_a_directory_with_a_whole_copy(tmp_path: Path, prefix: str) -> None:
    root = write(tmp_path, {prefix + name: content for name, content in WHOLE.items()})
    found = collect(root)
    check_whole(found)
    assert found.targets == (str(root),)
    assert guests(found)["yard/101"].location == f"{root}/{prefix}nodes/elm/qemu-server/101.conf"


@pytest.mark.parametrize(
    ("name", "mode"),
    [("a.tar", "w"), ("a.tar.gz", "w:gz"), ("a.tgz", "w:gz"), ("a.tar.xz", "w:xz"),
     ("a.tar.bz2", "w:bz2")],
)  # fmt: skip
@pytest.mark.parametrize("prefix", ["", "./", "/etc/pve/"])
def test_an_archive_with_a_whole_copy(tmp_path: Path, name: str, mode: str, prefix: str) -> None:
    files = {prefix + path: content for path, content in WHOLE.items()}
    check_whole(collect(archive(tmp_path / name, files, mode)))


def test_links_of_etc_pve_do_not_show_guests_twice(tmp_path: Path) -> None:
    root = write(tmp_path, WHOLE)
    (root / "qemu-server").symlink_to("nodes/elm/qemu-server")
    (root / "local").symlink_to("nodes/elm")
    check_whole(collect(root))


def test_a_copy_that_followed_the_links_does_not_show_guests_twice(tmp_path: Path) -> None:
    config = WHOLE["nodes/elm/qemu-server/101.conf"]
    copies = {"qemu-server/101.conf": config, "local/qemu-server/101.conf": config}
    check_whole(collect(write(tmp_path, WHOLE | copies)))


def test_one_nodes_folder_alone(tmp_path: Path) -> None:
    root = write(
        tmp_path / "attic",
        {
            "qemu-server/101.conf": "cpu: host\n",
            "lxc/201.conf": "arch: amd64\n",
            "cpuinfo": CPUINFO,
        },
    )
    found = collect(root)
    assert list(guests(found)) == ["attic/101", "attic/201"]
    (host,) = found.hosts
    assert (host.subject, host.cpu.known) == ("attic/attic", True)


def test_loose_configurations(tmp_path: Path) -> None:
    root = write(
        tmp_path / "attic",
        {
            "101.conf": "cpu: custom-seal\n",
            "sub/102.conf": "cpu: EPYC\n",
            "cpu-models.conf": "cpu-model: seal\n",
            "readme.txt": "hello",
        },
    )
    found = collect(root)
    assert list(guests(found)) == ["attic/101", "attic/102"]
    assert guests(found)["attic/101"].configured.model == "kvm64"
    assert found.gaps == ()


def test_one_configuration(tmp_path: Path) -> None:
    target = write(tmp_path / "attic", {"101.conf": "cpu: custom-seal\n"}) / "101.conf"
    found = collect(target)
    (guest,) = found.guests
    assert (guest.subject, guest.location, found.targets) == (
        "attic/101",
        str(target),
        (str(target),),
    )
    assert guest.configured.mode is Mode.UNKNOWN


def test_two_sites_in_one_directory_stay_apart(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        {f"{site}/etc/pve/qemu-server/101.conf": "cpu: host\n" for site in ("north", "south")},
    )
    assert list(guests(collect(root))) == ["north/101", "south/101"]


def test_two_copies_of_one_cluster_get_names_of_their_own(tmp_path: Path) -> None:
    copies = {f"{day}/{name}": text for day in ("mon", "tue") for name, text in WHOLE.items()}
    found = collect(write(tmp_path, copies))
    assert [cluster.subject for cluster in found.clusters] == ["yard", "yard (tue)"]
    assert len(guests(found)) == 6


def test_files_of_a_cluster_without_its_guests_are_no_cluster(tmp_path: Path) -> None:
    kept = {"ha/resources.cfg": "vm: 101\n", "old/replication.cfg": "local: 101-0\n\ttarget oak\n"}
    write(tmp_path, WHOLE | kept)
    found = collect(tmp_path)
    assert [cluster.subject for cluster in found.clusters] == ["yard"]
    web = guests(found)["yard/101"]
    assert (web.high_availability, web.replicas) == ("started", ())


def test_one_vmid_twice_is_told_with_both_paths(tmp_path: Path) -> None:
    root = write(
        tmp_path / "attic",
        {
            "nodes/elm/qemu-server/101.conf": "cpu: host\n",
            "nodes/oak/qemu-server/101.conf": "cpu: EPYC\n",
        },
    )
    found = collect(root)
    assert len(guests(found)) == 2
    (gap,) = found.gaps
    for node, guest in zip(("elm", "oak"), found.guests, strict=True):
        path = f"nodes/{node}/qemu-server/101.conf"
        assert path in gap.reason
        assert path in guest.location
        assert path in guest.remarks[-1].text


def test_a_configuration_without_a_vmid_is_no_guest(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        {"qemu-server/cpu.conf": "args: -cpu host\n", "qemu-server/101.conf": "cpu: max\n"},
    )
    found = collect(root)
    assert [guest.ident for guest in found.guests] == ["101"]
    (gap,) = found.gaps
    assert gap.subject.endswith("qemu-server/cpu.conf")
    assert "not a VMID" in gap.reason


def test_many_files_without_a_vmid_are_counted(tmp_path: Path) -> None:
    strangers = {f"file-{number}.conf": "x\n" for number in range(50)}
    found = collect(write(tmp_path, {"101.conf": "cpu: EPYC\n", **strangers}))
    assert len(found.gaps) == _pve_tree.NAMED + 1
    assert "42 more" in found.gaps[-1].reason


def test_which_targets_fit(tmp_path: Path) -> None:
    write(tmp_path, {"101.conf": "x", "a.tar.gz": "x", "a.json": "x"})
    assert [SOURCE.fits(str(tmp_path / name)) for name in (".", "101.conf", "a.tar.gz")] == [
        True
    ] * 3
    for target in (tmp_path / "a.json", tmp_path / "gone.conf", "qemu:///system", "\0", "x" * 9000):
        assert not SOURCE.fits(str(target))


def test_the_source_is_found_as_a_plug_in() -> None:
    from unmask.model.source import Source  # noqa: PLC0415 - the type that the plug-in must have

    assert proxmox_files.SOURCE in load("unmask.sources", "SOURCE", Source)


def test_the_example_cluster_has_one_of_everything() -> None:
    found = collect(EXAMPLE)
    assert found.gaps == ()
    assert [host.subject for host in found.hosts] == [
        "homelab/alder",
        "homelab/birch",
        "homelab/cedar",
    ]
    assert all(host.cpu.known for host in found.hosts)
    labels = {guest.configured.label for guest in found.guests}
    assert labels >= {
        "kvm64",
        "qemu64",
        "x86-64-v2",
        "x86-64-v2-AES",
        "x86-64-v3",
        "host",
        "custom-seal",
    }
    kinds = {remark.kind for guest in found.guests for remark in guest.configured.remarks}
    assert kinds >= {RemarkKind.OVERRIDDEN, RemarkKind.CUSTOM_MISSING, RemarkKind.DEPRECATED}
    assert any(guest.pending for guest in found.guests)
    assert any(guest.running for guest in found.guests)
    assert any(guest.template for guest in found.guests)
    assert any(snapshot.with_memory for guest in found.guests for snapshot in guest.snapshots)
    assert {guest.accelerator for guest in found.guests} == set(Accelerator) - {Accelerator.UNKNOWN}


def test_on_a_node_itself_its_own_cpu_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("alder", "birch"):
        folder = tmp_path / "nodes" / name / "qemu-server"
        folder.mkdir(parents=True)
        (folder / f"10{len(name)}{name[0] == 'a':d}.conf").write_text("cpu: host\n")
    (tmp_path / "local").symlink_to("nodes/birch")

    def known() -> dict[str, bool]:
        found = proxmox_files.collect(str(tmp_path), CollectOptions())
        return {host.name: host.cpu.known for host in found.hosts}

    assert known() == {"alder": False, "birch": False}
    monkeypatch.setattr(proxmox_files, "PMXCFS", tmp_path.resolve())
    assert known() == {"alder": False, "birch": True}
