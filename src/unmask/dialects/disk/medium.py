"""Bytes of a disk or of an image file, read page by page, each page once, up to a limit.

All offsets and sizes are bytes. What they are computed from was written by a guest, so any number
may come here: what lies outside the disk is no data, and what is too much is an `InputError`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from unmask.errors import InputError

Read: TypeAlias = Callable[[int, int], bytes]
"""Offset and size to data; less than asked for means that the disk ends there."""

LIMIT = 4 * 1024 * 1024
"""Bytes that are read of one disk."""
MOST = 1024 * 1024
"""Bytes that are read at once."""
PAGE = 4096
FARTHEST = 2**60
"""Offsets from here on are nonsense; no hypervisor takes larger disks."""


class Medium:
    """A disk, an image file, or anything else with bytes at offsets."""

    def __init__(self, read: Read, size: int | None = None, limit: int = LIMIT) -> None:
        self.size = size
        """None where it is not known."""
        self._read = read
        self._left = limit
        self._limit = limit
        self._pages: dict[int, bytes] = {}

    def take(self, offset: int, size: int) -> bytes:
        """Return the bytes at an offset; fewer than asked for where the medium ends.

        Raises:
            InputError: The limit is used up.
        """
        end = min(offset + min(size, MOST), FARTHEST if self.size is None else self.size)
        if offset < 0 or offset >= end:
            return b""
        first, last = offset // PAGE, (end - 1) // PAGE
        self._fetch([number for number in range(first, last + 1) if number not in self._pages])
        data = bytearray()
        for number in range(first, last + 1):
            page = self._pages[number]
            data += page
            if len(page) < PAGE:
                break
        start = offset - first * PAGE
        return bytes(data[start : start + end - offset])

    def _fetch(self, numbers: list[int]) -> None:
        """Read pages that are not there yet, neighbours together."""
        while numbers:
            run = 1
            while run < len(numbers) and numbers[run] == numbers[0] + run:
                run += 1
            self._fill(numbers[0], run)
            numbers = numbers[run:]

    def _fill(self, first: int, count: int) -> None:
        begin = first * PAGE
        size = count * PAGE if self.size is None else min(count * PAGE, self.size - begin)
        if size > self._left:
            limit = f"{self._limit // 2**20} MiB"
            raise InputError(f"more than {limit} would have to be read to make sense of it")
        self._left -= size
        data = self._read(begin, size)
        for index in range(count):
            self._pages[first + index] = data[index * PAGE : (index + 1) * PAGE]


@dataclass(frozen=True, slots=True)
class Extent:
    """A part of a medium, with offsets of its own from 0."""

    medium: Medium
    offset: int = 0
    size: int | None = None
    """None where the medium's is not known."""

    def take(self, offset: int, size: int) -> bytes:
        """Return bytes; fewer than asked for where the extent ends. Raises `InputError`."""
        if offset < 0:
            return b""
        if self.size is not None:
            size = min(size, self.size - offset)
        return self.medium.take(self.offset + offset, size)

    def last(self, size: int) -> bytes:
        """Return the last bytes; none where it is not known where it ends. Raises `InputError`."""
        if self.size is None or self.size < size:
            return b""
        return self.take(self.size - size, size)


def whole(medium: Medium) -> Extent:
    """Return all of a medium."""
    return Extent(medium, 0, medium.size)


def word(data: bytes) -> str:
    """Return a name that a guest has written, up to its first NUL and without what cannot be shown.

    At most 64 characters.
    """
    text = data.partition(b"\0")[0].decode("utf-8", errors="replace")
    return "".join(letter for letter in text if letter.isprintable() and letter != "\ufffd")[:64]
