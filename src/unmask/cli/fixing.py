"""From the command line of `unmask fix` to plans, and to what they do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

import typer

from unmask import plugins
from unmask.cli import choices, collecting, guests, terminal
from unmask.cli.collecting import Asked
from unmask.dialects.libvirt import cpu_same
from unmask.engine import run as judging
from unmask.engine.cases import guest_cases
from unmask.engine.collect import Collected, Visit
from unmask.errors import ChangeError, TargetError, UnmaskError, UsageError
from unmask.fixes import _pve_value
from unmask.fixes._target import Target as ChangeTarget
from unmask.fixes.plan import plan as make_plan
from unmask.model.bench import BenchResult
from unmask.model.case import GuestCase
from unmask.model.change import Constraint, Place, Plan, Setting
from unmask.model.inventory import Guest, GuestKind, Inventory, Platform
from unmask.model.source import CollectOptions, Source
from unmask.model.workload import Finder
from unmask.report._known import known
from unmask.report._text import listed


@dataclass(frozen=True, slots=True)
class Site:
    """The one target whose guests are planned."""

    target: str
    live: bool
    """False for copies of files and saved inventories: nothing can be written there."""
    options: CollectOptions
    inventory: Inventory
    read_again: Callable[[], Inventory]
    """Reads it anew, without a look into its guests."""
    figures: tuple[BenchResult, ...] = ()
    """What CPU models were measured to amount to on nodes."""
    name: str = ""
    """Of the configured target; "" for none."""

    def cases(self, inventory: Inventory | None = None) -> tuple[GuestCase, ...]:
        """Return its guest cases with workloads."""
        finders = plugins.load("unmask.workloads", "WORKLOAD", Finder)
        return guest_cases(inventory or self.inventory, finders, self.figures)


def site(asked: Asked, named: Sequence[str] = ()) -> Site:
    """Read the target that is named, and look into its guests.

    Args:
        asked: What the command line says of the target.
        named: The guests to look into, as `--vm` names them; all where empty.

    Raises:
        UsageError: There is not exactly one.
        TargetError: It cannot be read.
    """
    settings, wanted = collecting.chosen(asked)
    measured = choices.figures(asked.figures)
    if len(wanted) != 1:
        raise UsageError(
            f"guests of one hypervisor are changed at a time, and there are {len(wanted)} targets: "
            "name one"
        )
    options_for = collecting.options(asked, settings, wanted)
    seen: dict[str, tuple[bool, CollectOptions]] = {}
    look = _only(named, guests.visitor(settings))

    def note(source: Source, target: str, found: Inventory, options: CollectOptions) -> Inventory:
        seen[target] = (source.live, options)
        return look(source, target, found, options)

    def outside(_s: Source, _t: str, found: Inventory, _o: CollectOptions) -> Inventory:
        return found

    def again() -> Inventory:
        read = _read(wanted, options_for, outside, verbose=False)
        if read.nothing:
            raise TargetError(read.failures[0].sentence)
        return read.inventory

    read = _read(wanted, options_for, note, verbose=asked.verbose)
    address = wanted[0].address
    if read.failures:
        raise typer.Exit(read.exit_code)  # what went wrong is said already
    if address not in seen:
        raise TargetError(f"{address}: not read")
    return Site(address, *seen[address], read.inventory, again, measured, wanted[0].name)


def _only(named: Sequence[str], look: Visit) -> Visit:
    """Return a visit that looks into the named guests alone; into all where none is named."""
    words = set(words_of(named))
    if not words:
        return look

    def visit(source: Source, target: str, found: Inventory, options: CollectOptions) -> Inventory:
        inside = tuple(item for item in found.guests if words & _names(item))
        looked = look(source, target, replace(found, guests=inside), options)
        visited = {item.subject: item for item in looked.guests}
        every = tuple(visited.get(item.subject, item) for item in found.guests)
        return replace(looked, guests=every)

    return visit


def _read(*words: Any, **more: Any) -> Collected:
    """Read as `collecting.read` does; half of what was asked for is nothing to change guests by.

    Raises:
        KeyboardInterrupt: Ctrl-C ended it.
    """
    read = collecting.read(*words, **more)
    if read.interrupted:
        raise KeyboardInterrupt
    return read


def words_of(named: Sequence[str]) -> tuple[str, ...]:
    """Return the guests' names that `--vm` has, each once."""
    words = (part.strip() for text in named for part in text.split(","))
    return tuple(dict.fromkeys(filter(None, words)))


def _names(guest: Guest) -> frozenset[str]:
    return frozenset(guest.names)


def chosen(where: Site, named: Sequence[str], codes: Sequence[str]) -> tuple[Guest, ...]:
    """Return the guests that are asked for: by name, or all with findings of these codes.

    Raises:
        UsageError: There is no such guest, or several are called so.
    """
    found = where.inventory.guests
    if not named:
        rules = choices.rules(codes, None)
        outcome = judging.judge(where.inventory, rules, where.cases())
        subjects = {finding.subject for finding in outcome.findings}
        return tuple(guest for guest in found if guest.subject in subjects)
    wanted: dict[str, Guest] = {}
    for word in words_of(named):
        fitting = [item for item in found if word in _names(item)]
        if not fitting:
            names = (item.name or item.ident for item in found)
            raise UsageError(f"--vm {word}: there is no such guest; {known(word, names)}")
        if len(fitting) > 1:
            several = listed([item.subject for item in fitting])
            raise UsageError(f"--vm {word}: several guests are called so; name one of {several}")
        wanted.setdefault(fitting[0].subject, fitting[0])
    return tuple(wanted.values())


@dataclass(slots=True)
class Planner:
    """Makes the plans of one command line, and makes them again right before they are done."""

    where: Site
    wish: str
    acks: frozenset[str]
    open: Callable[[Place], ChangeTarget]
    made: list[Plan] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)

    def plans(self, wanted: Sequence[Guest]) -> None:
        """Make a plan for each guest.

        Raises:
            UnmaskError: There is none for the only guest that is asked for.
        """
        cases = self.where.cases()
        for number, guest in enumerate(wanted, 1):
            if len(wanted) > 1:
                terminal.progress(f"planning guest {number} of {len(wanted)}")
            try:
                self.made.append(self._plan(guest, self.where.inventory, cases))
            except UnmaskError as error:
                if len(wanted) == 1:
                    raise
                self.refused.append((guest.subject, str(error)))
        terminal.progress("")

    def _plan(self, guest: Guest, read: Inventory, cases: Sequence[GuestCase]) -> Plan:
        before = self._before(guest) if self.where.live else None
        plan = make_plan(
            read,
            cases,
            guest.subject,
            self.wish,
            self.acks,
            target=self.where.target,
            before=before,
        )
        # The journal keeps it, so that undo and recover go in by the same login.
        return replace(plan, place=replace(plan.place, login=self.where.name))

    def _before(self, guest: Guest) -> Setting | None:
        """Return what the hypervisor says now; None for what has no CPU of its own."""
        if guest.kind is not GuestKind.VM or guest.platform is Platform.UNSEEN:
            return None
        place = Place(
            self.where.target,
            guest.subject,
            guest.ident,
            guest.name,
            guest.platform,
            guest.node,
            self.where.name,
        )
        with closing(self.open(place)) as target:
            return target.read()

    def recheck(self, plan: Plan) -> Sequence[Constraint]:
        """Return the constraints as they are now; what was read inside of guests is kept.

        Raises:
            TargetError: It cannot be read again.
            ChangeError: The guest is gone, or the wish would come to something else now.
        """
        visits = {guest.subject: guest for guest in self.where.inventory.guests}
        fresh = self.where.read_again()
        fresh = replace(fresh, guests=tuple(_with_visit(item, visits) for item in fresh.guests))
        if not any(item.subject == plan.place.subject for item in fresh.guests):
            raise ChangeError(f"{plan.place.subject} is not there any more")
        acks = {item.code for item in plan.constraints if item.acknowledged}
        # Of Proxmox VE's value a wish can be made again, whatever was recommended meanwhile.
        proxmox = plan.place.platform is Platform.PROXMOX
        wish = (plan.after.value if proxmox else None) or self.wish
        again = make_plan(
            fresh,
            self.where.cases(fresh),
            plan.place.subject,
            wish,
            acks,
            target=self.where.target,
            before=plan.before,
        )
        made = again.custom_model or plan.custom_model  # somebody may have made it meanwhile
        same = _pve_value.same if proxmox else cpu_same.same
        if not same(again.after.value, plan.after.value) or made != plan.custom_model:
            # These costs would be another CPU's than the one that is written.
            raise ChangeError(
                f"--cpu {self.wish} comes to something else now than when this was planned: what "
                "was read has changed; nothing was written; plan it again"
            )
        return again.constraints


def _with_visit(guest: Guest, visits: dict[str, Guest]) -> Guest:
    old = visits.get(guest.subject)
    return replace(guest, visit=old.visit, declared=old.declared) if old else guest
