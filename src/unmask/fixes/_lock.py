"""One run at a time for one guest, on this machine; another machine's is caught by the digest.

The lock is `flock`'s: it is gone with the process that held it, however that ended. The file stays:
to remove it would let two processes hold two files of the same name.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from unmask.errors import ChangeError, UsageError
from unmask.fixes import _state
from unmask.model.change import Place
from unmask.model.inventory import Platform

MOMENT = 0.05
"""Seconds between two tries."""


class BusyError(ChangeError):
    """Another run is changing this guest; nothing was written."""


def identity(place: Place) -> str:
    """Return what is the same for a guest whichever way it was reached.

    A libvirt domain is known by its UUID; a guest of Proxmox VE by its cluster and VMID, which its
    API and its nodes tell alike. Two clusters of one name share locks: one of two runs at once is
    then refused for no reason, and nothing worse.
    """
    unique = place.ident if place.platform is Platform.LIBVIRT else place.subject
    return f"{place.platform}:{unique}"


@contextmanager
def guest_lock(folder: Path, place: Place) -> Iterator[None]:
    """Hold a guest for the length of the context.

    Args:
        folder: The state directory.
        place: The guest.

    Raises:
        BusyError: Another process holds it, or another thread of this one.
        UsageError: The lock's file cannot be made.
    """
    path = folder / "locks" / hashlib.sha256(identity(place).encode()).hexdigest()[:32]
    _state.make(path.parent)
    _state.check(path.parent)
    try:
        number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise UsageError(f"{path}: cannot be opened: {error.strerror}") from error
    try:
        take(number, f"{place.subject}: another run of unmask is changing this guest", path)
        yield
    finally:
        os.close(number)


def take(number: int, otherwise: str, path: Path, tries: int = 1) -> None:
    """Lock an open file for this process alone.

    Args:
        number: The open file.
        otherwise: The message where it is held.
        path: The file.
        tries: How often, a moment apart. Who reads a journal holds it for less than that.

    Raises:
        BusyError: It is locked already; the message is `otherwise`, and who holds it.
        UsageError: The file system cannot lock.
    """
    while True:
        tries -= 1
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise UsageError(
                    f"{path}: the file system cannot lock it: {error.strerror}; set XDG_STATE_HOME "
                    "to a local directory"
                ) from error
            if tries <= 0:
                raise BusyError(f"{otherwise}; wait until it has ended") from error
            time.sleep(MOMENT)
        else:
            return
