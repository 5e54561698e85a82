"""Files of this machine: what is opened, and what is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from unmask.errors import UnreadError
from unmask.visits import _local_file


def test_a_file_is_read_where_it_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.raw"
    path.write_bytes(b"0123456789")
    before = path.stat().st_mtime_ns
    source = _local_file.source(str(path))
    assert (source.size, source.path) == (10, str(path))
    assert source.read(3, 4) == b"3456"
    assert source.read(8, 100) == b"89"
    assert source.read(100, 4) == b""
    assert path.stat().st_mtime_ns == before


def test_nothing_but_files_and_block_devices_is_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        with pytest.raises(UnreadError, match="neither a file nor a block device"):
            _local_file.source(str(path))


@pytest.mark.parametrize("path", ["/no/such/file", "", "a\0b"])
def test_what_is_not_there(path: str) -> None:
    with pytest.raises(UnreadError, match="cannot be read here"):
        _local_file.source(path)


def test_a_file_that_vanishes(tmp_path: Path) -> None:
    path = tmp_path / "a.raw"
    path.write_bytes(b"x")
    source = _local_file.source(str(path))
    path.unlink()
    with pytest.raises(UnreadError, match="No such file"):
        source.read(0, 1)
