"""Log in to a node of a Proxmox VE cluster, as a target names it: pve+ssh://[user@]HOST[:PORT]."""

from __future__ import annotations

import getpass
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from unmask.connect import ssh, ssh_address
from unmask.connect.proxmox_address import SSH_SCHEME
from unmask.connect.ssh_address import Address
from unmask.connect.ssh_login import PASSWORD_PROMPT, Secrets
from unmask.connect.ssh_session import Login, Session
from unmask.errors import TargetError
from unmask.model.source import CollectOptions

ROOT = Login("root")


def log_in(
    target: str, options: CollectOptions, secrets: Secrets, end: float
) -> tuple[Address, Session]:
    """Log in to the target, or to the first of the other entries that lets one in.

    Args:
        target: As the operator has written it.
        options: With the other entries.
        secrets: For servers that ask.
        end: `time.monotonic()` by which it has to be done.

    Raises:
        UsageError: The target is not written as it should be.
        TargetError: Nobody can be reached, or nobody lets one in.
    """
    addresses = [
        ssh_address.of_target(target, SSH_SCHEME),
        *map(ssh_address.parse, options.ssh.nodes),
    ]
    said: list[str] = []
    for number, address in enumerate(addresses):
        # Each gets a fair share, so that one that hangs leaves time for the others.
        left = max(end - time.monotonic(), 0.1) / (len(addresses) - number)
        try:
            with said_once(target):
                return address, ssh.connect(address, options.ssh, secrets, left, like=ROOT)
        except TargetError as error:
            said.append(str(error))
    raise TargetError("; ".join(said))


@contextmanager
def said_once(target: str) -> Iterator[None]:
    """Leave the server out of an error that is about the target, which is named anyway."""
    try:
        yield
    except TargetError as error:
        place = target[len(SSH_SCHEME) :].rstrip("/")
        raise TargetError(str(error).removeprefix(f"{place}: ")) from error


class Person:
    """Whoever sits at the terminal, and what they have answered."""

    def __init__(self) -> None:
        self._answers: dict[str, str] = {}

    def ask(self, prompt: str) -> str:
        """Ask without showing the answer."""
        try:
            answer = getpass.getpass(prompt)
        except EOFError:
            answer = ""
        self._answers[prompt] = answer
        return answer

    def secrets(self, options: CollectOptions) -> Secrets:
        """Return what may be said to servers, asking where there is a terminal."""
        told = options.ssh.password.reveal() if options.ssh.password else ""
        return Secrets(told, self.ask if sys.stdin and sys.stdin.isatty() else None)

    def answered(self, secrets: Secrets) -> Secrets:
        """Return the same for when nobody can be asked: what was answered before has to do."""
        return Secrets(secrets.password or self.password, self.again)

    def again(self, prompt: str) -> str:
        """Return what was answered to the same question before, "" where it was not asked."""
        return self._answers.get(prompt, "")

    @property
    def password(self) -> str:
        """Return the last password given, "" for none."""
        given = [self._answers[ask] for ask in self._answers if ask.startswith(PASSWORD_PROMPT)]
        return given[-1] if given else ""


@cache
def person(_target: str) -> Person:
    """Return whoever answers for a target, and what they have answered in this run."""
    return Person()
