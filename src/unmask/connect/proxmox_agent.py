"""The guest agent of one guest, by way of Proxmox VE's API.

What a program prints comes as text with one character for each byte, and a finished program is told
of exactly once (PVE/API2/Qemu/Agent.pm, qga/commands.c).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unmask.connect.proxmox_answer import ApiError

if TYPE_CHECKING:
    from unmask.connect.proxmox import Api

INPUT_LIMIT = 64 * 1024
"""Characters of `input-data` (its schema)."""
ANSWER_LIMIT = 4 * 1024 * 1024
"""Bytes of an answer on the guest's system or its network."""
ESCAPED = 6
"""Bytes that JSON takes for one byte of output at most, such as a control character's."""
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 1.0
"""Seconds between two questions whether a program has ended."""
LATE = "the program in the guest did not end within {seconds:.3g} s"
LONGER = "a longer --guest-timeout"
ODD = "the answer of the guest agent is not what Proxmox VE sends"


@dataclass(frozen=True, slots=True)
class ApiAgent:
    """One guest's agent. Every method raises `ApiError` where there is no answer, or an odd one."""

    api: Api
    node: str
    vmid: str

    def system(self) -> str:
        """Return the id of the guest's system ("debian", "mswindows"), "" where it has none."""
        found = self._asked("get-osinfo")
        ident = found.get("id") if isinstance(found, dict) else None
        return ident if isinstance(ident, str) else ""

    def interfaces(self) -> Any:
        """Return what guest-network-get-interfaces answers."""
        return self._asked("network-get-interfaces")

    def run(self, argv: Sequence[str], stdin: bytes, seconds: float, limit: int) -> bytes:
        """Run a program in the guest and return what it prints, up to `limit` bytes."""
        if len(stdin) > INPUT_LIMIT:
            raise ApiError("the program for the guest is longer than Proxmox VE takes")
        end = time.monotonic() + seconds
        form: dict[str, str | list[str]] = {"command": list(argv)}
        if stdin:
            form["input-data"] = stdin.decode("latin-1")
        with self.api.clock.within(seconds):
            started = self.api.post(f"{self._path}/exec", form)
        pid = started.get("pid") if isinstance(started, dict) else None
        if not isinstance(pid, int) or pid < 0:
            raise ApiError(ODD)
        pause = FIRST_PAUSE
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(pause, left))
            pause = min(pause * 1.5, LONGEST_PAUSE)
            answer = self._status(pid, max(end - time.monotonic(), 0.1), limit)
            if ended(answer):
                return output(answer)[:limit]
        raise ApiError(LATE.format(seconds=seconds), LONGER)

    def _status(self, pid: int, seconds: float, limit: int) -> Any:
        most = ESCAPED * limit + ANSWER_LIMIT
        with self.api.clock.within(seconds):
            return self.api.get_up_to(most, f"{self._path}/exec-status", pid=str(pid))

    def _asked(self, what: str) -> Any:
        answer = self.api.get_up_to(ANSWER_LIMIT, f"{self._path}/{what}")
        if not isinstance(answer, dict) or "result" not in answer:
            raise ApiError(ODD)
        return answer["result"]

    @property
    def _path(self) -> str:
        return f"nodes/{self.node}/qemu/{self.vmid}/agent"


def ended(answer: Any) -> bool:
    """Return whether exec-status tells of a program that has ended.

    Raises:
        ApiError: It is no answer of exec-status.
    """
    if not isinstance(answer, Mapping) or answer.get("exited") not in (0, 1):
        raise ApiError(ODD)
    return bool(answer["exited"])


def output(answer: Mapping[str, Any]) -> bytes:
    """Return the bytes of the standard output that exec-status has."""
    text = answer.get("out-data")
    return text.encode("latin-1", "replace") if isinstance(text, str) else b""
