"""What can be wrong with a copy of /etc/pve: one clear sentence each, and the rest goes on."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

import pytest

from support.etc_pve import COROSYNC, CPUINFO, GOOD, archive, collect, write
from unmask.errors import InputError
from unmask.model.cpu import RemarkKind
from unmask.sources import _file_tree


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


def test_a_custom_model_whose_name_no_guest_can_spell_is_no_reason_to_fail(tmp_path: Path) -> None:
    models = "cpu-model: a,b\n    reported-model kvm64\n"
    found = collect(write(tmp_path, GOOD | {"virtual-guest/cpu-models.conf": models}))
    assert [guest.ident for guest in found.guests] == ["101"]
    ((name, spec),) = found.clusters[0].custom_models
    assert (name, spec.model) == ("a,b", "")


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


def test_a_loop_of_links_is_called_that(tmp_path: Path) -> None:
    root = write(tmp_path, GOOD)
    (root / "qemu-server/103.conf").symlink_to("103.conf")
    (gap,) = collect(root).gaps
    assert "loop" in gap.reason or "too many levels" in gap.reason
    assert (str(root) in gap.reason, gap.needs) == (False, "")


def test_a_copy_of_which_nothing_could_be_read_is_an_error_not_a_pass(tmp_path: Path) -> None:
    root = tmp_path / "copy"
    (root / "qemu-server").mkdir(parents=True)
    os.mkfifo(root / "qemu-server/101.conf")
    with pytest.raises(InputError, match=r"can be read: qemu-server/101\.conf: it is not a"):
        collect(root)
    write(root, {"corosync.conf": COROSYNC})
    with pytest.raises(InputError, match="not a regular file"):
        collect(root)


def test_hosts_without_guests_are_something(tmp_path: Path) -> None:
    root = write(tmp_path, {"nodes/elm/cpuinfo": CPUINFO, "nodes/elm/qemu-server/101.conf": ""})
    assert [host.name for host in collect(root).hosts] == ["elm"]


def test_links_and_special_files_in_an_archive_are_read_or_said(tmp_path: Path) -> None:
    target = tmp_path / "a.tar"
    members = {
        "102.conf": (tarfile.LNKTYPE, "qemu-server/101.conf"),
        "103.conf": (tarfile.LNKTYPE, "qemu-server/999.conf"),
        "104.conf": (tarfile.SYMTYPE, "/etc/passwd"),
        "105.conf": (tarfile.FIFOTYPE, ""),
        "106.conf": (tarfile.DIRTYPE, ""),
    }
    with tarfile.open(archive(target, GOOD), "a") as tar:
        for name, (kind, link) in members.items():
            member = tarfile.TarInfo(f"qemu-server/{name}")
            member.type, member.linkname = kind, link
            tar.addfile(member)
    found = collect(target)
    assert [guest.configured.model for guest in found.guests] == ["EPYC", "EPYC"]
    assert [guest.ident for guest in found.guests] == ["101", "102"]
    assert [gap.subject.rpartition("/")[2] for gap in found.gaps] == [
        "103.conf",
        "104.conf",
        "105.conf",
    ]
