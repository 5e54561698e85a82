"""A document of which every text comes from somebody who wants to break reports.

Names, configurations, what guests said, gaps, findings: each text that a format may print holds
something that terminals, HTML, XML, Markdown, CSV, spreadsheets, Prometheus or JSON obey.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

from support.report_document import rich
from unmask.model.case import GuestCase
from unmask.model.finding import Accepted, Confidence, Finding, Problem, Severity, Skip
from unmask.model.inventory import Gap, Guest
from unmask.model.report import Document, Run

TEXTS = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</script></style></textarea><svg onload=alert(1)>",
    "]]><evil/><![CDATA[",
    "&amp;&#60;&lt;b&gt;{{7*7}}{% raw %}",
    "\x1b]0;owned\x07\x1b[31mred\x1b[0m",
    "\u202egnp.exe\u2066\u200b\u200f\ufeff",
    "line\nbreak\r\nand\ttab\x0b\x0c\x85\u2028\u2029",
    "nul\x00bell\x07del\x7fc1\x9b31m",
    "lone \ud800 surrogate \udfff\udc80",
    "noncharacter \ufffe\uffff\U0010ffff",
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-2+3",
    "@SUM(1;1)",
    "\t=1+1",
    "\r=1+1",
    '"quoted", and; 2 "separators"',
    "a|b|c\n|---|---|\n|d|e|f",
    "`code` **bold** _it_ ~~gone~~ ``` fence",
    "[link](javascript:alert(1)) ![image](http://evil.example/x.png)",
    "<http://evil.example> https://evil.example www.evil.example a@evil.example",
    "@everyone #1 GH-1 ~~x~~ :smile: owner/name#1",
    "# heading\n* item\n> quote\n    code\n---",
    '\\ backslash \\n {label="x"} 1 2 # HELP',
    "../../etc/passwd; rm -rf / $(id) `id`",
    "é 中文 עברית \U0001f600 e\u0301",
    "x" * 10_000,
    "",
    " ",
)
"""What is put in place of every text, one after the other."""


KEPT = frozenset(
    {"arch", "started", "code", "docs", "rules", "setting", "method", "algorithm", "expires"}
    | {
        "consumer",
        "family",
        "vendor",
        "model",
        "driver",
        "version",
        "states",
        "accelerator",
        "missing",
    }
    | {"better"}
)
"""Fields that keep what they say: judgement hangs on them, or they are no text from outside."""
LONGEST = 300
"""Characters of what stands for most texts; findings, gaps and names get longer ones too."""


@cache
def hostile() -> Document:
    """Return the document of `rich`, hostile throughout, with more of it for each of `TEXTS`.

    The same text becomes the same one everywhere, so that what belongs together still does; two
    subjects stay two.
    """
    known = rich()
    spoilt: Document = _Spoiler().of(known)
    cases = (*spoilt.cases, *_named(spoilt.cases))
    findings = tuple(
        _finding(text, case.guest) for text, case in zip(TEXTS, cases[-len(TEXTS) :], strict=True)
    )
    outcome = replace(
        spoilt.outcome,
        findings=(*findings, *spoilt.outcome.findings),
        skips=(*spoilt.outcome.skips, *(Skip("TST002", text, text, text) for text in TEXTS)),
        accepted=(*spoilt.outcome.accepted, *(Accepted(one, one.name, "") for one in findings)),
    )
    gaps = (*spoilt.inventory.gaps, *(Gap(text, text, text) for text in TEXTS))
    return replace(
        spoilt,
        run=Run("1.2.3", known.run.started, TEXTS, complete=False),
        inventory=replace(
            spoilt.inventory, targets=TEXTS, gaps=gaps, guests=tuple(case.guest for case in cases)
        ),
        cases=cases,
        outcome=outcome,
        rules=known.rules,
    )


def _named(cases: Sequence[GuestCase]) -> Iterator[GuestCase]:
    """Yield a guest for each of `TEXTS` that has it for a name, an identifier and a subject."""
    for number, text in enumerate(TEXTS):
        case = cases[number % len(cases)]
        subject = f"{text[:LONGEST]}/{number}"
        yield replace(case, guest=replace(case.guest, subject=subject, ident=text, name=text))


def _finding(text: str, guest: Guest) -> Finding:
    severity = tuple(Severity)[len(text) % len(Severity)]
    problem = Problem(severity, text, (text, text), text, text, Confidence.TENTATIVE, (text,))
    return Finding("TST001", text, guest.subject, guest.name, guest.host, problem)


class _Spoiler:
    """Puts one of `TEXTS` in place of every text of a tree of dataclasses."""

    def __init__(self) -> None:
        self.made: dict[str, str] = {}

    def of(self, value: Any, name: str = "") -> Any:
        """Return a value with hostile texts; fields of a name in `KEPT` are left alone."""
        if name in KEPT:
            return value
        if type(value) is str:
            return self._text(value)
        if isinstance(value, tuple):
            return tuple(self.of(item, name) for item in value)
        if is_dataclass(value) and not isinstance(value, type):
            told = {one.name: getattr(value, one.name) for one in fields(value)}
            return replace(value, **{key: self.of(item, key) for key, item in told.items()})
        return value

    def _text(self, text: str) -> str:
        if text and text not in self.made:
            number = len(self.made)
            # A number keeps what differs different.
            self.made[text] = TEXTS[number % len(TEXTS)][:LONGEST] + f"{number}"
        return self.made.get(text, "")
