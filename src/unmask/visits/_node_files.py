"""Files of a node that are read page by page over SSH, in few rounds.

The readers of disks ask for bytes as if they were there. Here they get zeros for what is not there
yet; what they asked for is noted and fetched in one go, and they are run again, until nothing is
missing. Each round therefore reads what is needed of all disks of a guest, and costs one command.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from unmask.dialects.disk.medium import PAGE
from unmask.errors import UnmaskError, UnreadError
from unmask.model.disk import HostEncryption
from unmask.visits import _node_script
from unmask.visits._disks import Bytes
from unmask.visits._node_script import Run

T = TypeVar("T")

ROUNDS = 16
"""A qcow2 image takes about three, one on a chain of others a few more for each."""
MOST_FETCHED = 12 * 1024 * 1024
"""Bytes in one round."""
MOST_FILES = 256
ROOT = "root on the node"

Ask = Callable[[str], bytes]
"""Runs a program on the node and returns what it prints; raises a `TargetError`."""


@dataclass(slots=True)
class _File:
    """What is known of a volume or file."""

    volume: str
    """Its name, or its path for a backing file."""
    path: str = ""
    size: int | None = None
    problem: UnreadError | None = None
    encryption: tuple[HostEncryption, ...] = ()
    found: bool = False
    pages: dict[int, bytes] = field(default_factory=dict)
    lost: set[int] = field(default_factory=set)
    """Pages that could not be read."""


class NodeFiles:
    """The files of one guest on its node."""

    def __init__(self, ask: Ask, node: str) -> None:
        self._ask = ask
        self._node = node
        self._files: list[_File] = []
        self._numbers: dict[tuple[str, bool], int] = {}
        self._pages: dict[tuple[int, int], None] = {}
        """Pages that were asked for and are not there yet."""

    def told(self, read: Callable[[], T]) -> T:
        """Return what `read` returns once all is there that it asks for.

        Raises:
            UnreadError: Too many rounds would be needed.
            TargetError: The node does not answer.
        """
        for _ in range(ROUNDS):
            self._pages.clear()
            result = self._tried(read)
            missing = [number for number, file in enumerate(self._files) if not file.found]
            if isinstance(result, UnmaskError) and not missing and not self._pages:
                raise result
            if not isinstance(result, UnmaskError) and not missing and not self._pages:
                return result
            if missing:
                self._locate(missing)
            if self._pages:
                self._fetch()
        raise UnreadError(f"its disks would take more than {ROUNDS} commands to be read")

    @staticmethod
    def _tried(read: Callable[[], T]) -> T | UnmaskError:
        try:
            return read()
        except UnmaskError as error:
            return error

    def volume(self, name: str) -> Bytes:
        """Return a volume; raises `UnreadError`."""
        return self._bytes(name, backing=False)

    def encryption(self, name: str) -> tuple[HostEncryption, ...]:
        """Return how the node encrypts a volume."""
        return self._files[self._number(name, backing=False)].encryption

    def backing(self, path: str) -> Bytes:
        """Return a backing file; raises `UnreadError`."""
        return self._bytes(path, backing=True)

    def _number(self, name: str, *, backing: bool) -> int:
        key = (name, backing)
        if key not in self._numbers:
            if len(self._files) >= MOST_FILES:
                raise UnreadError("its disks are made of too many files")
            self._numbers[key] = len(self._files)
            self._files.append(_File(name))
        return self._numbers[key]

    def _bytes(self, name: str, *, backing: bool) -> Bytes:
        number = self._number(name, backing=backing)
        file = self._files[number]
        if file.problem is not None:
            raise file.problem
        return Bytes(lambda offset, size: self._read(number, offset, size), file.size, file.path)

    def _read(self, number: int, offset: int, size: int) -> bytes:
        """Return bytes, zeros where they are not there yet; whole pages are asked for."""
        file = self._files[number]
        if not file.found:
            return bytes(size)
        data = bytearray()
        for page in range(offset // PAGE, (offset + size + PAGE - 1) // PAGE):
            if page in file.lost:
                raise UnreadError("a part of it cannot be read on the node")
            if page not in file.pages:
                self._pages[number, page] = None
            data += file.pages.get(page, bytes(PAGE))
        start = offset % PAGE
        return bytes(data[start : start + size])

    def _locate(self, numbers: list[int]) -> None:
        mark = secrets.token_hex(16)
        backing = {number for (_, below), number in self._numbers.items() if below}
        named = [(number, self._files[number].volume) for number in numbers]
        script = _node_script.locate(
            mark,
            [each for each in named if each[0] not in backing],
            [each for each in named if each[0] in backing],
        )
        told = _node_script.told(self._ask(script), mark)
        for index in numbers:
            _learn(self._files[index], told.get(index, {}), self._node)

    def _fetch(self) -> None:
        mark = secrets.token_hex(16)
        runs = list(self._runs())
        output = self._ask(_node_script.pages(mark, runs))
        for run, data in _node_script.read_pages(output, mark, runs):
            file = self._files[run.file]
            for index in range(run.count):
                page = data[index * PAGE : (index + 1) * PAGE]
                if len(page) < min(PAGE, run.size - index * PAGE):
                    file.lost.add(run.first + index)
                file.pages[run.first + index] = page.ljust(PAGE, b"\0")
        for run in runs:
            pages = range(run.first, run.first + run.count)
            self._files[run.file].lost.update(set(pages) - self._files[run.file].pages.keys())

    def _runs(self) -> Iterator[Run]:
        """Yield the pages that are asked for, neighbours together, up to the limit of a round."""
        wanted = sorted(self._pages)[: MOST_FETCHED // PAGE]
        while wanted:
            number, first = wanted[0]
            count = 1
            while count < len(wanted) and wanted[count] == (number, first + count):
                count += 1
            file = self._files[number]
            left = count * PAGE if file.size is None else file.size - first * PAGE
            yield Run(number, first, count, file.path, min(count * PAGE, left))
            wanted = wanted[count:]


def _learn(file: _File, told: Mapping[str, list[str]], node: str) -> None:
    """Take in what the node says of a file."""
    file.found = True
    file.path = _first(told, "path")
    info = _first(told, "info")
    if _first(told, "size").strip().isdecimal():
        file.size = int(_first(told, "size"))
    elif "absent" in told:
        what = "its volume is not active on the node, or is gone"
        file.problem = UnreadError(what, "a running guest, or its volume activated")
    elif "denied" in told:
        file.problem = UnreadError("the login may not read it on the node", ROOT)
    elif info:
        file.size = _virtual_size(info)
    if file.size is None and file.problem is None:
        said = _first(told, "problem") or info or _first(told, "size") or "the node does not tell"
        file.problem = UnreadError(" ".join(said.split())[:200])
    file.encryption = _node_script.encryption(told, node)


def _first(told: Mapping[str, list[str]], word: str) -> str:
    return told.get(word, [""])[0]


def _virtual_size(text: str) -> int | None:
    try:
        size = json.loads(text)["virtual-size"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return size if type(size) is int and size >= 0 else None
