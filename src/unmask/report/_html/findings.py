"""Findings by code, the worst first; what is said of several guests is said once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from unmask.model.finding import Finding
from unmask.model.report import Document
from unmask.report import _findings
from unmask.report._html import why
from unmask.report._html.labels import Labels, Ref, Refs, sentence
from unmask.report._html.todo import COMMAND
from unmask.report._html.why import Block
from unmask.report._text import clean

SAID = 2000
"""Characters of a message or remedy."""
OPEN = ("critical", "high", "medium")
"""Severities whose findings are unfolded from the beginning."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command and the subject that it changes."""

    ref: Ref
    text: str


@dataclass(frozen=True, slots=True)
class Item:
    """The same said of one or several subjects."""

    anchor: str
    code: str
    severity: str
    confidence: str
    subjects: Refs
    message: str
    evidence: tuple[str, ...]
    remedy: str
    flags: str
    commands: tuple[Command, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """All findings of one code."""

    anchor: str
    code: str
    title: str
    severity: str
    affected: int
    shared: tuple[str, ...]
    """Evidence that all of them have."""
    items: tuple[Item, ...]
    why: tuple[Block, ...]

    @property
    def open(self) -> bool:
        """Return whether it is unfolded from the beginning."""
        return self.severity in OPEN


@dataclass(frozen=True, slots=True)
class Findings:
    """All findings, and where each is on the page."""

    groups: tuple[Group, ...]
    anchors: dict[tuple[str, str], str]
    """By subject and code."""
    places: dict[Finding, str]
    rivals: Refs
    """Subjects with several commands of which each replaces the whole CPU setting."""


def build(document: Document, labels: Labels) -> Findings:
    """Return the findings of a document."""
    pages = why.pages(document.rules)
    anchors: dict[tuple[str, str], str] = {}
    places: dict[Finding, str] = {}
    groups: list[Group] = []
    number = 0
    for found in _findings.groups(document.outcome.findings):
        shared = _findings.shared(found)
        items = []
        for alike in _alike(found):
            number += 1
            anchor = f"finding-{number}"
            items.append(_item(anchor, alike, shared, labels))
            for one in alike:
                anchors.setdefault((one.subject, one.code), anchor)
                places[one] = anchor
        groups.append(_group(len(groups) + 1, found, shared, items, pages))
    rivals = labels.all(_findings.rivals(document.outcome.findings))
    return Findings(tuple(groups), anchors, places, rivals)


def _group(
    number: int,
    found: Sequence[Finding],
    shared: tuple[str, ...],
    items: Sequence[Item],
    pages: dict[str, tuple[Block, ...]],
) -> Group:
    first = found[0]
    return Group(
        f"code-{number}",
        clean(first.code, 20),
        clean(first.title, 200),
        first.problem.severity.word,
        len({item.subject for item in found}),
        tuple(sentence(fact) for fact in shared),
        tuple(items),
        pages.get(first.code, ()),
    )


def _alike(found: Sequence[Finding]) -> list[list[Finding]]:
    """Return findings that say the same but for their subject and command."""
    groups: dict[Hashable, list[Finding]] = {}
    for finding in found:
        problem = finding.problem
        said = (problem.severity, problem.message, problem.evidence, problem.remedy,
                problem.confidence, problem.flags)  # fmt: skip
        groups.setdefault(said, []).append(finding)
    return list(groups.values())


def _item(anchor: str, alike: Sequence[Finding], shared: tuple[str, ...], labels: Labels) -> Item:
    first, problem = alike[0], alike[0].problem
    names = {one.subject: one.name for one in alike}
    commands = dict.fromkeys(
        (one.subject, one.name, one.problem.command) for one in alike if one.problem.command
    )
    return Item(
        anchor=anchor,
        code=clean(first.code, 20),
        severity=problem.severity.word,
        confidence=str(problem.confidence),
        subjects=labels.all(names, names),
        message=sentence(problem.message, SAID),
        evidence=tuple(sentence(fact) for fact in problem.evidence if fact not in shared),
        remedy=sentence(problem.remedy, SAID),
        flags=", ".join(clean(flag, 40) for flag in problem.flags[:60]),
        commands=tuple(
            Command(labels.of(subject, name), clean(command, COMMAND))
            for subject, name, command in commands
        ),
    )
