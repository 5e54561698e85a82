"""Files are written whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from unmask.cli import files
from unmask.errors import UsageError


def test_a_new_file_has_the_wanted_mode(tmp_path: Path) -> None:
    files.write(tmp_path / "private", "caf\u00e9\n", files.PRIVATE)
    assert (tmp_path / "private").read_bytes() == b"caf\xc3\xa9\n"
    assert stat.S_IMODE((tmp_path / "private").stat().st_mode) == 0o600
    files.write(tmp_path / "public", "x")
    assert stat.S_IMODE((tmp_path / "public").stat().st_mode) & 0o600 == 0o600


def test_an_existing_file_is_replaced_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "report"
    path.write_text("old")
    path.chmod(0o640)
    before = path.stat().st_ino
    files.write(path, "new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert path.stat().st_ino != before  # a reader of the old file has the old file whole


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "report")
    files.write(tmp_path / "link", "x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "report").read_text() == "x"


def test_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report"
    path.write_text("old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device", descriptor)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UsageError, match="report: cannot be written: No space left on device"):
        files.write(path, "new")
    assert path.read_text() == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["report"]


def test_what_is_no_file_is_written_to(tmp_path: Path) -> None:
    files.write(Path("/dev/null"), "x")
    assert not Path("/dev/null").is_file()
    with pytest.raises(UsageError, match="cannot be written: Is a directory"):
        files.write(tmp_path, "x")


def test_reading_is_bounded_and_clear(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"\xef\xbb\xbfabc")
    assert files.read(path, 10) == "abc"
    with pytest.raises(UsageError, match="larger than 2 bytes"):
        files.read(path, 2)
    path.write_bytes(b"\xff")
    with pytest.raises(UsageError, match="not UTF-8 text"):
        files.read(path, 10)
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        files.read(tmp_path / "absent", 10)


def test_what_a_killed_run_has_left_is_in_nobodys_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report"

    def killed(*_: object) -> None:
        raise SystemExit  # stands for a signal that nobody can answer: nothing is cleaned up

    with monkeypatch.context() as now:
        now.setattr(os, "fsync", killed)
        now.setattr(Path, "unlink", lambda *_, **__: None)
        with pytest.raises(SystemExit):
            files.write(path, "half")
    assert len(list(tmp_path.iterdir())) == 1
    files.write(path, "whole")
    assert path.read_text() == "whole"


@pytest.mark.parametrize("name", ["x" * 255, "\u00e9" * 127])
def test_a_name_may_be_as_long_as_the_file_system_allows(tmp_path: Path, name: str) -> None:
    for text in ("one", "two"):
        files.write_all([(tmp_path / name, text), (tmp_path / "other", text)])
    assert left(tmp_path) == {name: "two", "other": "two"}


def test_of_several_files_all_are_written(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("1")
    old.chmod(0o640)
    files.write_all([(old, "2"), (new, "3"), (Path("/dev/null"), "4")])
    assert (old.read_text(), new.read_text()) == ("2", "3")
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    assert sorted(item.name for item in tmp_path.iterdir()) == ["new", "old"]


def left(tmp_path: Path) -> dict[str, str]:
    return {item.name: item.read_text() for item in tmp_path.iterdir() if item.is_file()}


@pytest.mark.parametrize("bad", ["absent/x", "folder", "/dev/full"])
def test_where_one_of_several_cannot_be_written_none_is(tmp_path: Path, bad: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "old").write_text("1")
    texts = [(tmp_path / "old", "2"), (tmp_path / "new", "3"), (tmp_path / bad, "4")]
    with pytest.raises(UsageError, match=f"{bad}: cannot be written: "):
        files.write_all(texts)
    assert left(tmp_path) == {"old": "1"}


def test_what_has_taken_its_place_goes_back_where_another_cannot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).write_text(f"old {name}")
    real = Path.replace

    def refuse(self: Path, target: Path) -> Path:
        if target.name == "two" and self.suffix == ".part":
            raise OSError(16, "Device or resource busy")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", refuse)
    texts = [(tmp_path / name, "new") for name in ("one", "fresh", "two", "last")]
    with pytest.raises(UsageError, match="two: cannot be written: Device or resource busy"):
        files.write_all(texts)
    assert left(tmp_path) == {"one": "old one", "two": "old two"}


def test_a_file_system_without_second_names_goes_back_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_link(*_: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_link)
    test_what_has_taken_its_place_goes_back_where_another_cannot(tmp_path, monkeypatch)


def test_hopeless_places_are_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to("file")
    for paths, said in (
        (("file", "new", "file"), "two reports cannot be one file"),
        (("file", "link"), r"link \(it is .*file\): two reports cannot be one file"),
        (("new", "./new"), "two reports cannot be one file"),
        ((".",), "it is a directory"),
        (("absent/x",), "its directory does not exist"),
    ):
        with pytest.raises(UsageError, match=said):
            files.check([tmp_path / name for name in paths])
    files.check([tmp_path / "file", Path("/dev/null"), Path("/dev/null"), Path("/dev/stdout")])


def test_a_place_where_this_user_may_not_look_cannot_be_written(tmp_path: Path) -> None:
    closed = tmp_path / ("x" * 300) / "report"
    with pytest.raises(UsageError, match="report: cannot be written: File name too long"):
        files.write(closed, "x")
    with pytest.raises(UsageError, match="report: cannot be written: File name too long"):
        files.check([closed])
    assert files.is_file(closed)
