"""Documents of made-up names, for formats that programs read; hypothesis makes them up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle

from hypothesis import settings
from hypothesis import strategies as st

from support.report_document import rich
from unmask.model.case import GuestCase
from unmask.model.finding import Accepted, Finding, Outcome, Problem, Severity, Skip
from unmask.model.inventory import Gap
from unmask.model.report import Document

FUZZ = settings(max_examples=200, deadline=None, derandomize=True, database=None)
"""The same examples in every run: what fails once fails again."""
_SPECIAL = st.sampled_from(
    ["\\", '"', "'", "\n", "\r", "\t", "\0", "<", ">", "&", "]]>", "{", "}", "{0}", "](", "#", "/",
     "..", "%", "://", "@", ":", "\ud800", "\udcff", "\ufffe", "\uffff", "\u2028", "\u202e",
     "\x1b[31m", "\x85", "\ufeff", " ", "unmask_x 1"]
)  # fmt: skip
_ANY = st.characters(exclude_categories=())
_NAME = st.lists(st.one_of(_SPECIAL, _ANY, st.text(max_size=5)), max_size=12).map("".join)
NAMES = st.lists(_NAME, min_size=1, max_size=9)
"""Texts of any kind, rich in what formats take for their own."""
CODES = ("CPU001", "CPU002", "CRY001", "XYZ001")


def spoilt(texts: Sequence[str]) -> Document:
    """Return a document whose names, findings, skips and gaps are these texts, in turn."""
    known, names = rich(), cycle(texts)

    def name() -> str:
        return next(names)

    def guest(case: GuestCase) -> GuestCase:
        made = replace(
            case.guest, subject=name(), name=name(), location=name(), site=name(), host=name()
        )
        return replace(case, guest=made)

    def finding(number: int, subject: str) -> Finding:
        problem = Problem(
            Severity(1 + number % 5), name(), (name(), name()), name(), name(), flags=(name(),)
        )
        return Finding(CODES[number % 4], name(), subject, name(), name(), problem)

    cases = tuple(guest(case) for case in known.cases[:3])
    guests = tuple(case.guest for case in cases)
    hosts = tuple(replace(host, name=name()) for host in known.inventory.hosts[:2])
    findings = tuple(finding(number, guests[number % 3].subject) for number in range(5))
    targets = (name(), name())
    return replace(
        known,
        run=replace(known.run, targets=targets, version=name()),
        inventory=replace(
            known.inventory,
            hosts=hosts,
            guests=guests,
            gaps=(Gap(name(), name(), name()), Gap(name(), name())),
            targets=targets,
        ),
        cases=cases,
        outcome=Outcome(
            findings,
            (Skip("CPU001", name(), name(), name()),),
            (Accepted(findings[0], name(), "2027-01-31"),),
        ),
        rules=tuple(rule for rule in known.rules if rule.code in CODES),
    )
