"""What has to be settled before a guest is changed: what it costs is taken on, one by one."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from unmask.cli import files, terminal
from unmask.cli.fixing import Site
from unmask.fixes.run import Orders
from unmask.model.change import Constraint, Plan
from unmask.model.fix import FixDocument
from unmask.model.inventory import GuestState
from unmask.model.reading import Known
from unmask.report import _fix, _fix_diff, _fix_records
from unmask.report._paint import Paint
from unmask.report._text import clean

UNMANAGED = ("", "ignored", "disabled", "stopped")
"""States of the HA manager in which it does not keep a guest running; "" is none."""


class FixFormat(StrEnum):
    """How a change is shown."""

    TABLE = "table"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class Shown:
    """Where the report goes, and as what."""

    form: FixFormat
    output: Path | None
    diff: bool

    def begin(self, document: FixDocument) -> None:
        """Write the plan to the report's file: better it cannot be written now than afterwards.

        Raises:
            UsageError: It cannot.
        """
        if self.output and files.is_file(self.output):
            self.show(document)

    def show(self, document: FixDocument) -> None:
        """Write or print the report."""
        if self.diff:
            text = _fix_diff.render(document)
        elif self.form is FixFormat.JSON:
            text = _fix_records.render(document)
        else:
            coloured = self.output is None and terminal.colours(os.environ)
            text = _fix.render(document, terminal.width(os.environ), Paint(coloured))
        if self.output:
            files.write(self.output, text)
        else:
            terminal.put(text)


@dataclass(frozen=True, slots=True)
class Wants:
    """What the operator wants beyond the plan."""

    shown: Shown
    orders: Orders
    dry_run: bool
    yes: bool
    verify: bool
    bench: bool


def settled(
    document: FixDocument, where: Site, wants: Wants
) -> tuple[FixDocument, tuple[Plan, ...]]:
    """Return the document with what is taken on, and the plans to be done: none but all of them."""
    changing_ones = [plan for plan in document.plans if plan.changes]
    if not changing_ones and not document.refused and not any(map(_stopped, document.plans)):
        return document, ()
    if not where.live:
        said = (
            f"Nothing was written: {where.target} is a copy of files, whose guests can be planned "
            "and not changed; name the hypervisor itself."
        )
        return replace(document, verdict=said), ()
    asks = at_terminal() and wants.shown.form is FixFormat.TABLE and not wants.shown.output
    if asks and any(_open(plan) for plan in changing_ones):
        wants.shown.show(document)
        plans = tuple(acknowledged(plan, _asked) for plan in document.plans)
        document = replace(document, plans=plans)
    verdict = _verdict(document, keep_going=wants.orders.keep_going)
    ready = tuple(plan for plan in document.plans if plan.changes and not plan.open)
    if not verdict and not wants.yes:
        count = len(ready)
        what = "this guest" if count == 1 else f"these {count} guests"
        if not (asks and asked(f"Change {what} now?")):
            verdict = "Nothing was written: add --yes to have it done."
    if verdict:
        return replace(document, verdict=verdict), ()
    return document, ready


def _stopped(plan: Plan) -> bool:
    return any(item.fatal for item in plan.constraints)


def _open(plan: Plan) -> bool:
    """Return whether there is something to be asked, and nothing that makes asking useless."""
    return bool(plan.open) and not _stopped(plan)


def _asked(plan: Plan, item: Constraint) -> bool:
    name = clean(plan.place.name or plan.place.subject, 60)
    return asked(f"{name}: {item.code} {clean(item.message)} Take this on?")


def _verdict(document: FixDocument, *, keep_going: bool) -> str:
    """Return why nothing is written, a full sentence; "" where nothing is in the way.

    With `keep_going` guests that cannot be changed are left out, where there are others.
    """
    fatal = [plan for plan in document.plans if _stopped(plan)]
    plans = [plan for plan in document.plans if plan not in fatal]
    left = [plan.place.subject for plan in fatal] + [name for name, _ in document.refused]
    if left and not (keep_going and any(plan.changes for plan in plans)):
        names = ", ".join(left[:5]) + (f" and {len(left) - 5} more" if len(left) > 5 else "")
        others = "; --keep-going leaves it out" if plans and not keep_going else ""
        return f"Nothing was written: {names} cannot be changed so{others}."
    codes = sorted({item.code for plan in plans for item in plan.open})
    if codes:
        options = " ".join(f"--ack {code}" for code in codes)
        return f"Nothing was written: to take on what it costs, add {options}."
    return ""


def acknowledged(plan: Plan, answers: Callable[[Plan, Constraint], bool]) -> Plan:
    """Return the plan with what the operator takes on, asked one by one."""
    return replace(
        plan,
        constraints=tuple(
            item
            if item.fatal or item.acknowledged
            else replace(item, acknowledged=answers(plan, item))
            for item in plan.constraints
        ),
    )


def at_terminal() -> bool:
    """Return whether somebody is there to be asked."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def asked(question: str) -> bool:
    """Ask a question at the terminal; whatever is not yes is no."""
    terminal.put(f"{question} [y/N] ")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def hindered(where: Site, plans: Sequence[Plan], wants: Wants) -> str:
    """Return why the restart or the look inside would fail, a full sentence; "" where it may go.

    Both come after the write, so that it is better not to begin.
    """
    return (_closed(where, plans) if wants.verify else "") or _managed(where, plans, wants.orders)


def _managed(where: Site, plans: Sequence[Plan], orders: Orders) -> str:
    """The HA manager of Proxmox VE pulls the plug of a guest that is not off in time."""
    if not orders.restart or orders.force_stop:
        return ""
    states = {item.subject: item.high_availability for item in where.inventory.guests}
    kept = [plan.place.subject for plan in plans if states[plan.place.subject] not in UNMANAGED]
    if not kept:
        return ""
    return (
        f"Nothing was written: high availability manages {', '.join(kept[:5])}, and its manager "
        "pulls the plug of a guest that is not off in time: add --force-stop to allow that, or "
        "leave --restart out and restart it yourself."
    )


def _closed(where: Site, plans: Sequence[Plan]) -> str:
    """Return why guests cannot be looked into after a restart, a full sentence; "" where they can.

    A guest that is off is not restarted.
    """
    guests_of = {guest.subject: guest for guest in where.inventory.guests}
    for plan in plans:
        guest = guests_of[plan.place.subject]
        if guest.state is GuestState.RUNNING and not isinstance(guest.visit.inside, Known):
            why = [gap.reason for gap in where.inventory.gaps if gap.subject == guest.subject]
            said = why[0] if why else "it was not tried"
            return (
                f"Nothing was written: --verify looks into guests, and nobody could look into "
                f"{guest.subject} now: {said}."
            )
    return ""
