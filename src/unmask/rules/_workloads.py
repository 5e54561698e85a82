"""Encrypted workloads that lose speed to the CPU that their guest sees: the CRY rules' one check.

Workloads of one kind that fare alike are one finding. What cannot be told is skipped, after all
that can be: an unread probe, software that nobody recognised, a flag that is not known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from unmask.errors import UnreadError
from unmask.model.case import GuestCase
from unmask.model.finding import Confidence, Problem, Severity
from unmask.model.outlook import NoteKind, Outlook, Status
from unmask.model.workload import Activity, JudgedWorkload, Workload, WorkloadKind
from unmask.rules import _advice, _gain, _rates, _workload_remedy, _workload_words
from unmask.rules._gain import Gain

ACTIVITIES = (Activity.ACTIVE, Activity.CONFIGURED, Activity.CLOSED, Activity.DECLARED)
"""The one that matters most first."""
CONFIDENCES = (Confidence.TENTATIVE, Confidence.FIRM, Confidence.CERTAIN)
SLOW = (Status.SOFTWARE, Status.PARTIAL)
MUCH = 0.25
"""The speed that is left at which an active workload in software is of high severity."""
LITTLE = 0.5
"""The speed that is left at which a workload that uses part of the hardware is of low severity."""


@dataclass(frozen=True, slots=True)
class Group:
    """Workloads of one kind that fare alike."""

    members: tuple[Workload, ...]
    outlook: Outlook

    @property
    def activity(self) -> Activity:
        """Return what the most active one does."""
        return min((member.activity for member in self.members), key=ACTIVITIES.index)

    @property
    def confidence(self) -> Confidence:
        """Return how sure the most active ones are."""
        sure = [each.confidence for each in self.members if each.activity is self.activity]
        return max(sure, key=CONFIDENCES.index)


def problems(
    case: GuestCase, kinds: Collection[WorkloadKind], most: Severity = Severity.HIGH
) -> Iterator[Problem]:
    """Yield a problem for each group of workloads that a flag would make faster.

    Args:
        case: The guest.
        kinds: The kinds of workloads that the rule is about.
        most: The highest severity that they deserve.

    Raises:
        UnreadError: Something that may be slow could not be judged.
    """
    mine = [item for item in case.workloads if item.workload.kind in kinds]
    for group in groups(mine):
        problem = _problem(case, group, most)
        if problem:
            yield problem
    _require(case, kinds, mine)


def groups(judged: Iterable[JudgedWorkload]) -> Iterator[Group]:
    """Yield those that are slow, or may be, for want of flags."""
    found: dict[tuple[WorkloadKind, Outlook], list[Workload]] = {}
    for item in judged:
        outlook = item.outlook
        if outlook is None or item.workload.host_side or outlook.noted(NoteKind.UNUSED):
            continue
        unsure = outlook.status is Status.UNKNOWN and bool(outlook.missing)
        if outlook.status in SLOW or unsure:
            found.setdefault((item.workload.kind, outlook), []).append(item.workload)
    for (_, outlook), members in found.items():
        yield Group(tuple(members), outlook)


def _problem(case: GuestCase, group: Group, most: Severity) -> Problem | None:
    workload, outlook = group.members[0], group.outlook
    gain = _gain.of(case, workload, outlook)
    if gain is None:
        return None
    rate = _rates.kept(case, outlook, gain)
    advice = _workload_remedy.remedy(case, workload, outlook, gain)
    together = _together(case, gain, advice.command)
    return Problem(
        severity=min(most, _severity(group, gain, rate)),
        message=_workload_words.message(case, group.members, outlook, gain),
        evidence=_workload_words.evidence(case, group.members, outlook, gain, rate),
        remedy=f"{advice.text} {together}".rstrip(),
        command=advice.command,
        confidence=_confidence(case, group),
        flags=tuple(sorted(gain.wanted or outlook.missing)),
    )


def _severity(group: Group, gain: Gain, rate: _rates.Rate | None) -> Severity:
    active = group.activity is Activity.ACTIVE
    if not gain.possible or group.activity in (Activity.CLOSED, Activity.DECLARED):
        return Severity.LOW
    if group.outlook.status is Status.UNKNOWN or gain.already:
        return Severity.LOW
    if gain.emulated or rate is None:
        return Severity.MEDIUM if active else Severity.LOW
    if group.outlook.status is Status.PARTIAL:
        return Severity.LOW if rate.factor >= LITTLE else Severity.MEDIUM
    return Severity.HIGH if active and rate.factor <= MUCH else Severity.MEDIUM


def _confidence(case: GuestCase, group: Group) -> Confidence:
    """Return how sure it is: as sure as the workload, and as what is known of the CPU."""
    view = Confidence.CERTAIN if case.observed else Confidence.FIRM
    if group.outlook.status is Status.UNKNOWN or group.outlook.noted(NoteKind.SUSPECTED):
        view = Confidence.TENTATIVE
    return min(view, group.confidence, key=CONFIDENCES.index)


def _require(case: GuestCase, kinds: Collection[WorkloadKind], mine: list[JudgedWorkload]) -> None:
    """Raise for what could not be told; nobody having looked is no reason to."""
    reasons: dict[str, str] = {}
    for unread in case.unread:
        if unread.kind in kinds:
            reasons.setdefault(unread.reason, unread.needs)
    for item in mine:
        unknown = _unknown(item)
        if unknown:
            reasons.setdefault(unknown, "")
    if reasons:
        needs = next(filter(None, reasons.values()), "")
        raise UnreadError("; ".join(reasons), needs)


def _unknown(item: JudgedWorkload) -> str:
    """Return why nothing follows for a workload, "" where something does."""
    workload, outlook = item.workload, item.outlook
    if workload.host_side:
        return ""
    name = _workload_words.called((workload,))
    if outlook is None:
        return f"whose code does {name} is not known"
    if outlook.status is not Status.UNKNOWN or outlook.missing:
        return ""
    return f"whether {name} is slow is not known: {outlook.how}"


def wanted(case: GuestCase) -> frozenset[str]:
    """Return the flags that all slow workloads of a guest together need and can get."""
    needs: frozenset[str] = frozenset()
    for group in groups(case.workloads):
        gain = _gain.of(case, group.members[0], group.outlook)
        if gain and gain.wanted:
            needs |= gain.needs
    return needs


def _together(case: GuestCase, gain: Gain, command: str) -> str:
    """Return the one command that serves all slow workloads of a guest, where it is another."""
    needs = wanted(case) if command else gain.needs
    if needs == gain.needs:
        return ""
    all_at_once = _advice.show(case, needs).command
    if not all_at_once or all_at_once == command:
        return ""
    return f"All that is slow in this guest is served at once by {all_at_once}."
