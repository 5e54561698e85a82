"""What there is instead of something that was named and is not there."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from unmask.report._text import clean, listed

LIMIT = 60


def known(word: str, names: Iterable[str]) -> str:
    """Return a half-sentence: "did you mean web1?", else "there are db, web1 and 7 more".

    Args:
        word: What was named.
        names: What could have been; each is cleaned, for guests are called by others.
    """
    every = list(dict.fromkeys(clean(name, LIMIT) for name in names if name))
    return near(word, every) or (f"there are {listed(every)}" if every else "there are none at all")


def near(word: str, names: Iterable[str]) -> str:
    """Return "did you mean web1?" with the names that look alike, "" where none does."""
    close = get_close_matches(clean(word, LIMIT), list(names), n=3, cutoff=0.75)
    return f"did you mean {' or '.join(close)}?" if close else ""
