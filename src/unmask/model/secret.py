"""A value that must never be printed, saved or logged."""

from __future__ import annotations

from typing import NoReturn


class Secret:
    """A password or the secret of a token; only `reveal` gives it away.

    It has no field that a traceback, a log, a dump of an object or a saved file would show.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the secret itself, for the one place that sends it."""
        return self._text

    def __repr__(self) -> str:
        return "Secret(...)"

    def __str__(self) -> str:
        return "(secret)"

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not written to a file")
