"""Files that a command writes: whole, or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from unmask.errors import UsageError

PRIVATE = 0o600
"""Mode of a file that holds what configurations say, which may include secrets in `args`."""
PUBLIC = 0o666
"""Mode before the user's umask."""


def write(path: Path, text: str, mode: int = PUBLIC) -> None:
    """Write `text` to `path`; a reader sees the old file or the new one, never half of it.

    What is no regular file (a pipe, /dev/stdout) is written to directly.

    Raises:
        UsageError: It cannot be written; an existing file is as it was.
    """
    try:
        target = path.resolve()
        if target.exists() and not target.is_file():
            target.write_text(text, encoding="utf-8")
        else:
            _replace(target, text.encode(), mode)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from error


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


def _replace(target: Path, data: bytes, mode: int) -> None:
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    if target.exists():
        mode = target.stat().st_mode & 0o777
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
