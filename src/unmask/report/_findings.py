"""Findings by code, worst first, each group with what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias, TypeVar

from unmask.model.finding import Finding, Severity
from unmask.model.report import Document
from unmask.report._detail import HOW, Detail
from unmask.report._paint import Paint
from unmask.report._text import called, clean, listed, wrap

Said: TypeAlias = tuple[str, tuple[str, ...]]
"""Message and evidence."""
T = TypeVar("T")
NAMED = 6
"""Subjects that are named where nothing more is said of them."""
SHORTENED = (
    "This is the short report, for there are many findings: --full shows the evidence and the "
    "remedy of each, unmask explain CODE what a code means."
)
SETS_CPU = " --cpu "
"""What tells a command that writes a guest's whole CPU setting (Proxmox VE's qm set)."""


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings of one subject by severity, then by code."""
    return sorted(findings, key=lambda item: (-item.problem.severity, item.code))


def groups(findings: Sequence[Finding]) -> list[list[Finding]]:
    """Return findings grouped by code: worst group first, inside a group worst finding first."""
    by_code: dict[str, list[Finding]] = {}
    for finding in findings:
        by_code.setdefault(finding.code, []).append(finding)
    order = sorted(by_code, key=lambda code: (-_worst(by_code[code]), code))
    return [
        sorted(by_code[code], key=lambda item: (-item.problem.severity, item.subject))
        for code in order
    ]


def section(document: Document, width: int, paint: Paint, detail: Detail) -> list[str]:
    """Return the lines of all groups, an empty line before each."""
    in_order = groups(document.outcome.findings)
    if not detail.evidence:
        return _brief(document, in_order, width, paint, detail)
    lines = []
    most = detail.findings if len(in_order) > 1 else len(document.outcome.findings)
    for group in in_order:
        lines += ["", *_group(group, most, width, paint)]
    return lines


def _brief(
    document: Document, in_order: list[list[Finding]], width: int, paint: Paint, detail: Detail
) -> list[str]:
    """Return what is wrong; of what is of little weight only where, since that is a long list."""
    guests = {guest.subject for guest in document.inventory.guests}
    lines = []
    for group in in_order:
        lines += ["", *_title(group, width, paint)]
        apart = [item for item in group if item.subject not in guests]
        heavy = [item for item in group if item.problem.severity >= Severity.MEDIUM]
        told = (apart or heavy)[: detail.findings]
        lines += _messages(told, _worst(group), width)
        # What is to be done to guests has a part of its own.
        for remedy in dict.fromkeys(item.problem.remedy for item in told if item in apart):
            lines += wrap(f"remedy: {remedy}", width, "  ", "    ") if remedy else []
        lines += _others([item for item in group if item not in told], len(told), width)
    return [*lines, "", *wrap(SHORTENED, width)] if lines else []


def _others(group: Sequence[Finding], told: int, width: int) -> list[str]:
    subjects = list(dict.fromkeys(_subject(finding) for finding in group))
    if not subjects:
        return []
    also = f"and {len(group)} more: " if told else ""
    return wrap(f"{also}{listed(subjects, NAMED)}", width, "  ", "    ")


def rivals(findings: Iterable[Finding]) -> list[str]:
    """Return the guests with several commands of which each replaces the whole CPU setting."""
    commands: dict[str, set[str]] = {}
    for finding in findings:
        if SETS_CPU in finding.problem.command:
            commands.setdefault(finding.subject, set()).add(finding.problem.command)
    return sorted(subject for subject, different in commands.items() if len(different) > 1)


def _worst(group: Sequence[Finding]) -> Severity:
    return max(finding.problem.severity for finding in group)


def _title(group: Sequence[Finding], width: int, paint: Paint) -> list[str]:
    severity = _worst(group)
    count = len({finding.subject for finding in group})
    title = f"{severity.word.upper()} {group[0].code} {group[0].title} ({count} affected)"
    return [paint.severity(line, severity) for line in wrap(title, width)]


def _messages(group: Sequence[Finding], worst: Severity, width: int) -> list[str]:
    lines = []
    for message, subjects in _alike(group, lambda item: _message(item, worst)).items():
        lines += wrap(f"{listed(subjects)}: {message}", width, "  ", "    ")
    return lines


def _group(group: Sequence[Finding], most: int, width: int, paint: Paint) -> list[str]:
    """Return a group's lines: the worst `most` findings in full, of the others their subjects."""
    severity = _worst(group)
    lines = _title(group, width, paint)
    common = shared(group)
    for fact in common:
        lines += wrap(fact, width, "  - ")
    # One more line for one more finding would save nothing.
    cut = most if len(group) > most + 1 else len(group)
    shown, others = group[:cut], group[cut:]
    for (said, evidence), subjects in _alike(shown, lambda item: _said(item, severity)).items():
        if len(subjects) > 1:
            lines += wrap(listed(subjects) + ":", width, "  ", "    ")
            lines += wrap(said, width, "    ")
        else:
            lines += wrap(f"{subjects[0]}: {said}", width, "  ", "    ")
        for fact in (item for item in evidence if item not in common):
            lines += wrap(fact, width, "    - ")
    if others:
        subjects = list(dict.fromkeys(_subject(finding) for finding in others))
        lines += wrap(f"and {len(others)} more ({HOW}): {listed(subjects)}", width, "  ", "    ")
    return lines + _advice(shown, width)


def shared(group: Sequence[Finding]) -> tuple[str, ...]:
    """Return the evidence that several findings have in common, to be said once."""
    if len(group) == 1:
        return ()
    others = [set(finding.problem.evidence) for finding in group[1:]]
    return tuple(fact for fact in group[0].problem.evidence if all(fact in o for o in others))


def _alike(group: Sequence[Finding], say: Callable[[Finding], T]) -> dict[T, list[str]]:
    """Return the subjects of which the same is said, by what is said."""
    subjects: dict[T, list[str]] = {}
    for finding in group:
        subjects.setdefault(say(finding), []).append(_subject(finding))
    return subjects


def _said(finding: Finding, worst: Severity) -> Said:
    return _message(finding, worst), finding.problem.evidence


def _message(finding: Finding, worst: Severity) -> str:
    """Return the message; a severity or confidence that is not the group's is named."""
    problem = finding.problem
    marks = [problem.severity.word] if problem.severity is not worst else []
    if problem.confidence == "tentative":
        marks.append("tentative")
    return f"[{', '.join(marks)}] {problem.message}" if marks else problem.message


def _subject(finding: Finding) -> str:
    return called(finding.subject, finding.name)


def _advice(group: Sequence[Finding], width: int) -> list[str]:
    """Return each different remedy once, with its subjects where there are several.

    Commands are not here: those of several rules for one guest undo each other (`_to_do` has one).
    """
    lines = []
    remedies: dict[str, list[str]] = {}
    for finding in group:
        if finding.problem.remedy:
            remedies.setdefault(finding.problem.remedy, []).append(clean(finding.subject, 120))
    for remedy, subjects in remedies.items():
        whose = f" ({listed(list(dict.fromkeys(subjects)))})" if len(remedies) > 1 else ""
        lines += wrap(f"remedy{whose}: {remedy}", width, "  ", "    ")
    return [*lines, f"  more: unmask explain {group[0].code}"]
