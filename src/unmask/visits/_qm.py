"""The guest agent of one guest, by way of `qm` on its node.

`qm guest exec` waits for the program and prints what exec-status has, as JSON, one character for
each byte of the guest's (PVE/CLI/qm.pm). As it does not say how it encodes those, its output is
either the guest's bytes or their UTF-8 once more.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NoReturn, Protocol

from unmask.connect.proxmox_agent import ANSWER_LIMIT, ESCAPED, LATE, LONGER, ended, output
from unmask.connect.proxmox_answer import ApiError
from unmask.connect.ssh_session import ExecResult, Limit
from unmask.errors import TargetError
from unmask.visits import _pve_words
from unmask.visits._channel import NoWayError

ANSWER_SECONDS = 20.0
"""In which `qm` tells of the system or the network; it starts in one, and waits 3 for an agent."""
START_SECONDS = 3.0
"""For `qm` to start, and for its answer's way here."""
ERROR_LIMIT = 64 * 1024
ODD = "qm on its node answered with something that cannot be read"


class Runs(Protocol):
    """Runs a command on the guest's node, as `unmask.connect.ssh_session.Session.run` does."""

    def __call__(
        self, command: Sequence[str], stdin: bytes, timeout: float, limit: Limit
    ) -> ExecResult: ...


class QmAgent:
    """One guest's agent; every method raises `NoWayError` where there is no answer."""

    def __init__(self, runs: Runs, vmid: str) -> None:
        self._runs = runs
        self._vmid = vmid

    def system(self) -> str:
        """Return the id of the guest's system, "" where the agent does not know that question."""
        try:
            found = self._asked("get-osinfo")
        except NoWayError as error:
            if "guest-get-osinfo" in error.reason:
                return ""
            raise
        ident = found.get("id") if isinstance(found, dict) else None
        return ident if isinstance(ident, str) else ""

    def interfaces(self) -> Any:
        """Return what guest-network-get-interfaces answers."""
        return self._asked("network-get-interfaces")

    def run(self, argv: Sequence[str], stdin: bytes, seconds: float, limit: int) -> bytes:
        """Run a program in the guest and return what it prints, up to `limit` bytes."""
        wait = max(int(seconds - START_SECONDS), 1)
        words = ["guest", "exec", self._vmid, "--timeout", str(wait)]
        words += ["--pass-stdin", "1"] if stdin else []
        result = self._qm([*words, "--", *argv], stdin, seconds, ESCAPED * limit + ANSWER_LIMIT)
        answer = _read(result)
        if isinstance(answer, dict) and "exited" not in answer and "pid" in answer:
            raise NoWayError(LATE.format(seconds=wait), LONGER)
        try:
            if not ended(answer):
                raise NoWayError(LATE.format(seconds=wait), LONGER)
        except ApiError:
            raise NoWayError(ODD) from None
        return once(output(answer))[:limit]

    def _asked(self, what: str) -> Any:
        words = ["guest", "cmd", self._vmid, what]
        return _read(self._qm(words, b"", ANSWER_SECONDS, ANSWER_LIMIT))

    def _qm(self, words: Sequence[str], stdin: bytes, seconds: float, most: int) -> bytes:
        command = ["env", "LC_ALL=C", "qm", *words]
        try:
            result = self._runs(command, stdin, seconds, Limit(most, ERROR_LIMIT))
        except TargetError as error:
            raise NoWayError(str(error)) from error
        if result.truncated:
            raise NoWayError(f"answered with more than {most // 2**20} MiB")
        if result.status != 0:
            _refused(result)
        return result.stdout


def _refused(result: ExecResult) -> NoReturn:
    text = result.stderr.decode("utf-8", errors="replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if result.status == 127:
        raise NoWayError("there is no qm on its node", "root on a Proxmox VE node")
    raise _pve_words.shut(lines[-1] if lines else f"qm on its node ended with {result.status}")


def _read(printed: bytes) -> Any:
    try:
        return json.loads(printed.decode("latin-1"))
    except (ValueError, RecursionError):
        raise NoWayError(ODD) from None


def once(data: bytes) -> bytes:
    """Return the bytes of a text that may have been encoded once more than it should be.

    UTF-8 that was encoded again is UTF-8 whose characters are bytes, and these are UTF-8: no text
    that people write looks so.
    """
    try:
        inner = data.decode("utf-8").encode("latin-1")
        inner.decode("utf-8")
    except UnicodeError:
        return data
    return inner
