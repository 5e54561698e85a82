"""Reading with bounds."""

from __future__ import annotations

import pytest

from support.disk_images import MIB, reader
from unmask.dialects.disk.medium import LIMIT, MOST, PAGE, Extent, Medium, word
from unmask.errors import InputError


class Counted:
    """Zeros without end, and what was asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, int]] = []

    def read(self, offset: int, size: int) -> bytes:
        self.asked.append((offset, size))
        return bytes(size)


def test_bytes_are_those_at_the_offset() -> None:
    data = bytes(range(256)) * 64
    medium = Medium(reader(data), len(data))
    assert medium.take(4090, 20) == data[4090:4110]
    assert medium.take(len(data) - 3, 20) == data[-3:]
    assert medium.take(len(data), 1) == medium.take(-1, 8) == medium.take(10, -5) == b""


def test_a_page_is_read_once_and_neighbours_together() -> None:
    counted = Counted()
    medium = Medium(counted.read, MIB)
    medium.take(5000, 10)
    medium.take(0, 16384)
    medium.take(100, 9000)
    assert counted.asked == [(4096, 4096), (0, 4096), (8192, 8192)]


def test_no_more_than_the_limit_is_read() -> None:
    counted = Counted()
    medium = Medium(counted.read)
    for number in range(LIMIT // PAGE):
        medium.take(number * 2**40, 512)
    with pytest.raises(InputError, match="4 MiB"):
        medium.take(5000, 512)
    assert len(medium.take(0, 512)) == 512
    assert sum(size for _, size in counted.asked) == LIMIT


def test_no_more_than_a_mebibyte_is_read_at_once() -> None:
    counted = Counted()
    assert len(Medium(counted.read).take(0, 2**62)) == MOST
    assert counted.asked == [(0, MOST)]


def test_offsets_that_no_disk_has_are_no_data() -> None:
    counted = Counted()
    assert Medium(counted.read).take(2**63, 512) == b""
    assert counted.asked == []


def test_a_disk_that_ends_early_ends() -> None:
    medium = Medium(reader(b"x" * 5000), 100_000)
    assert medium.take(4990, 100) == b"x" * 10
    assert medium.take(8192, 100) == b""


def test_an_extent_has_ends() -> None:
    medium = Medium(reader(bytes(1000) + b"abc" + bytes(5000)), 6003)
    part = Extent(medium, 1000, 3)
    assert part.take(0, 100) == b"abc"
    assert part.take(-1, 2) == part.take(3, 5) == b""
    assert part.last(2) == b"bc"
    assert part.last(4) == b""
    assert Extent(medium, 1000).last(1) == b""


def test_a_name_is_short_and_can_be_shown() -> None:
    assert word(b"tank\0rest") == "tank"
    assert word(b"a\x1b[31m\xff\xc3\xa9\n") == "a[31mé"
    assert len(word(b"x" * 500)) == 64
