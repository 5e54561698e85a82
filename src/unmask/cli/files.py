"""Files that a command writes: whole, or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from unmask.errors import UsageError

PRIVATE = 0o600
"""Mode of a file that holds what configurations say, which may include secrets in `args`."""
PUBLIC = 0o666
"""Mode before the user's umask."""
LEFT = 1000
"""Files that killed runs may have left beside one."""
STDOUT = Path("-")
"""Standard output, as the name of a file."""


def write(path: Path, text: str, mode: int = PUBLIC) -> None:
    """Write `text` to `path`; a reader sees the old file or the new one, never half of it.

    What is no regular file (a pipe, a device), and what a shell has opened (-, /dev/stdout,
    /dev/fd/3), is written to directly.

    Raises:
        UsageError: It cannot be written; an existing file is as it was.
    """
    write_all([(path, text)], mode)


def write_all(texts: Sequence[tuple[Path, str]], mode: int = PUBLIC) -> None:
    """Write each text to its path: all files, or none of them.

    Each is drafted beside its place first, so that a full disk or a directory that may not be
    written shows before any file has changed. What is no regular file is written to next, and only
    then the drafts take their places; where one cannot, those that have done so go back.

    Raises:
        UsageError: One cannot be written; all files are as they were.
    """
    drafts: list[_Draft] = []
    path = Path()
    try:
        for path, text in texts:
            if is_file(path):
                drafts.append(_Draft.made(path, text.encode(), mode))
        for path, text in texts:
            if not is_file(path):
                _write_to(path, text.encode())
        for draft in drafts:
            path = draft.path
            draft.place(keep=len(drafts) > 1)
    except BaseException as error:
        for draft in drafts:
            draft.take_back()
        if isinstance(error, OSError):
            raise UsageError(f"{path}: cannot be written: {error.strerror}") from error
        raise
    for draft in drafts:
        draft.forget()


def is_file(path: Path) -> bool:
    """Return whether a path is a file, or will be: what is there and is none is written to.

    A file that a shell has opened is none: to take its place would lose what else is written there.
    Where this user may not look it is one, and to write it says why that cannot be.
    """
    try:
        return _opened(path) is None and (path.is_file() or not path.exists())
    except OSError:
        return True


def _opened(path: Path) -> int | None:
    """Return which open file of this process a path names: 1 for /dev/stdout; None for none."""
    if path == STDOUT:
        return 1
    place = os.fspath(path)
    for _ in range(40):  # as many links as Linux follows
        folder, name = os.path.realpath(os.path.dirname(place)), os.path.basename(place)  # noqa: PTH120, PTH119
        if folder in ("/dev/fd", f"/proc/{os.getpid()}/fd"):
            return int(name) if name.isascii() and name.isdigit() else None
        try:
            place = os.path.join(folder, os.readlink(place))  # noqa: PTH115, PTH118
        except OSError:
            return None
    return None


def _write_to(path: Path, data: bytes) -> None:
    """Write to what is no file of ours, where it stands: behind what is there already."""
    number = _opened(path)
    if number == 1:
        if sys.stdout is None:
            raise OSError(errno.EBADF, "standard output is closed")
        sys.stdout.flush()
    with path.open("wb") if number is None else os.fdopen(os.dup(number), "wb") as stream:
        stream.write(data)


def _resolved(path: Path) -> Path:
    """Return a path with its links followed.

    Raises:
        OSError: They go round in a circle, or the working directory is gone.
    """
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return target


def check(paths: Iterable[Path]) -> None:
    """Refuse what can be seen not to work before anything is read.

    Raises:
        UsageError: Two paths are the same file, one is a directory, or has none to be in.
    """
    seen: dict[Path, Path] = {}
    for path in paths:
        if path == STDOUT:
            continue
        try:
            target = _resolved(path)
            why = _hopeless(path, target)
        except OSError as error:
            raise UsageError(f"{path}: cannot be written: {error.strerror}") from error
        if why:
            raise UsageError(f"{path}: cannot be written: {why}")
        if target in seen and is_file(path):
            same = "" if seen[target] == path else f" (it is {seen[target]})"
            raise UsageError(f"{path}{same}: two reports cannot be one file: name another")
        seen[target] = path


def check_save(save: Path | None, outputs: Sequence[Path | None]) -> None:
    """Refuse a `--save` that is hopeless, or that is where a report goes; None is standard output.

    Raises:
        UsageError: It is.
    """
    if save is None:
        return
    if save == STDOUT and not {None, STDOUT}.isdisjoint(outputs):
        raise UsageError("--save -: the report goes to standard output too: add --output FILE")
    check([save, *filter(None, outputs)])


def _hopeless(path: Path, target: Path) -> str:
    if path.is_dir():
        return "it is a directory: name a file in it"
    if not path.exists() and not target.parent.is_dir():
        return "its directory does not exist: make it first"
    return ""


def read(path: Path, limit: int) -> str:
    """Return the text of a file that the command line names.

    Raises:
        UsageError: It cannot be read, is not UTF-8, or has more than `limit` bytes.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(limit + 1)
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 text") from error
    if len(data) > limit:
        raise UsageError(f"{path}: larger than {limit} bytes")
    return text


def _beside(target: Path, what: str, number: int) -> Path:
    """Return a name beside a file; no longer than file systems allow however long the file's is."""
    return target.with_name(f".{target.name[:40]}.{os.getpid()}.{number}.{what}")


def _created(target: Path, what: str, mode: int) -> tuple[Path, int]:
    """Return a new file beside another one, and its descriptor.

    A run that was killed has left its own, and in a container the next one has the same number.
    """
    for number in range(LEFT):
        path = _beside(target, what, number)
        with suppress(FileExistsError):
            return path, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    raise FileExistsError(errno.EEXIST, f"killed runs have left {LEFT} files beside it: .*.{what}")


@dataclass(slots=True)
class _Draft:
    """A file that lies beside the place that it is to take."""

    path: Path
    """As it was named."""
    target: Path
    """The same with links followed."""
    draft: Path
    old: Path | None = None
    """A second name of what was in its place; None for nothing, or where nobody goes back."""
    placed: bool = False

    @classmethod
    def made(cls, path: Path, data: bytes, mode: int) -> _Draft:
        """Write the draft out to the disk; what is left of one that fails is removed."""
        target = _resolved(path)
        if target.exists():
            mode = target.stat().st_mode & 0o777
        draft, descriptor = _created(target, "part", mode)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        return cls(path, target, draft)

    def place(self, *, keep: bool) -> None:
        """Put it in its place; `keep` what was there for `take_back`."""
        if keep and self.target.exists():
            old = _beside(self.target, "old", 0)
            old.unlink(missing_ok=True)
            try:
                os.link(self.target, old)
            except OSError:  # a file system without second names
                shutil.copy2(self.target, old)
            self.old = old
        self.draft.replace(self.target)
        self.placed = True

    def take_back(self) -> None:
        """Leave everything as it was before, as far as that can be done."""
        with suppress(OSError):
            if self.placed and self.old:
                self.old.replace(self.target)
            elif self.placed:
                self.target.unlink(missing_ok=True)
        with suppress(OSError):
            self.draft.unlink(missing_ok=True)
        self.forget()

    def forget(self) -> None:
        """Remove the second name."""
        if self.old:
            with suppress(OSError):
                self.old.unlink(missing_ok=True)
