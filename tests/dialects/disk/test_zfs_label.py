"""ZFS labels, recorded and made by hand."""

from __future__ import annotations

import struct

import pytest

from support.disk_images import FIXTURES, MIB, extent, put, unpacked, zfs
from unmask.dialects.disk import zfs_label
from unmask.dialects.disk.zfs_label import LABEL, ZfsLabel


def test_a_recorded_label() -> None:
    told = dict(
        line.split("=", 1) for line in (FIXTURES / "zfs-member.blkid.txt").read_text().splitlines()
    )
    found = zfs_label.read(extent(unpacked("zfs-member.head.raw.gz")))
    assert found == ZfsLabel(told["LABEL"], int(told["VERSION"]))


@pytest.mark.parametrize("offset", [0, LABEL, 4 * MIB - 2 * LABEL, 4 * MIB - LABEL])
def test_each_of_the_four_labels_tells(offset: int) -> None:
    assert zfs_label.read(extent(zfs("tank", offset=offset))) == ZfsLabel("tank", 5000)


def test_labels_at_the_end_are_aligned() -> None:
    size = 4 * MIB + 12345
    disk = zfs("tank", offset=4 * MIB - LABEL, size=size)
    assert zfs_label.read(extent(disk)) == ZfsLabel("tank", 5000)


def test_a_spare_has_no_pool() -> None:
    assert zfs_label.read(extent(zfs(""))) == ZfsLabel("", 5000)


def test_a_name_is_cleaned() -> None:
    found = zfs_label.read(extent(zfs("ta\x1b[2Jnk")))
    assert found == ZfsLabel("ta[2Jnk", 5000)


def test_what_is_no_label() -> None:
    assert zfs_label.read(extent(bytes(4 * MIB))) is None
    assert zfs_label.read(extent(b"\x01" * (4 * MIB))) is None
    assert zfs_label.read(extent(bytes(100))) is None


@pytest.mark.parametrize("size", [0, 8, 19, 2**31, 2**32 - 1])
def test_a_pair_of_a_size_that_cannot_be_ends_the_list(size: int) -> None:
    disk = zfs("tank")
    put(disk, 16 * 1024 + 12, struct.pack(">I", size))
    assert zfs_label.read(extent(disk)) is None


def test_numbers_of_the_pair_may_lie() -> None:
    disk = zfs("tank")
    put(disk, 16 * 1024 + 20, struct.pack(">I", 2**32 - 1))
    assert zfs_label.read(extent(disk)) is None
