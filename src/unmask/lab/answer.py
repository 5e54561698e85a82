"""What the API says: an answer, or a refusal with the text that Proxmox gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = Any
"""Whatever JSON can hold; the API mixes all of it."""

INVALID = "Parameter verification failed."


@dataclass(frozen=True, slots=True)
class Answer:
    """A successful answer."""

    data: Json = None
    beside: Mapping[str, Json] = field(default_factory=dict)
    """Keys beside `data`, such as `total` of a list."""


class Refused(Exception):  # noqa: N818 - it is an answer, not a mistake of this program
    """An answer other than 200: Proxmox puts its text into the reason phrase."""

    def __init__(
        self,
        text: str,
        status: int = 500,
        errors: Mapping[str, str] | None = None,
        *,
        empty: bool = False,
        bare: bool = False,
        delay: float = 0.0,
    ) -> None:
        """Take the text and what goes with it.

        Args:
            text: May have several lines; only the first becomes the reason phrase.
            status: HTTP's, or Proxmox's own 595 and 596.
            errors: Per parameter, for 400.
            empty: There is no body at all (401 outside of the login, 595, 596).
            bare: The body's message has no newline at its end (501).
            delay: Real seconds that Proxmox takes to say so.
        """
        super().__init__(text)
        self.text = text
        self.status = status
        self.errors = dict(errors or {})
        self.empty = empty
        self.bare = bare
        self.delay = delay


def invalid(**errors: str) -> Refused:
    """Return the refusal of parameters; underscores in their names stand for hyphens."""
    said = {name.replace("_", "-"): text for name, text in errors.items()}
    return Refused(INVALID, 400, said)


def invalid_all(errors: Mapping[str, str]) -> Refused:
    """Return the refusal of parameters whose names are given as they are."""
    return Refused(INVALID, 400, errors)


def forbidden(path: str, privileges: str) -> Refused:
    """Return the refusal of somebody who lacks a privilege; alternatives are joined with `|`."""
    return Refused(f"Permission check failed ({path}, {privileges})", 403)


def unauthorised(text: str) -> Refused:
    """Return the refusal of somebody who is not known."""
    return Refused(text, 401, empty=True, delay=3)
