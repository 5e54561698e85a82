"""Work that ends in time, whatever the other side does.

A timeout of a socket counts from the last byte, so that a server which sends one byte a second is
never late. A `Clock` counts from the beginning.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class LateError(TimeoutError):
    """The time allowed is used up."""


class Clock:
    """The end of a whole run, and of what each thread is doing within it."""

    def __init__(self, seconds: float, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._end = now() + seconds
        self._own = threading.local()

    def left(self) -> float:
        """Return the seconds that are left to the current thread.

        Raises:
            LateError: None are.
        """
        end = min(self._end, getattr(self._own, "end", self._end))
        seconds = end - self._now()
        if seconds <= 0:
            raise LateError("the time allowed is used up")
        return seconds

    @property
    def over(self) -> bool:
        """Return whether the whole run has used up its time."""
        return self._now() >= self._end

    @property
    def remaining(self) -> float:
        """Return the seconds that are left to the whole run, at least 0."""
        return max(0.0, self._end - self._now())

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Allow the current thread so many seconds for what is inside, and no more than before."""
        before = getattr(self._own, "end", self._end)
        self._own.end = min(before, self._now() + seconds)
        try:
            yield
        finally:
            self._own.end = before

    def sleep(self, seconds: float) -> None:
        """Wait, but not beyond the end."""
        time.sleep(min(seconds, self.remaining))
