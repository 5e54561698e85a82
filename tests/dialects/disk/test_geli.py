"""GELI's metadata, laid out as FreeBSD's g_eli.h has them."""

from __future__ import annotations

import pytest

from support.disk_images import MIB, extent, geli, put
from unmask.dialects.disk import geli as reader
from unmask.dialects.disk.geli import Geli


@pytest.mark.parametrize("version", [0, 1, 5, 7])
@pytest.mark.parametrize("sector", [512, 4096])
def test_every_version_is_read(version: int, sector: int) -> None:
    disk = geli(MIB, 22, 256, version=version, sector=sector)
    assert reader.read(extent(disk)) == Geli("AES-XTS", 256)


def test_an_algorithm_that_is_not_known() -> None:
    assert reader.read(extent(geli(MIB, 99, 0))) == Geli("", None)


def test_what_was_left_over_of_another_size_is_none() -> None:
    small = geli(MIB, 22, 128)
    assert reader.read(extent(bytes(MIB) + small)) is None


def test_later_versions_and_other_disks_are_none() -> None:
    assert reader.read(extent(geli(MIB, 22, 128, version=8))) is None
    assert reader.read(extent(bytes(MIB))) is None
    assert reader.read(extent(b"GEOM::ELI")) is None


def test_without_a_size_there_is_no_last_sector() -> None:
    disk = extent(geli(MIB, 22, 128))
    assert reader.read(type(disk)(disk.medium, 0, None)) is None


def test_the_magic_is_whole() -> None:
    disk = geli(MIB, 22, 128)
    put(disk, MIB - 512, b"GEOM::ELSE")
    assert reader.read(extent(disk)) is None
