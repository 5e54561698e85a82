"""A reading is known or missing with a reason; it is never `None`.

Not knowing is not passing: asking a `Missing` for its value raises `UnreadError`, which the engine
reports as a skipped check, so that an unreadable host can never look healthy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, NoReturn, TypeAlias, TypeVar

from unmask.errors import UnreadError

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Known(Generic[T_co]):
    """A value that was read."""

    value: T_co

    @property
    def known(self) -> bool:
        """Return True."""
        return True


@dataclass(frozen=True, slots=True)
class Missing:
    """A value that could not be read, or that nobody has asked for."""

    reason: str
    """Why, as the end of "not known: ..."."""
    needs: str = ""
    """The privilege, package or file that would let it be read; empty where nothing would."""

    @property
    def known(self) -> bool:
        """Return False."""
        return False

    @property
    def value(self) -> NoReturn:
        """Raise `UnreadError`."""
        raise UnreadError(self.reason, self.needs)


Reading: TypeAlias = Known[T] | Missing
