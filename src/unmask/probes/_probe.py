"""A probe: one thing that is read inside a guest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from unmask.probes._section import Section


class Shell(StrEnum):
    """Which of a guest's shells runs a command."""

    POSIX = "sh"
    """dash, bash, busybox ash, FreeBSD sh."""
    POWERSHELL = "powershell"
    """Windows PowerShell 5.1 and later."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A command that changes nothing, and the function that understands what it prints.

    `parse` is pure and total: it raises `InputError` where nothing can be made of its section (the
    reading is then missing for that reason), and never anything else. What it returns holds no key,
    password or passphrase, whatever the guest printed.
    """

    name: str
    """The field of `Inside` that it fills."""
    command: str
    """Text for the shell, in which the functions of the script's library may be called."""
    parse: Callable[[Section], object]
    needs_root: bool | str = False
    """True where only root gets anything, or what another user does not get."""
    shell: Shell = Shell.POSIX
    limit: int = 64 * 1024
    """Bytes that it may print."""
    seconds: int = 5
    """How long it may take (POSIX only)."""
