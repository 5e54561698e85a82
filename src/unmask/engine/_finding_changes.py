"""What became of findings from one audit to another.

A finding is known by its code and subject, and by what it says where a subject has several of one
code. That one is not there any more means nothing before the later audit is known to have looked.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from unmask.engine._presence import Glance, Side, less, likeness
from unmask.model.difference import Change, FindingChange
from unmask.model.finding import Finding

Key: TypeAlias = tuple[str, str]
"""A code, and a subject as it is called now."""
Grouped: TypeAlias = dict[Key, list[Finding]]

ORDER = tuple(Change)


def changes(old: Side, new: Side, names: Mapping[str, str]) -> tuple[FindingChange, ...]:
    """Return what became of every finding that is open in one of two audits.

    Args:
        old: The earlier audit.
        new: The later one.
        names: The new subjects of guests that have another one now, by the old.
    """
    comparison = _Comparison(old, new, names)
    return tuple(sorted(comparison.all(), key=_order))


def _order(item: FindingChange) -> tuple[int, int, str, str, str]:
    found = item.shown
    return (
        ORDER.index(item.change),
        -found.problem.severity,
        found.code,
        found.subject,
        found.problem.message,
    )


class _Comparison:
    """Two audits, and the looks from each at what the other has."""

    def __init__(self, old: Side, new: Side, names: Mapping[str, str]) -> None:
        self.old = old
        self.new = new
        self.names = names
        self.back = {now: then for then, now in names.items()}
        self.forth = Glance(new, old, names)
        self.return_ = Glance(old, new, self.back)

    def all(self) -> Iterator[FindingChange]:
        before = _grouped(self.old.audit.findings, self.names)
        after = _grouped(self.new.audit.findings, {})
        agreed = (
            _grouped((item.finding for item in self.old.audit.accepted), self.names),
            _grouped((item.finding for item in self.new.audit.accepted), {}),
        )
        for key in sorted(before.keys() | after.keys()):
            found = _Matched(before.get(key, []), after.get(key, []))
            found.match()
            for one, other in found.pairs:
                yield self._both(one, other)
            yield from self._open_then(found.before, agreed[1].get(key, []))
            yield from self._open_now(found.after, agreed[0].get(key, []))

    def _both(self, then: Finding, now: Finding) -> FindingChange:
        same = then.problem.severity is now.problem.severity and _likeness(then) == _likeness(now)
        if same:
            return FindingChange(Change.UNCHANGED, then, now)
        return FindingChange(Change.CHANGED, then, now, self._why(then, now))

    def _why(self, then: Finding, now: Finding) -> str:
        """Return that a guest was seen less, or more, which changes what a finding says."""
        before, after = self.old.guests.get(then.subject), self.new.guests.get(now.subject)
        if before is None or after is None:
            return ""
        lost, won = less(after, before), less(before, after)
        return f"now {lost}" if lost else f"before {won}" if won else ""

    def _open_then(
        self, findings: list[Finding], accepted: list[Finding]
    ) -> Iterator[FindingChange]:
        agreed = _agreed(findings, accepted)
        for finding, one in agreed.pairs:
            yield FindingChange(Change.ACCEPTED, finding, one)
        for finding in agreed.before:
            why = self.forth.unchecked(finding)
            change = Change.UNCHECKED if why else Change.GONE
            subject = self.names.get(finding.subject, finding.subject)
            note = why or ("" if subject in self.new.subjects else "it is not there any more")
            yield FindingChange(change, finding, None, note)

    def _open_now(
        self, findings: list[Finding], accepted: list[Finding]
    ) -> Iterator[FindingChange]:
        agreed = _agreed(findings, accepted)
        for finding, one in agreed.pairs:
            yield FindingChange(Change.REOPENED, one, finding)
        for finding in agreed.before:
            why = self.return_.unchecked(finding)
            change = Change.SEEN if why else Change.NEW
            subject = self.back.get(finding.subject, finding.subject)
            note = why or ("" if subject in self.old.subjects else "it was not there before")
            yield FindingChange(change, None, finding, note)


def _grouped(findings: Iterable[Finding], names: Mapping[str, str]) -> Grouped:
    found: Grouped = defaultdict(list)
    for item in findings:
        found[item.code, names.get(item.subject, item.subject)].append(item)
    for group in found.values():
        group.sort(key=lambda item: (-item.problem.severity, item.problem.message))
    return dict(found)


@dataclass(slots=True)
class _Matched:
    """The findings of one code and subject: the same before and after, and those left over.

    First those are the same that say the same, then those that say it with other numbers; a single
    one on each side has changed what it says. Of more it cannot be told which became which.
    """

    before: list[Finding]
    after: list[Finding]
    pairs: list[tuple[Finding, Finding]] = field(default_factory=list)

    def match(self) -> None:
        """Find the pairs; `before` and `after` keep the rest."""
        self._match(_message)
        self._match(_likeness)
        if len(self.before) == len(self.after) == 1 and not self.pairs:
            self.pairs.append((self.before.pop(), self.after.pop()))

    def _match(self, said: Callable[[Finding], str]) -> None:
        """Pair those that say the same, the first with the first; there may be thousands."""
        waiting: dict[str, deque[int]] = defaultdict(deque)
        for place, item in enumerate(self.after):
            waiting[said(item)].append(place)
        rest, taken = [], set[int]()
        for one in self.before:
            places = waiting.get(said(one))
            if places:
                taken.add(places[0])
                self.pairs.append((one, self.after[places.popleft()]))
            else:
                rest.append(one)
        self.before = rest
        self.after = [item for place, item in enumerate(self.after) if place not in taken]


def _message(item: Finding) -> str:
    return item.problem.message


def _likeness(item: Finding) -> str:
    return likeness(item.problem.message)


def _agreed(findings: list[Finding], accepted: list[Finding]) -> _Matched:
    """Return which of the findings are the accepted ones of another audit.

    The only one that is left is meant even where it says something else.
    """
    found = _Matched(findings, accepted)
    found.match()
    if found.before and len(found.after) == 1:
        found.pairs.append((found.before.pop(0), found.after.pop()))
    return found
