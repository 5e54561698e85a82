"""Judge moves: each guest against each host where it could go.

Answers are shared: thousands of guests have a few dozen CPUs, and views are resolved once for each
CPU and pair of hosts. Guests that differ in nothing but their names are judged once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

from unmask.cpu import move_views, node_flags
from unmask.cpu.move_views import Views
from unmask.engine.cases import guest_cases
from unmask.errors import UnreadError
from unmask.model.baseline import Node, UnknownNode
from unmask.model.case import GuestCase
from unmask.model.cpu import CpuSpec
from unmask.model.finding import About, Rule
from unmask.model.inventory import Cluster, Guest, GuestState, Host, Inventory, Platform
from unmask.model.move import Answer, Move, MoveCase, Reason
from unmask.model.move_kind import COLD, LIVE, MoveKind

OWN = ("subject", "ident", "name", "location", "declared", "visit", "agent", "os_declared")
"""What tells guests apart without a part in where they can go."""
FIELDS = tuple(item.name for item in fields(Guest) if item.name not in OWN)


@dataclass(frozen=True, slots=True)
class Asked:
    """Which moves are looked at; empty stands for all."""

    guests: frozenset[str] = frozenset()
    """`Guest.subject`."""
    targets: frozenset[str] = frozenset()
    """`Host.subject`."""
    origins: frozenset[str] = frozenset()
    """`Host.subject` of where the guests are."""
    cpu: str = ""
    """The value of `--cpu`."""
    specs: Mapping[str, CpuSpec] = field(default_factory=dict)
    """What that is for each guest, by subject; the others (containers) are as they are."""


def moves(inventory: Inventory, rules: Sequence[Rule], asked: Asked) -> tuple[Move, ...]:
    """Return the answer for each guest and host where it could go, in the inventory's order.

    Guests can go to the other hosts of their cluster. Hosts without a cluster can reach each other
    where they are of one platform, and the hosts of other clusters are looked at where `asked`
    names them.
    """
    return _Judge(inventory, rules, asked).moves()


@dataclass(slots=True)
class _Judge:
    inventory: Inventory
    rules: Sequence[Rule]
    asked: Asked
    places: dict[str, Node | UnknownNode] = field(default_factory=dict)
    numbers: dict[Hashable, int] = field(default_factory=dict)
    """One number for hosts that are equal in all that a view depends on."""
    seen: dict[Hashable, Views] = field(default_factory=dict)
    answers: dict[Hashable, Move] = field(default_factory=dict)
    clusters: dict[str, Cluster] = field(default_factory=dict)
    tenants: dict[str, frozenset[str]] = field(default_factory=dict)
    host_numbers: dict[str, int] = field(default_factory=dict)

    def moves(self) -> tuple[Move, ...]:
        self.rules = [rule for rule in self.rules if rule.about is About.MOVE]
        self.clusters = {cluster.subject: cluster for cluster in self.inventory.clusters}
        tenants: dict[str, set[str]] = defaultdict(set)
        for guest in self.inventory.guests:
            tenants[guest.host].add(guest.subject)
        self.tenants = {host: frozenset(guests) for host, guests in tenants.items()}
        for host in self.inventory.hosts:
            self.places[host.subject] = node_flags.node(host)
            key = (host.cpu, host.offers, host.software, host.parameters, host.platform)
            self.host_numbers[host.subject] = self.numbers.setdefault(key, len(self.numbers))
        found: list[Move] = []
        reach = {host.subject: self._reach(host) for host in self.inventory.hosts}
        for case in guest_cases(self._as_asked()):
            found += self._of_guest(case, reach.get(case.guest.host, ()))
        return tuple(found)

    def _as_asked(self) -> Inventory:
        """Return the inventory with the guests that are asked about, as they would be."""
        asked = self.asked
        guests = [
            guest
            for guest in self.inventory.guests
            if guest.platform is not Platform.UNSEEN
            and (not asked.guests or guest.subject in asked.guests)
            and (not asked.origins or guest.host in asked.origins)
        ]
        specs = asked.specs
        guests = [
            _with_cpu(guest, specs[guest.subject]) if guest.subject in specs else guest
            for guest in guests
        ]
        return replace(self.inventory, guests=tuple(guests))

    def _reach(self, source: Host) -> tuple[Host, ...]:
        return tuple(
            host
            for host in self.inventory.hosts
            if host.subject != source.subject
            and host.platform is source.platform
            and (not self.asked.targets or host.subject in self.asked.targets)
            and (host.cluster == source.cluster or bool(self.asked.targets))
        )

    def _of_guest(self, case: GuestCase, targets: Iterable[Host]) -> Iterable[Move]:
        guest = case.guest
        likeness = (
            tuple(getattr(guest, name) for name in FIELDS),
            self.host_numbers.get(guest.host),
        )
        number = self.numbers.setdefault(likeness, len(self.numbers))
        for target in targets:
            key = (number, target.subject)
            answer = self.answers.get(key)
            if answer is None:
                answer = self.answers[key] = self._judged(case, target)
            yield Move(
                guest.subject, guest.host, target.subject, answer.live, answer.cold, answer.reasons
            )

    def _judged(self, case: GuestCase, target: Host) -> Move:
        views = self._views(case, target)
        move = MoveCase(
            case=case,
            target=target,
            alive=views.alive,
            started=views.started,
            doubt=views.doubt,
            unread=views.unread,
            cluster=self.clusters.get(target.cluster),
            neighbours=self.tenants.get(target.subject, frozenset()),
            asked_cpu=self.asked.cpu,
            start_doubt=views.start_doubt,
        )
        reasons = tuple(
            sorted((reason for rule in self.rules for reason in _said(rule, move)), key=_order)
        )
        return Move(
            case.guest.subject,
            case.guest.host,
            target.subject,
            _answer(LIVE, reasons),
            _answer(COLD, reasons),
            reasons,
        )

    def _views(self, case: GuestCase, target: Host) -> Views:
        guest = case.guest
        key = (
            guest.current, guest.pending, guest.configured, guest.arch, guest.accelerator,
            guest.pending_accelerator, guest.platform, self.host_numbers.get(guest.host),
            self.host_numbers[target.subject],
        )  # fmt: skip
        found = self.seen.get(key)
        if found is None:
            place = self.places[target.subject]
            found = self.seen[key] = move_views.views(case, target, place)
        return found


def _with_cpu(guest: Guest, spec: CpuSpec) -> Guest:
    """Return the guest after a stop and start with another CPU."""
    return replace(
        guest,
        configured=spec,
        running=None,
        pending=None,
        accelerator=guest.pending_accelerator or guest.accelerator,
        pending_accelerator=None,
        state=GuestState.RUNNING,
        lock="" if guest.lock == "suspended" else guest.lock,
    )


def _said(rule: Rule, move: MoveCase) -> Iterable[Reason]:
    """Return what a rule says of a move; where it cannot tell, the kinds it decides are unknown."""
    found = []
    try:
        for problem in rule.check(move):
            reason = Reason(
                rule.code, problem.message, problem.stops, problem.unsure, problem.flags,
                problem.needs,
            )  # fmt: skip
            found.append(reason)
    except UnreadError as error:
        said = f"Not known: {error.reason.rstrip('.')}."
        found.append(Reason(rule.code, said, unsure=rule.decides, needs=error.needs))
    except Exception as error:
        guest, target = move.case.guest.subject, move.target.subject
        error.add_note(f"raised by rule {rule.code} about {guest} to {target}: a bug in unmask")
        raise
    return found


def _answer(kind: MoveKind, reasons: Iterable[Reason]) -> Answer:
    answer = Answer.POSSIBLE
    for reason in reasons:
        if kind in reason.stops:
            return Answer.BLOCKED
        if kind in reason.unsure:
            answer = Answer.UNKNOWN
    return answer


def _order(reason: Reason) -> tuple[int, str, str]:
    rank = 0 if reason.stops else 1 if reason.unsure else 2
    return rank, reason.code, reason.message
