"""What Proxmox VE says of a guest agent that cannot be used, and what would help.

The words are those of PVE/QemuServer/Agent.pm and of QEMU's agent (qga/main.c, qga/commands.c); the
API and `qm` print the same ones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from unmask.model.inventory import Guest
from unmask.probes._section import printable
from unmask.visits._channel import NoWayError

PACKAGE = "the package qemu-guest-agent in the guest"
OFF = NoWayError(
    "the guest agent is not switched on in its options",
    f"agent: 1 in its options (it takes a stop and start), and {PACKAGE}",
)


@dataclass(frozen=True, slots=True)
class _Saying:
    """Words of Proxmox VE, and what they mean."""

    words: re.Pattern[str]
    reason: str
    needs: str = ""
    altogether: bool = True
    """No other question would be answered either."""


SAYINGS = (
    _Saying(
        re.compile(r"no qemu guest agent configured", re.IGNORECASE),
        OFF.reason,
        OFF.needs,
    ),
    _Saying(
        re.compile(r"guest agent is not running|guest-\S+' failed - got timeout", re.IGNORECASE),
        "the guest agent does not answer",
        f"{PACKAGE}, running",
    ),
    _Saying(re.compile(r"VM \d+ (is )?not running"), "it does not run any more"),
    _Saying(
        re.compile(r"conf' does not exist"),
        "it has moved to another node or is gone",
        "another try",
    ),
    _Saying(
        re.compile(r"guest-exec\S* has been (disabled|frozen)|guest-exec\S* is disabled|frozen"),
        "the guest agent may not run programs",
        "guest-exec allowed in the guest agent's own configuration",
        altogether=False,
    ),
    _Saying(
        re.compile(r"failed to execute child process|CreateProcess", re.IGNORECASE),
        "the guest has no shell where the guest agent looks for one",
        altogether=False,
    ),
    _Saying(
        re.compile(r"Invalid parameter 'pid'"),
        "the guest agent lost the answer: it was restarted, or the answer got lost on its way",
        "another try",
        altogether=False,
    ),
)


def shut(text: str, needs: str = "") -> NoWayError:
    """Return why a guest cannot be entered, from what Proxmox VE has said.

    Args:
        text: Of the error; it may quote what the guest's agent says.
        needs: What would help, where the error itself tells.
    """
    for saying in SAYINGS:
        if saying.words.search(text):
            return NoWayError(saying.reason, needs or saying.needs)
    return NoWayError(" ".join(printable(text).split())[:300] or "no reason was given", needs)


def need_agent(guest: Guest) -> None:
    """Raise `NoWayError` where the guest's options alone say that no agent can be asked."""
    if guest.agent is False:
        raise NoWayError(OFF.reason, OFF.needs)


def altogether(why: NoWayError) -> bool:
    """Return whether there is nobody who would answer any other question."""
    return any(saying.altogether and saying.reason == why.reason for saying in SAYINGS)
