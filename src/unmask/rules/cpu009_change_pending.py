"""A change of the guest's CPU waits for a stop and start.

## Why it matters

A CPU model cannot change while QEMU runs. The configuration already shows the new one, and the
guest still has the old one: a benchmark, a report, or a colleague may take the one for the other.
Restarting the guest's operating system is not enough, because the same QEMU process goes on, and
a live migration carries the old CPU along.

## How it decides

It fires where the source has seen a pending change, and compares what the guest sees now with
what it will see: the flags that matter are named as gained or lost. Info, and low where the
change takes AES or PCLMULQDQ away or gives them. A change with which the guest would not start is
said to be one, and CPU005 says why.

## Remedy

Stop the guest and start it again. On Proxmox VE the command `qm reboot` does both and applies the
change; a reboot from inside the guest does not. With libvirt, shut the domain down and start it;
a managed save keeps the old CPU.

## What fix does

`unmask fix` takes the change that waits for the state to start from, and says so in its plan;
`--restart` lets it take effect.

## When to accept it

Until the next planned stop.

## References

- qemu-server, src/PVE/QemuServer.pm, vmconfig_apply_pending; observed with Proxmox VE 9.2
- libvirt: the live and the inactive XML of a domain
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.cpu.features import reported
from unmask.errors import UnreadError
from unmask.model.case import GuestCase
from unmask.model.cpu import FeatureView, State
from unmask.model.finding import About, Problem, Rule, Severity
from unmask.rules import _advice, _commands, _words

NOT_A_REBOOT = "A reboot from inside the guest keeps the old CPU."
NO_START = "With this change it does not start on its host."
RESTART = "Stop the guest and start it again when that suits."
CORRECT = "Correct the configuration first: with this change the guest does not start (CPU005)."
NOTHING = "None of the flags that matter changes."


def check(case: GuestCase) -> Iterator[Problem]:
    """Yield a problem where a change is pending; what it brings may be unknown."""
    later = case.pending
    if later is None:
        return
    gained, perhaps_gained = _new(case.view, later)
    lost, perhaps_lost = _new(later, case.view)
    unknown = State.UNKNOWN in (case.view.rest, later.rest)
    touched = _advice.BOTH.intersection(gained + lost + perhaps_gained + perhaps_lost)
    yield Problem(
        severity=Severity.LOW if touched else Severity.INFO,
        message=_words.about(
            case,
            f"the guest has {case.view.label} now and will have {later.label} after a stop and "
            "start",
        ),
        evidence=(
            *_sure(gained, lost),
            *_open(perhaps_gained, "gain"),
            *_open(perhaps_lost, "lose"),
            *([] if any((gained, lost, perhaps_gained, perhaps_lost, unknown)) else [NOTHING]),
            NOT_A_REBOOT,
            *([] if later.starts else [NO_START]),
        ),
        remedy=RESTART if later.starts else CORRECT,
        command=_commands.restart(case) if later.starts else "",
        flags=tuple(sorted(gained + lost)),
    )
    if unknown:
        label = later.label if later.rest is State.UNKNOWN else case.view.label
        raise UnreadError(f"what {label} shows is not known, so gains and losses are not complete")


def _new(before: FeatureView, after: FeatureView) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the flags that matter, hidden before and shown after: for sure, and perhaps.

    Perhaps means that it depends on a host whose flags are not known.
    """
    hidden = [flag for flag in reported(before.arch) if before.hides(flag)]
    sure = tuple(flag for flag in hidden if after.state(flag) is State.SHOWN)
    return sure, tuple(flag for flag in hidden if after.state(flag) is State.HOST)


def _sure(gained: tuple[str, ...], lost: tuple[str, ...]) -> Iterator[str]:
    if gained:
        yield f"It will gain {_words.flags(gained)}."
    if lost:
        yield f"It will lose {_words.flags(lost)}."


def _open(flags: tuple[str, ...], verb: str) -> Iterator[str]:
    """Yield what depends on the host; the flags of encryption stand for the rest."""
    decisive = _advice.BOTH.intersection(flags)
    if flags:
        named = f"{_words.flags(decisive)} and others" if decisive else "some flags"
        yield f"Whether it will {verb} {named} depends on its host, whose flags are not known."


RULE = Rule("CPU009", "A CPU change waits for a stop and start", About.GUEST, check)
