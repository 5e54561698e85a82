"""Compare two audits: findings, what came and went, CPUs, workloads, and what was not seen.

The comparison does not depend on the order in which an audit has things, and says the same with
old and new in each other's places, mirrored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from unmask.engine import _finding_changes
from unmask.engine._presence import Glance, Side, less, likeness, renamed
from unmask.model.difference import (
    Audit,
    Change,
    CpuChange,
    Difference,
    Passage,
    Passing,
    SeenGuest,
    SeenHost,
    WorkloadChange,
)
from unmask.model.finding import Finding, Severity, Skip
from unmask.model.inventory import Gap

T = TypeVar("T")

LISTED = 8
"""Targets and codes that a sentence names one by one."""
ABSENT, UNSEEN = "none", "not seen"
OPEN = (Change.SEEN, Change.UNCHECKED)
"""What became of findings that one of the audits could not check."""
MISSED = (Passage.SEEN, Passage.UNSEEN)


def compare(old: Audit, new: Audit) -> Difference:
    """Return all that changed from one audit to another."""
    old, new = _sorted(old), _sorted(new)
    before, after = Side(old), Side(new)
    names = renamed(before, after)
    at_old = Glance(before, after, {now: then for then, now in names.items()})
    at_new = Glance(after, before, names)
    both = [
        (then, after.guests[subject])
        for then in sorted(old.guests, key=lambda guest: guest.subject)
        if (subject := names.get(then.subject, then.subject)) in after.guests
    ]
    findings = _finding_changes.changes(before, after, names)
    passings = sorted(
        (
            *_altered(both, before, after),
            *_passed(at_old, Passage.CAME, Passage.SEEN),
            *_passed(at_new, Passage.WENT, Passage.UNSEEN),
        ),
        key=_order,
    )
    told = bool(old.rules) == bool(new.rules) and set(old.rules) == set(new.rules)
    missed = any(item.change in OPEN for item in findings)
    missed = missed or any(item.passage in MISSED for item in passings)
    return Difference(
        old,
        new,
        findings,
        tuple(passings),
        (*_guest_cpus(both), *_host_cpus(before, after)),
        tuple(change for pair in both for change in _workloads(*pair)),
        _both_ways(old.gaps, new.gaps, lambda gap: (_now(gap, names), likeness(gap.reason))),
        _skips(at_old, at_new, names),
        tuple(_notes(old, new)),
        complete=old.complete and new.complete and told and not missed,
    )


def exit_code(difference: Difference, fail_on: Severity | None, *, strict: bool = False) -> int:
    """Return what the process ends with.

    3 where `strict` is set and something was not seen in one of the audits; else 1 where a finding
    at or above `fail_on` (None: never) is there that was not, or is that severe now; else 0.
    """
    if strict and not difference.complete:
        return 3
    worse = [item.worse for item in difference.findings]
    failed = fail_on is not None and any(
        severity is not None and severity >= fail_on for severity in worse
    )
    return 1 if failed else 0


def _altered(
    both: Iterable[tuple[SeenGuest, SeenGuest]], before: Side, after: Side
) -> Iterator[Passing]:
    for then, now in both:
        if then.host != now.host:
            note = f"it was {then.subject}" if then.subject != now.subject else ""
            origin, target = _node(before, then), _node(after, now)
            yield Passing("guest", Passage.MOVED, now.subject, now.name, origin, target, note)
        if then.name != now.name:
            note = f"it was called {then.name}"
            yield Passing("guest", Passage.RENAMED, now.subject, now.name, note=note)


def _passed(look: Glance, surely: Passage, perhaps: Passage) -> Iterator[Passing]:
    """Yield what one audit has and the other one has not."""
    there = look.there
    for subject in sorted(there.subjects - look.here.subjects):
        if subject in look.names:
            continue
        why = look.hidden(subject)
        passage = perhaps if why else surely
        guest, host = there.guests.get(subject), there.hosts.get(subject)
        if guest:
            node = _node(there, guest)
            origin, target = (node, "") if surely is Passage.WENT else ("", node)
            yield Passing("guest", passage, subject, guest.name, origin, target, why)
        elif host:
            yield Passing("node", passage, subject, host.name, note=why)
        else:
            yield Passing("cluster", passage, subject, "", note=why)


def _node(side: Side, guest: SeenGuest) -> str:
    host = side.hosts.get(guest.host)
    return host.name if host else guest.node


def _order(item: Passing) -> tuple[int, int, str]:
    kinds = ("cluster", "node", "guest")
    return kinds.index(item.what), tuple(Passage).index(item.passage), item.subject


def _guest_cpus(both: Iterable[tuple[SeenGuest, SeenGuest]]) -> Iterator[CpuChange]:
    for then, now in both:
        before, after = dict(then.features), dict(now.features)
        won = _turned(before, after)
        lost = _turned(after, before)
        if won or lost or then.effective != now.effective:
            yield CpuChange(
                "guest", now.subject, now.name, then.effective, now.effective, won, lost
            )


def _turned(one: Mapping[str, str], other: Mapping[str, str]) -> tuple[str, ...]:
    """Return the flags that are surely hidden in one and surely shown in the other."""
    return tuple(
        sorted(
            flag for flag, state in other.items() if state == "shown" and one.get(flag) == "hidden"
        )
    )


def _host_cpus(before: Side, after: Side) -> Iterator[CpuChange]:
    for subject in sorted(before.hosts.keys() & after.hosts.keys()):
        then, now = before.hosts[subject], after.hosts[subject]
        known = then.flags is not None and now.flags is not None
        won = _beyond(now, then) if known else ()
        lost = _beyond(then, now) if known else ()
        other = bool(then.cpu and now.cpu) and then.cpu != now.cpu
        if won or lost or other:
            yield CpuChange("node", subject, now.name, then.cpu, now.cpu, won, lost)


def _beyond(one: SeenHost, other: SeenHost) -> tuple[str, ...]:
    return tuple(sorted((one.flags or frozenset()) - (other.flags or frozenset())))


def _workloads(then: SeenGuest, now: SeenGuest) -> Iterator[WorkloadChange]:
    before, after = _by_name(then), _by_name(now)
    for key in sorted(before.keys() | after.keys()):
        kind, name, _ = key
        was = before.get(key) or _absent(then, now, kind)
        is_ = after.get(key) or _absent(now, then, kind)
        if was != is_:
            yield WorkloadChange(now.subject, now.name, kind, name, was, is_)


def _by_name(guest: SeenGuest) -> dict[tuple[str, str, int], str]:
    """Return each workload's status by kind, name and its place among those of the same name."""
    found: dict[tuple[str, str, int], str] = {}
    for item in sorted(guest.workloads, key=lambda item: (item.kind, item.name, item.status)):
        place = 0
        while (item.kind, item.name, place) in found:
            place += 1
        found[item.kind, item.name, place] = item.status
    return found


def _absent(guest: SeenGuest, other: SeenGuest, kind: str) -> str:
    """Return whether a workload of the other audit is not there, or may have been missed."""
    return UNSEEN if kind in guest.blind or less(guest, other) else ABSENT


def _both_ways(
    old: tuple[T, ...], new: tuple[T, ...], key: Callable[[T], Any]
) -> tuple[tuple[T, ...], tuple[T, ...]]:
    """Return what only the new ones have, and what only the old ones have."""
    were, are = {key(item) for item in old}, {key(item) for item in new}
    return (
        tuple(item for item in new if key(item) not in were),
        tuple(item for item in old if key(item) not in are),
    )


def _skips(
    at_old: Glance, at_new: Glance, names: Mapping[str, str]
) -> tuple[tuple[Skip, ...], tuple[Skip, ...]]:
    """Return the checks that cannot be made any more, and those that can be made now.

    One of which the other audit is silent since nobody looked is neither.
    """
    old, new = at_old.here.audit.skips, at_new.here.audit.skips
    lost, made = _both_ways(old, new, lambda skip: (_now(skip, names), skip.code))
    return (
        tuple(skip for skip in lost if not at_old.unchecked(skip)),
        tuple(skip for skip in made if not at_new.unchecked(skip)),
    )


def _now(item: Gap | Skip, names: Mapping[str, str]) -> str:
    return names.get(item.subject, item.subject)


def _sorted(audit: Audit) -> Audit:
    """Return an audit in one order, whatever order its report has."""
    return replace(
        audit,
        clusters=tuple(sorted(audit.clusters)),
        hosts=tuple(sorted(audit.hosts, key=lambda item: item.subject)),
        guests=tuple(sorted(audit.guests, key=lambda item: item.subject)),
        findings=tuple(sorted(audit.findings, key=_of_finding)),
        accepted=tuple(sorted(audit.accepted, key=lambda item: _of_finding(item.finding))),
        skips=tuple(sorted(audit.skips, key=lambda item: (item.code, item.subject, item.reason))),
        gaps=tuple(sorted(audit.gaps, key=lambda item: (item.subject, item.reason, item.needs))),
    )


def _of_finding(item: Finding) -> tuple[int, str, str, str]:
    return (-item.problem.severity, item.code, item.subject, item.problem.message)


def _notes(old: Audit, new: Audit) -> Iterator[str]:
    """Say what the two runs do not have in common."""
    if old.version != new.version:
        yield f"Judged by unmask {old.version} and {new.version}: rules may differ."
    if set(old.targets) != set(new.targets):
        yield f"Read from {_named(old.targets)}, then from {_named(new.targets)}."
    if bool(old.rules) != bool(new.rules):
        yield f"The {'newer' if old.rules else 'older'} report does not say which rules judged it."
    elif set(old.rules) != set(new.rules):
        only_old, only_new = set(old.rules) - set(new.rules), set(new.rules) - set(old.rules)
        for codes, which in ((only_old, "older"), (only_new, "newer")):
            if codes:
                yield f"Only the {which} one was judged by {_named(sorted(codes))}."
    sites = ({host.site for host in old.hosts}, {host.site for host in new.hosts})
    if sites[0] != sites[1] and {""} in sites:
        which = "older" if sites[0] == {""} else "newer"
        yield (
            f"The {which} one names no site, and the other one does: nothing in them has the same "
            "name; unmask collect gives a saved inventory its --site."
        )
    for audit, which in ((old, "older"), (new, "newer")):
        if not audit.complete:
            yield f"The {which} one is not complete: something could not be read or checked."


def _named(words: Iterable[str]) -> str:
    items = list(words)
    more = f" and {len(items) - LISTED} more" if len(items) > LISTED else ""
    return (", ".join(items[:LISTED]) or "nothing") + more
