"""One guest, one command."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.model.report import Document
from unmask.report._actions import actions
from unmask.report._html.labels import Labels, Ref, sentence
from unmask.report._text import clean

COMMAND = 2000
"""Characters of a command; one that is longer would not be typed or pasted by anybody."""


@dataclass(frozen=True, slots=True)
class Todo:
    """What there is to do about one guest."""

    subject: str
    ref: Ref
    severity: str
    codes: tuple[str, ...]
    what: str
    command: str


def build(document: Document, labels: Labels) -> tuple[Todo, ...]:
    """Return what there is to do, the worst first."""
    return tuple(
        Todo(
            action.subject,
            labels.of(action.subject, action.name),
            action.severity.word,
            tuple(clean(code, 20) for code in action.codes),
            sentence(action.what),
            clean(action.command, COMMAND),
        )
        for action in actions(document)
    )
