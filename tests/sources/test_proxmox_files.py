"""Copies of /etc/pve: directories, archives, single files, and everything that can be wrong."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from unmask.errors import InputError
from unmask.model.cpu import Accelerator, Mode, RemarkKind
from unmask.model.inventory import Guest, GuestKind, Inventory, Platform
from unmask.model.reading import Known, Missing
from unmask.model.source import CollectOptions
from unmask.plugins import load
from unmask.sources import _file_tree, _pve_tree, proxmox_files
from unmask.sources.proxmox_files import SOURCE

EXAMPLE = Path(__file__).parents[2] / "examples" / "homelab"

CPUINFO = (
    "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: Test CPU\n"
    "flags\t\t: fpu sse2 lm aes pclmulqdq svm\n\n"
)
COROSYNC = "totem {\n  cluster_name: yard\n}\nnodelist {\n  node {\n    name: elm\n  }\n}\n"
WHOLE = {
    "corosync.conf": COROSYNC,
    "virtual-guest/cpu-models.conf": "cpu-model: seal\n    flags +aes\n    reported-model EPYC\n",
    "nodes/elm/cpuinfo": CPUINFO,
    "nodes/elm/qemu-server/101.conf": "name: web\ncpu: custom-seal,flags=+nested-virt\n",
    "nodes/elm/lxc/201.conf": "arch: amd64\nhostname: dns\n",
    "nodes/oak/qemu-server/102.conf": "name: db\ncpu: custom-gone\n",
    "storage.cfg": "dir: local\n",
    "ceph.conf": "[global]\n",
}


def write(root: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def archive(path: Path, files: Mapping[str, str | bytes], mode: str = "w") -> Path:
    with tarfile.open(path, mode) as tar:  # type: ignore[call-overload]
        for name, content in files.items():
            data = content if isinstance(content, bytes) else content.encode()
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return path


def collect(target: Path) -> Inventory:
    return SOURCE.collect(str(target), CollectOptions())


def guests(inventory: Inventory) -> dict[str, Guest]:
    return {guest.subject: guest for guest in inventory.guests}


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
    root = write(tmp_path, {f"file-{number}.conf": "x\n" for number in range(50)})
    found = collect(root)
    assert len(found.gaps) == _pve_tree.NAMED + 1
    assert "42 more" in found.gaps[-1].reason


GOOD = {"qemu-server/101.conf": "cpu: EPYC\n"}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("qemu-server/102.conf", b"", "empty"),
        ("qemu-server/102.conf", b" \n\n", "empty"),
        ("qemu-server/102.conf", b"\x7fELF\0\0", "binary"),
        ("qemu-server/102.conf", b"#" * 600_000, "512 KiB"),
        ("qemu-server/102.conf", b"#" * (_file_tree.FILE_LIMIT + 1), "larger than"),
        ("corosync.conf", b"totem {\n", "truncated"),
        ("virtual-guest/cpu-models.conf", b"\0", "binary"),
        ("virtual-guest/cpu-models.conf", b"stray\n", "outside of any section"),
        ("nodes/elm/cpuinfo", b"nothing\n", ""),
    ],
)
def test_a_bad_file_is_one_gap_and_the_rest_goes_on(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    found = collect(write(tmp_path, GOOD | {name: content}))
    assert [guest.ident for guest in found.guests] == ["101"]
    (gap,) = found.gaps
    assert said in gap.reason


def test_bytes_that_are_no_utf8_do_no_harm(tmp_path: Path) -> None:
    found = collect(write(tmp_path, {"101.conf": b"#caf\xe9\nname: x\xe9\ncpu: EPYC\n"}))
    assert found.guests[0].configured.model == "EPYC"


def test_faults_of_a_custom_model_are_said_at_the_model(tmp_path: Path) -> None:
    models = "cpu-model: seal\n    flags aes\n"
    found = collect(write(tmp_path, GOOD | {"virtual-guest/cpu-models.conf": models}))
    assert found.gaps == ()
    ((_, spec),) = found.clusters[0].custom_models
    assert spec.remarked(RemarkKind.IGNORED)


def test_links_out_of_the_directory_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path, {"secret/102.conf": "cpu: host\n"})
    root = write(tmp_path / "copy", GOOD)
    (root / "qemu-server/102.conf").symlink_to(tmp_path / "secret/102.conf")
    (root / "qemu-server/103.conf").symlink_to("103.conf")
    (root / "qemu-server/104.conf").symlink_to("gone.conf")
    (root / "nodes").symlink_to(tmp_path / "secret")
    (root / "loop").symlink_to(".")
    found = collect(root)
    assert [guest.ident for guest in found.guests] == ["101"]
    assert len(found.gaps) == 3
    assert "leads out" in found.gaps[0].reason


def test_special_files_are_not_opened(tmp_path: Path) -> None:
    root = write(tmp_path, GOOD)
    os.mkfifo(root / "qemu-server/102.conf")
    found = collect(root)
    assert "not a regular file" in found.gaps[0].reason


def test_an_archive_can_not_lead_out_of_itself(tmp_path: Path) -> None:
    target = archive(tmp_path / "a.tar", {"../../qemu-server/102.conf": "cpu: host\n", **GOOD})
    found = collect(target)
    assert [guest.ident for guest in found.guests] == ["101"]
    assert "leads out" in found.gaps[0].reason


def test_a_truncated_archive_gives_what_it_has(tmp_path: Path) -> None:
    files = {f"qemu-server/{number}.conf": "cpu: EPYC\n" + "#" * 9000 for number in range(101, 131)}
    target = archive(tmp_path / "a.tar", files)
    target.write_bytes(target.read_bytes()[:150_000])
    found = collect(target)
    assert 5 < len(found.guests) < 30
    assert "truncated" in found.gaps[-1].reason


def test_a_small_archive_can_not_unpack_to_a_huge_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_file_tree, "TOTAL_LIMIT", 2**20)
    target = archive(tmp_path / "a.tar.gz", {"filler": b"\0" * 2**22, **GOOD}, "w:gz")
    assert target.stat().st_size < 2**16
    with pytest.raises(InputError, match="unpacks to more than"):
        collect(target)


def test_too_many_files_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_file_tree, "ENTRY_LIMIT", 10)
    files = {f"qemu-server/{number}.conf": "cpu: max\n" for number in range(101, 121)}
    with pytest.raises(InputError, match="more than 10"):
        collect(write(tmp_path / "copy", files))
    with pytest.raises(InputError, match="more than 10"):
        collect(archive(tmp_path / "a.tar", files))


def test_too_much_text_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_file_tree, "TOTAL_LIMIT", 1000)
    files = {f"qemu-server/{number}.conf": "#" * 300 for number in range(101, 106)}
    with pytest.raises(InputError, match="holds more than"):
        collect(write(tmp_path / "copy", files))


def test_unreadable_files_are_bounded(tmp_path: Path) -> None:
    root = write(tmp_path, GOOD)
    for number in range(200, 400):
        (root / f"qemu-server/{number}.conf").symlink_to("gone.conf")
    assert len(collect(root).gaps) == _file_tree.GAP_LIMIT


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.tar", b"", "damaged or truncated"),
        ("a.tar", b"no archive at all" * 100, "damaged or truncated"),
        ("a.tar.gz", b"\x1f\x8b\x08\0garbage", "damaged or truncated"),
        ("a.tar.xz", b"\xfd7zXZ\0garbage", "damaged or truncated"),
        ("cpu.conf", b"args: -cpu host\n", "not a VMID"),
        ("101.conf", b"", "empty"),
        ("101.conf", b"\0", "binary"),
    ],
)
def test_a_file_that_holds_nothing_is_an_error(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        collect(write(tmp_path, {name: content}) / name)


def test_zstandard_is_read_or_the_way_out_is_named(tmp_path: Path) -> None:
    target = write(tmp_path, {"a.tar.zst": b"\x28\xb5\x2f\xfdgarbage"}) / "a.tar.zst"
    with pytest.raises(InputError, match=r"zstd -d|damaged or truncated"):
        collect(target)


def test_a_directory_with_nothing_in_it_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is nothing in"):
        collect(tmp_path)
    write(tmp_path, {"readme.txt": "hello"})
    with pytest.raises(InputError, match="there is nothing in"):
        collect(tmp_path)


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
