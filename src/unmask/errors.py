"""Every error that unmask raises on purpose, in one tree.

`exit_code` is what the process ends with when the error reaches the command line:
2 usage, 3 could not connect or read, 4 a change failed, 70 a bug in this program.
"""

from __future__ import annotations


class UnmaskError(Exception):
    """Say in one sentence what is wrong, where, and what to do next."""

    exit_code = 3


class UsageError(UnmaskError):
    """The command line, the configuration file or an input file asks for something impossible."""

    exit_code = 2


class TargetError(UnmaskError):
    """A target cannot be reached or read at all."""


class MissingPackageError(TargetError):
    """An optional Python package is needed for this target and is not installed."""


class InputError(UnmaskError):
    """An input file is unreadable, truncated, too large or not what it claims to be."""


class ChangeError(UnmaskError):
    """A change of a guest was refused or failed; the message says what the guest has now."""

    exit_code = 4


class UnreadError(UnmaskError):
    """A value was asked for that could not be read; the engine turns this into a `Skip`."""

    def __init__(self, reason: str, needs: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.needs = needs
