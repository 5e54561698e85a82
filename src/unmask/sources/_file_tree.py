"""Read the wanted files of a directory or archive, with bounds on their number and size.

Nothing is ever unpacked to disk. What cannot be read becomes a `Gap`, and the rest goes on.
"""

from __future__ import annotations

import io
import lzma
import os
import stat
import tarfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, cast

from unmask.errors import InputError
from unmask.model.inventory import Gap

FILE_LIMIT = 8 * 1024 * 1024
"""Bytes of one file: /proc/cpuinfo of 1,024 threads has about 2 MiB."""

TOTAL_LIMIT = 256 * 1024 * 1024
"""Bytes of all wanted files, and of an archive once decompressed."""

ENTRY_LIMIT = 200_000
"""Files and directories that are looked at."""

DEPTH_LIMIT = 16

GAP_LIMIT = 100
"""Unreadable files that are named one by one."""

Wanted = Callable[[str], bool]
"""Whether a file of this path, relative and with slashes, is to be read."""


@dataclass(slots=True)
class FileTree:
    """What was read, and what could not be."""

    target: str
    """As the operator wrote it."""
    files: dict[str, bytes] = field(default_factory=dict)
    """Content by path, relative and with slashes."""
    gaps: list[Gap] = field(default_factory=list)
    size: int = 0

    def gap(self, path: str, reason: str, needs: str = "") -> None:
        """Note that a file could not be read."""
        if len(self.gaps) < GAP_LIMIT:
            self.gaps.append(Gap(f"{self.target}: {path}", reason, needs))

    def add(self, path: str, stream: IO[bytes]) -> None:
        """Read one file.

        Raises:
            InputError: The total is larger than the limit.
        """
        content = stream.read(FILE_LIMIT + 1)
        self.size += len(content)
        if self.size > TOTAL_LIMIT:
            limit = TOTAL_LIMIT // 2**20
            raise InputError(f"{self.target} holds more than {limit} MiB of configuration files")
        if len(content) > FILE_LIMIT:
            self.gap(path, f"it is larger than {FILE_LIMIT // 2**20} MiB")
        else:
            self.files[path] = content


def read_directory(target: str, wanted: Wanted) -> FileTree:
    """Return the wanted files below a directory.

    Symbolic links are followed to files inside of it only: /etc/pve has links to directories that
    are there anyway.

    Raises:
        InputError: The directory cannot be listed, or holds too much.
    """
    tree = FileTree(target)
    root = Path(target).resolve()
    for path in _walk(tree, root):
        name = path.relative_to(root).as_posix()
        if not wanted(name):
            continue
        try:
            if not path.resolve().is_relative_to(root):
                tree.gap(name, "it is a link that leads out of the directory")
            elif not stat.S_ISREG(path.stat().st_mode):
                tree.gap(name, "it is not a regular file")
            else:
                with path.open("rb") as stream:
                    tree.add(name, stream)
        except PermissionError as error:
            tree.gap(name, _said(error), "read permission")
        except (OSError, RuntimeError) as error:
            # A loop of links is a RuntimeError up to Python 3.12, with the path in its text.
            tree.gap(name, _said(error) if isinstance(error, OSError) else "a loop of links")
    return tree


def _walk(tree: FileTree, root: Path) -> Iterator[Path]:
    """Yield every file, directories in order, without following links to directories."""
    waiting = [root]
    seen = 0
    while waiting:
        directory = waiting.pop()
        try:
            entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
        except OSError as error:
            if directory == root:
                raise InputError(f"cannot list {tree.target}: {_said(error)}") from error
            tree.gap(directory.relative_to(root).as_posix(), _said(error), "read permission")
            continue
        below = []
        for entry in entries:
            seen += 1
            if seen > ENTRY_LIMIT:
                raise InputError(f"{tree.target} holds more than {ENTRY_LIMIT} files: name a copy")
            path = directory / entry.name
            if not entry.is_dir(follow_symlinks=False):
                yield path
            elif entry.name != ".git" and len(path.relative_to(root).parts) < DEPTH_LIMIT:
                below.append(path)
        waiting += reversed(below)


def read_file(target: str) -> FileTree:
    """Return one file under its own name.

    Raises:
        InputError: It cannot be read.
    """
    tree = FileTree(target)
    try:
        with Path(target).open("rb") as stream:
            tree.add(Path(target).name, stream)
    except OSError as error:
        raise InputError(f"cannot read {target}: {_said(error)}") from error
    return tree


class _Bounded:
    """A stream that refuses to give more than the limit, whatever an archive claims."""

    def __init__(self, stream: IO[bytes], target: str) -> None:
        self.stream = stream
        self.target = target
        self.given = 0

    def read(self, size: int = -1) -> bytes:
        """Read at most `size` bytes."""
        block = self.stream.read(size)
        self.given += len(block)
        if self.given > TOTAL_LIMIT:
            limit = TOTAL_LIMIT // 2**20
            raise InputError(f"{self.target} unpacks to more than {limit} MiB: copy /etc/pve only")
        return block


def read_archive(target: str, wanted: Wanted) -> FileTree:
    """Return the wanted files of a tar archive, plain or compressed.

    Raises:
        InputError: It is no archive that Python can read, or it unpacks to too much.
    """
    tree = FileTree(target)
    try:
        with _decompressed(target) as stream:
            bounded = _Bounded(stream, target)
            with tarfile.open(fileobj=bounded, mode="r|") as archive:  # type: ignore[call-overload]
                _members(tree, archive, wanted)
    except (tarfile.TarError, zlib.error, lzma.LZMAError, OSError, EOFError, ValueError) as error:
        said = f"the archive is damaged or truncated: {_said(error)}"
        if not tree.files:
            raise InputError(f"cannot read {target}: {said}") from error
        tree.gaps.append(Gap(target, said, "the whole archive"))
    return tree


def _members(tree: FileTree, archive: tarfile.TarFile, wanted: Wanted) -> None:
    for number, member in enumerate(archive, 1):
        if number > ENTRY_LIMIT:
            raise InputError(f"{tree.target} holds more than {ENTRY_LIMIT} entries")
        path = PurePosixPath(member.name.lstrip("/"))
        name = path.as_posix()
        if not wanted(name):
            continue
        if ".." in path.parts:
            tree.gap(name[:200], "its path leads out of the archive")
        elif member.islnk():
            _linked(tree, name, PurePosixPath(member.linkname.lstrip("/")).as_posix())
        elif member.isfile():
            stream = archive.extractfile(member)
            if stream is not None:
                tree.add(name, stream)
        elif not member.isdir():
            tree.gap(name[:200], "it is not a regular file")


def _linked(tree: FileTree, name: str, other: str) -> None:
    """Take a hard link, which tar writes for a file that it has written under another name."""
    content = tree.files.get(other)
    if content is None:
        tree.gap(name[:200], f"it is a link to {other[:200]}, which was not read before it")
    else:
        tree.add(name, io.BytesIO(content))


def _decompressed(target: str) -> IO[bytes]:
    """Open a file for reading, decompressed by what its first bytes say."""
    path = Path(target)
    with path.open("rb") as stream:
        magic = stream.read(6)
    if magic.startswith(b"\x1f\x8b"):
        import gzip  # noqa: PLC0415 - one of four, loaded when needed

        return cast("IO[bytes]", gzip.open(path, "rb"))
    if magic.startswith(b"BZh"):
        import bz2  # noqa: PLC0415

        return bz2.open(path, "rb")
    if magic.startswith(b"\xfd7zXZ"):
        return lzma.open(path, "rb")
    if magic.startswith(b"\x28\xb5\x2f\xfd"):
        return _zstandard(target)
    return path.open("rb")


def _zstandard(target: str) -> IO[bytes]:
    try:
        from compression import zstd  # type: ignore[import-not-found] # noqa: PLC0415
    except ImportError as error:
        what = "Python reads Zstandard archives from 3.14 on"
        raise InputError(f"cannot read {target}: {what}; unpack it first: zstd -d") from error
    stream: IO[bytes] = zstd.open(target, "rb")
    return stream


def _said(error: BaseException) -> str:
    """Return what an error says, without the path that is named anyway."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return str(error) or type(error).__name__
