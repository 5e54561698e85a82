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
