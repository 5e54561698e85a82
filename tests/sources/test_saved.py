"""A saved inventory as a target."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from support.documents import LAB, lab
from unmask.dialects.saved import dump
from unmask.errors import InputError
from unmask.model.source import CollectOptions
from unmask.sources.saved import SOURCE

OPTIONS = CollectOptions()


def test_a_saved_inventory_is_read_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "inventory"  # told by its content, not by its name
    path.write_text(dump(lab()))
    assert SOURCE.fits(str(path))
    assert SOURCE.collect(str(path), OPTIONS) == replace(lab(), targets=(str(path),))


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "bom.json"
    path.write_bytes(b"\xef\xbb\xbf" + LAB.read_bytes())
    assert SOURCE.collect(str(path), OPTIONS).guests == lab().guests


def test_other_things_are_left_to_other_sources(tmp_path: Path) -> None:
    (tmp_path / "domain.xml").write_text("<domain/>")
    (tmp_path / "directory.json").mkdir()
    os.mkfifo(tmp_path / "pipe.json")
    for name in ("domain.xml", "directory.json", "pipe.json", "absent.json"):
        assert not SOURCE.fits(str(tmp_path / name))
    assert not SOURCE.fits("qemu:///system")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not a saved inventory"),
        (b"{}", "not a saved inventory"),
        (b"\xff\xfe\x00binary", "not UTF-8 text"),
        (LAB.read_bytes()[:500], "not a saved inventory"),
    ],
)
def test_a_damaged_file_is_one_clear_error(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(data)
    assert SOURCE.fits(str(path))
    with pytest.raises(InputError, match=message):
        SOURCE.collect(str(path), OPTIONS)


def test_a_file_that_vanishes_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        SOURCE.collect(str(tmp_path / "gone.json"), OPTIONS)
