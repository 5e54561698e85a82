"""Findings by code, worst first, each group with what to do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from unmask.model.finding import Finding, Severity
from unmask.model.report import Document
from unmask.report._paint import Paint
from unmask.report._text import clean, listed, wrap

Said: TypeAlias = tuple[str, tuple[str, ...]]
"""Message and evidence."""
SHOWN = 6
"""Findings of one code that are shown in full, where there are other codes to read as well."""
SETS_CPU = " --cpu "
"""What tells a command that writes a guest's whole CPU setting (Proxmox VE's qm set)."""


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


def section(document: Document, width: int, paint: Paint) -> list[str]:
    """Return the lines of all groups, an empty line before each."""
    lines = []
    in_order = groups(document.outcome.findings)
    most = SHOWN if len(in_order) > 1 else len(document.outcome.findings)
    for group in in_order:
        lines += ["", *_group(group, most, width, paint)]
    return lines + _rivals(in_order, width)


def rivals(findings: Iterable[Finding]) -> list[str]:
    """Return the guests with several commands of which each replaces the whole CPU setting."""
    commands: dict[str, set[str]] = {}
    for finding in findings:
        if SETS_CPU in finding.problem.command:
            commands.setdefault(finding.subject, set()).add(finding.problem.command)
    return sorted(subject for subject, different in commands.items() if len(different) > 1)


def _rivals(in_order: Sequence[Sequence[Finding]], width: int) -> list[str]:
    """Return a warning about guests with several commands, which do not add up."""
    found = rivals(item for group in in_order for item in group)
    subjects = [clean(subject, 120) for subject in found]
    if not subjects:
        return []
    text = (
        "Where a guest has several commands, run one, then audit again for what is left: each "
        "--cpu replaces the guest's whole CPU setting, and with it what another command has set. "
        f"These have several: {listed(subjects)}."
    )
    return ["", *wrap(text, width)]


def _worst(group: Sequence[Finding]) -> Severity:
    return max(finding.problem.severity for finding in group)


def _group(group: Sequence[Finding], most: int, width: int, paint: Paint) -> list[str]:
    """Return a group's lines: the worst `most` findings in full, of the others their subjects."""
    severity = _worst(group)
    count = len({finding.subject for finding in group})
    title = f"{severity.word.upper()} {group[0].code} {group[0].title} ({count} affected)"
    lines = [paint.severity(line, severity) for line in wrap(title, width)]
    common = shared(group)
    for fact in common:
        lines += wrap(fact, width, "  - ")
    # One more line for one more finding would save nothing.
    cut = most if len(group) > most + 1 else len(group)
    shown, others = group[:cut], group[cut:]
    for (said, evidence), subjects in _alike(shown, severity).items():
        if len(subjects) > 1:
            lines += wrap(listed(subjects) + ":", width, "  ", "    ")
            lines += wrap(said, width, "    ")
        else:
            lines += wrap(f"{subjects[0]}: {said}", width, "  ", "    ")
        for fact in (item for item in evidence if item not in common):
            lines += wrap(fact, width, "    - ")
    if others:
        subjects = list(dict.fromkeys(_subject(finding) for finding in others))
        more = f"and {len(others)} more (--select {group[0].code} shows them): {listed(subjects)}"
        lines += wrap(more, width, "  ", "    ")
    return lines + _advice(shown, width)


def shared(group: Sequence[Finding]) -> tuple[str, ...]:
    """Return the evidence that several findings have in common, to be said once."""
    if len(group) == 1:
        return ()
    others = [set(finding.problem.evidence) for finding in group[1:]]
    return tuple(fact for fact in group[0].problem.evidence if all(fact in o for o in others))


def _alike(group: Sequence[Finding], worst: Severity) -> dict[Said, list[str]]:
    """Return the subjects of which the same is said, by what is said."""
    subjects: dict[Said, list[str]] = {}
    for finding in group:
        subjects.setdefault(_said(finding, worst), []).append(_subject(finding))
    return subjects


def _said(finding: Finding, worst: Severity) -> Said:
    """Return message and evidence; a severity or confidence that is not the group's is named."""
    problem = finding.problem
    marks = [problem.severity.word] if problem.severity is not worst else []
    if problem.confidence == "tentative":
        marks.append("tentative")
    message = f"[{', '.join(marks)}] {problem.message}" if marks else problem.message
    return message, problem.evidence


def _subject(finding: Finding) -> str:
    subject, name = clean(finding.subject, 120), clean(finding.name, 60)
    return subject if subject.endswith(name) else f"{subject} {name}"


def _advice(group: Sequence[Finding], width: int) -> list[str]:
    """Return each different remedy once, with its subjects where there are several, and commands.

    A command is one line however long it is, so that it can be copied.
    """
    lines = []
    remedies: dict[str, list[str]] = {}
    for finding in group:
        if finding.problem.remedy:
            remedies.setdefault(finding.problem.remedy, []).append(clean(finding.subject, 120))
    for remedy, subjects in remedies.items():
        whose = f" ({listed(list(dict.fromkeys(subjects)))})" if len(remedies) > 1 else ""
        lines += wrap(f"remedy{whose}: {remedy}", width, "  ", "    ")
    commands = dict.fromkeys(finding.problem.command for finding in group)
    lines += [f"  command: {clean(command)}" for command in commands if command]
    return [*lines, f"  more: unmask explain {group[0].code}"]
