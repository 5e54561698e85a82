"""Empty a node: for each of its guests where to, alive where that goes, stopped where it does not.

The guests with the fewest choices are placed first. Among the targets that take a guest in the same
way, the one with the fewest guests is chosen, so that the load spreads by number. Rules that keep
guests apart or together hold among those that are placed, too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from unmask.model.inventory import Guest, GuestState, Inventory
from unmask.model.migration import Plan, Step
from unmask.model.move import Answer, Move, Reason
from unmask.model.move_kind import COLD, LIVE
from unmask.model.reading import Known
from unmask.model.tie import Confinement, Tie

RANKS = ("live", "cold", "unknown")
"""How a guest goes, the best first."""


def plan(
    inventory: Inventory, node: str, moves: Iterable[Move], only: Collection[str] = ()
) -> Plan:
    """Return how the host `node` (a subject) is emptied.

    Args:
        inventory: All hosts and guests.
        node: `Host.subject`.
        moves: The judged moves of the node's guests.
        only: Subjects of guests, where not all of the node's are asked about.
    """
    choices: dict[str, list[Move]] = defaultdict(list)
    for move in moves:
        if move.origin == node:
            choices[move.guest].append(move)
    guests = [
        guest
        for guest in inventory.guests
        if guest.host == node and (not only or guest.subject in only)
    ]
    before = Counter(guest.host for guest in inventory.guests)
    placing = _Placing(
        names={host.subject: host.name for host in inventory.hosts},
        loads=Counter(before),
        where={guest.subject: guest.host for guest in inventory.guests},
        here={guest.subject for guest in inventory.guests if guest.host == node},
        ways={
            guest.subject: {move.target for move in choices[guest.subject] if how(guest, move)}
            for guest in guests
        },
    )
    order = sorted(guests, key=lambda guest: _freedom(guest, choices[guest.subject]))
    steps = [placing.step(guest, choices[guest.subject]) for guest in order]
    targets = sorted({move.target for listed in choices.values() for move in listed})
    loads = tuple((target, before[target], placing.loads[target]) for target in targets)
    return Plan(node, tuple(sorted(steps, key=_order)), loads)


def _order(step: Step) -> tuple[int, str]:
    rank = RANKS.index(step.how) if step.how in RANKS else len(RANKS)
    return rank, step.guest


def how(guest: Guest, move: Move) -> str:
    """Return how a guest would go there: "live", "cold", "unknown" or ""."""
    stopped = guest.state in (GuestState.STOPPED, GuestState.SUSPENDED) or guest.template
    if move.live is Answer.POSSIBLE and not stopped:
        return "live"
    if move.cold is Answer.POSSIBLE:
        return "cold"
    return "unknown" if Answer.UNKNOWN in (move.live, move.cold) else ""


def _freedom(guest: Guest, moves: Sequence[Move]) -> tuple[int, int, str]:
    """Return a key that puts those with the fewest choices first."""
    ways = Counter(how(guest, move) for move in moves)
    return ways["live"], ways["cold"], guest.subject


@dataclass(slots=True)
class _Placing:
    names: dict[str, str]
    loads: Counter[str]
    where: dict[str, str]
    """Where each guest is or has been placed."""
    here: set[str]
    """Guests that are still on the node."""
    ways: dict[str, set[str]]
    """Where each guest that is asked about could go at all."""

    def step(self, guest: Guest, moves: Sequence[Move]) -> Step:
        """Place one guest."""
        ranked = sorted(
            (self._rank(guest, move), move.target, move)
            for move in moves
            if how(guest, move) and self._allowed(guest, move.target)
        )
        if not ranked:
            return Step(guest.subject, "", "stays", reasons=_why(moves, (LIVE, COLD)))
        _, target, move = ranked[0]
        way = how(guest, move)
        if way == "unknown":
            return Step(guest.subject, target, way, reasons=_open(move))
        self.where[guest.subject] = target
        self.here.discard(guest.subject)
        self.loads[target] += 1
        why = _why([move], (LIVE,)) if way == "cold" else ()
        return Step(guest.subject, target, way, self._copies(guest, target), why)

    def _rank(self, guest: Guest, move: Move) -> tuple[int, int, bool, int]:
        return (
            RANKS.index(how(guest, move)),
            self._dislikes(guest, move.target),
            self._copies(guest, move.target),
            self.loads[move.target],
        )

    def _allowed(self, guest: Guest, target: str) -> bool:
        """Return whether the strict rules hold with those that are placed already."""
        return all(self._holds(rule, target) for rule in _rules(guest) if rule.strict)

    def _dislikes(self, guest: Guest, target: str) -> int:
        """Return how many preferences speak against a target."""
        return sum(not self._holds(rule, target) for rule in _rules(guest) if not rule.strict)

    def _holds(self, rule: Confinement, target: str) -> bool:
        if rule.nodes and self.names.get(target) not in rule.nodes:
            return False
        if any(self.where.get(other) == target for other in rule.apart):
            return False
        staying = self.here.intersection(rule.together, self.ways)
        if any(target not in self.ways[other] for other in staying):
            return False
        placed = {
            self.where[other]
            for other in rule.together
            if other in self.where and other not in self.here
        }
        return not placed or target in placed

    def _copies(self, guest: Guest, target: str) -> bool:
        return any(self.names.get(target) in tie.copied_to for tie in _ties(guest))


def _rules(guest: Guest) -> tuple[Confinement, ...]:
    return guest.confined.value if isinstance(guest.confined, Known) else ()


def _ties(guest: Guest) -> tuple[Tie, ...]:
    return guest.ties.value if isinstance(guest.ties, Known) else ()


def _why(moves: Iterable[Move], kinds: Iterable[object]) -> tuple[Reason, ...]:
    """Return the reasons that stop any of `kinds`, one of each code."""
    wanted = set(kinds)
    found: dict[str, Reason] = {}
    for move in moves:
        for reason in move.reasons:
            if wanted.intersection(reason.stops) or wanted.intersection(reason.unsure):
                found.setdefault(reason.code, reason)
    return tuple(found[code] for code in sorted(found))


def _open(move: Move) -> tuple[Reason, ...]:
    return tuple(reason for reason in move.reasons if reason.stops or reason.unsure)
