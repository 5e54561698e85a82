"""What Proxmox VE's refusals of a change mean, and what would help.

The words are those of PVE/API2/Qemu.pm, PVE/AbstractConfig.pm, PVE/QemuServer.pm and
PVE/Cluster.pm; the API and `qm` print the same ones. But for the status of HTTP they are all that
tells one refusal from another.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from unmask.connect.proxmox_answer import ApiError
from unmask.errors import ChangeError
from unmask.fixes._target import ChangedError, RefusedError

LOST = frozenset({0, 502, 503, 504, 596})
"""Of HTTP, after which nobody knows whether a request has arrived."""
DENIED = 403
UNDONE = frozenset({401, DENIED, 595})
"""The login is refused, or the guest's node was not reached."""
MOVED = re.compile(r"Configuration file '.*' does not exist")
NODE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?").fullmatch
STALE = re.compile(r"checksum miss?match|detected modified configuration", re.IGNORECASE)
CONFIG = re.compile(r"VM\.Config\.\S+ or \S+ or ")
"""Any of the privileges that let somebody try; only one of them is enough for `cpu`."""

COMMAND = re.compile(r"command '([^\s']+)(?: .*' failed| (?!.*' failed).*$)", re.DOTALL)
"""PVE::Tools::run_command quotes all that it ran when that fails or takes too long."""


@dataclass(frozen=True, slots=True)
class _Saying:
    """Words of Proxmox VE, and a sentence on them in which `{...}` are groups of the pattern."""

    words: re.Pattern[str]
    means: str


SAYINGS = (
    _Saying(
        re.compile(r"VM is locked \((suspended|suspending)\)"),
        "the guest is hibernated, and what it has in its memory belongs to its old CPU: resume it "
        "and shut it down first",
    ),
    _Saying(
        re.compile(r"VM is locked \((?P<lock>[\w-]+)\)"),
        "the guest is locked ({lock}): wait until that is over; where nothing is at work on it any "
        "more, `qm unlock VMID` takes the lock away",
    ),
    _Saying(
        re.compile(r"can't lock file"),
        "another task is at work on the guest: wait until it is over",
    ),
    _Saying(
        re.compile(r"no quorum|/etc/pve/\S* - Permission denied|/etc/pve/\S*: Permission denied"),
        "the cluster has no quorum, so that nothing in it can be changed: bring the other nodes "
        "back (`pvecm status`)",
    ),
    _Saying(
        re.compile(r"only root can set '(?P<option>[\w-]+)'"),
        "only root@pam with a password may change `{option}`, no token may, not even root's",
    ),
    _Saying(
        re.compile(r"Custom cputype '(?P<name>[^']+)' not found"),
        "the cluster has no custom model {name}: it has to be made first",
    ),
    _Saying(
        re.compile(r"Built-in cputype '(?P<name>[^']+)' is not defined"),
        "this version of Proxmox VE has no CPU model {name}",
    ),
    _Saying(
        re.compile(r"VM-specific CPU flags must be a subset of: (?P<flags>[\w, +.-]+)"),
        "Proxmox VE takes only these flags at a guest: {flags}; for others it wants a custom model",
    ),
    _Saying(
        re.compile(r"custom CPU model '(?P<name>[^']+)' already exists"),
        "the cluster has a custom model {name} already, which the login may not see: choose "
        "another name",
    ),
    _Saying(
        re.compile(r"^595 "),
        "the node on which the guest is cannot be reached",
    ),
    _Saying(
        re.compile(r"can't start a vm if it's a template"),
        "the guest is a template, which cannot be started",
    ),
    _Saying(
        re.compile(r"got timeout"),
        "the guest did not do what it was asked to in time",
    ),
)


def without_arguments(text: str) -> str:
    """Return what a task says without the arguments of a command in it.

    QEMU's hold the guest's `args`, and those may hold passwords: they go into no journal.
    """
    return COMMAND.sub(r"command '\1 ...' failed", text)


def lost(error: ApiError) -> bool:
    """Return whether the request may have been carried out in spite of the error."""
    return error.status in LOST


def sure(error: ApiError) -> bool:
    """Return whether nothing was done, so that nobody has to look."""
    return error.status in UNDONE or bool(STALE.search(str(error)))


def moved(error: ApiError) -> bool:
    """Return whether the guest is not on the node that was asked."""
    return bool(MOVED.search(str(error)))


def needs(error: ApiError, vmid: str) -> str:
    """Return the privilege that would help, "" where it is none that is lacking."""
    if error.status != DENIED:
        return error.needs
    if CONFIG.match(error.needs):
        return f"VM.Config.CPU on /vms/{vmid}"
    return error.needs or "a privilege that Proxmox VE does not name"


def refused(error: ApiError, vmid: str) -> ChangeError:
    """Return what to raise for a refusal after which nothing has changed."""
    text = " ".join(str(error).split())
    if STALE.search(text):
        return ChangedError(
            "somebody has changed the guest's configuration in the meantime; nothing was written: "
            "look at it and plan again"
        )
    lacking = needs(error, vmid)
    if error.status == DENIED:
        return RefusedError(f"the login may not do that: it lacks {lacking} ({text})")
    for saying in SAYINGS:
        match = saying.words.search(text)
        if match:
            means = saying.means.format(**match.groupdict()).replace("VMID", vmid)
            return RefusedError(f"{means} ({text})")
    return RefusedError(f"Proxmox VE refuses: {text}" + (f" (needs {lacking})" if lacking else ""))
