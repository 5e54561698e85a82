"""The directory in which unmask remembers what it has changed, kept from everybody else."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from unmask.errors import UsageError

PRIVATE = 0o700


def folder(environment: Mapping[str, str]) -> Path:
    """Return the state directory: $XDG_STATE_HOME/unmask, else ~/.local/state/unmask.

    Raises:
        UsageError: There is no home directory.
    """
    named = environment.get("XDG_STATE_HOME", "")
    if os.path.isabs(named):  # the specification says to ignore any other  # noqa: PTH117
        return Path(named) / "unmask"
    home = environment.get("HOME", "")
    if not os.path.isabs(home):  # noqa: PTH117
        raise UsageError(
            "neither XDG_STATE_HOME nor HOME is set, so there is no place for the journal of "
            "changes; set XDG_STATE_HOME to a directory"
        )
    return Path(home) / ".local" / "state" / "unmask"


def make(path: Path) -> None:
    """Make a private directory and those above it, and see them written to the disk.

    Raises:
        UsageError: It cannot be made, or it belongs to somebody else or is open to others.
    """
    try:
        if not path.is_dir():
            if not path.parent.is_dir():
                make(path.parent)
            path.mkdir(PRIVATE, exist_ok=True)
            sync(path.parent)
    except OSError as error:
        raise UsageError(
            f"{path}: the journal of changes cannot be kept there: {error.strerror}; set "
            "XDG_STATE_HOME to a directory that can be written"
        ) from error


def check(path: Path) -> None:
    """Refuse a directory whose files somebody else could have written.

    Raises:
        UsageError: It belongs to another user, or others may read or write it.
    """
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise UsageError(
            f"{path}: is not a directory of the current user, who could not trust the journal in "
            "it; set XDG_STATE_HOME to a directory of your own"
        )
    if stat.S_IMODE(found.st_mode) & 0o077:
        raise UsageError(f"{path}: others may look into it; run: chmod 700 {path}")


def sync(path: Path) -> None:
    """See to it that the names in a directory survive a loss of power."""
    number = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
