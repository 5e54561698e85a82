"""Output of a remote script in parts, told apart by a mark that nobody could guess beforehand.

The script prints a line `MARK NAME` before each part, so that no name or configuration that it
shows can imitate one, and whatever a login prints before the first part is passed over.
"""

from __future__ import annotations

import re

MARK = re.compile(r"[A-Za-z0-9]{16,}")


def checked(mark: str) -> str:
    """Return the mark, which needs no quoting in any shell.

    Raises:
        ValueError: It is not at least 16 letters and digits.
    """
    if not MARK.fullmatch(mark):
        raise ValueError("a mark is at least 16 letters and digits")
    return mark


def parts(output: bytes, mark: str) -> list[tuple[str, bytes]]:
    """Return the name and content of each part, in order; the content lacks its last line break.

    Each mark stands at the beginning of a line that the script itself has begun, since what is
    printed before it may lack the line break at its end.
    """
    _, *found = output.split(f"\n{mark} ".encode())
    pairs = (part.partition(b"\n") for part in found)
    return [(head.decode("utf-8", errors="replace"), content) for head, _, content in pairs]
