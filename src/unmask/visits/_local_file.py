"""Files and block devices of this machine, read without a lock and without being changed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from unmask.errors import UnreadError
from unmask.visits._disks import Bytes

FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def source(path: str) -> Bytes:
    """Return the bytes of a regular file or a block device; nothing else is opened.

    Raises:
        UnreadError: It is neither, or this user may not read it. `Bytes.read` raises it too.
    """
    with _opened(path) as descriptor:
        size = os.lseek(descriptor, 0, os.SEEK_END)

    def read(offset: int, count: int) -> bytes:
        with _opened(path) as descriptor:
            return os.pread(descriptor, count, offset)

    return Bytes(read, size, path)


@contextmanager
def _opened(path: str) -> Iterator[int]:
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - beside os.open, for its kind alone
        if not stat.S_ISREG(mode) and not stat.S_ISBLK(mode):
            raise UnreadError(f"{path} is neither a file nor a block device")
        descriptor = os.open(path, FLAGS)
        try:
            yield descriptor
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it cannot be a path"
        raise UnreadError(f"{path} cannot be read here: {why}", "the rights to read it") from error
