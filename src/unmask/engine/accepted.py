"""Accepted findings: a TOML file in which the operator says which findings are as they should be.

[[accept]]
code = "CPU001"
subject = "lab/1*"          # a glob; without it every subject
reason = "nothing is encrypted in these guests"
expires = 2027-01-31        # optional; from that day on the finding counts again
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fnmatch import fnmatchcase
from typing import Any

from unmask.engine.select import suggestion
from unmask.errors import UsageError
from unmask.model.finding import Accepted, Finding, Outcome

KEYS = ("code", "subject", "reason", "expires")
START = re.compile(r"^\s*\[\[\s*accept\s*\]\]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Acceptance:
    """One entry of the file."""

    code: str
    subject: str
    """A glob over subjects, matched with regard to case."""
    reason: str
    expires: date | None
    """The first day on which it no longer holds."""
    where: str
    """File and line, for messages."""

    def covers(self, finding: Finding) -> bool:
        """Return whether this entry is about `finding`, whatever the date."""
        return finding.code == self.code and fnmatchcase(finding.subject, self.subject)

    def expired(self, today: date) -> bool:
        """Return whether it no longer holds on `today`."""
        return self.expires is not None and today >= self.expires


def load(text: str, where: str, codes: Sequence[str]) -> tuple[Acceptance, ...]:
    """Return the entries of an accepted-findings file.

    Args:
        text: The file's text.
        where: Its name, for messages.
        codes: The codes of all rules.

    Raises:
        UsageError: It is not TOML, or an entry has an unknown key or code, lacks its reason, or
            has a date that is none; the message names the file and the line.
    """
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where}: not valid TOML: {error}") from error
    for key in document:
        if key != "accept":
            raise UsageError(f"{where}: unknown key {key!r}; entries begin with [[accept]]")
    entries = document.get("accept", [])
    if not isinstance(entries, list):
        raise UsageError(f"{where}: write [[accept]] with two brackets; there may be several")
    lines = [text.count("\n", 0, match.end()) + 1 for match in START.finditer(text)]
    if len(lines) != len(entries):  # written as an inline array: no line of its own to name
        lines = []
    return tuple(
        _entry(entry, f"{where}:{lines[index]}" if lines else f"{where}: entry {index + 1}", codes)
        for index, entry in enumerate(entries)
    )


def apply(outcome: Outcome, acceptances: Sequence[Acceptance], today: date) -> Outcome:
    """Return the outcome with every accepted finding moved from `findings` to `accepted`."""
    valid = [entry for entry in acceptances if not entry.expired(today)]
    if not valid:
        return outcome
    left: list[Finding] = []
    accepted = list(outcome.accepted)
    for finding in outcome.findings:
        entry = next((entry for entry in valid if entry.covers(finding)), None)
        if entry is None:
            left.append(finding)
        else:
            expires = entry.expires.isoformat() if entry.expires else ""
            accepted.append(Accepted(finding, entry.reason, expires))
    return Outcome(tuple(left), outcome.skips, tuple(accepted))


def remarks(outcome: Outcome, acceptances: Sequence[Acceptance], today: date) -> tuple[str, ...]:
    """Return a sentence on each entry that has no effect any more.

    Args:
        outcome: The outcome before `apply`.
        acceptances: The entries of the file.
        today: The day of the run.
    """
    said = []
    for entry in acceptances:
        about = f"the acceptance of {entry.code} for {entry.subject}"
        if entry.expired(today):
            said.append(f"{entry.where}: {about} has expired on {entry.expires}")
        elif not any(entry.covers(finding) for finding in outcome.findings):
            said.append(f"{entry.where}: {about} fits no finding and can be removed")
    return tuple(said)


def _entry(entry: Any, where: str, codes: Sequence[str]) -> Acceptance:
    if not isinstance(entry, dict):
        raise UsageError(f"{where}: an accepted finding is a table with code and reason")
    for key in entry:
        if key not in KEYS:
            raise UsageError(f"{where}: unknown key {key!r}; known are {', '.join(KEYS)}")
    code = _text(entry, "code", where).upper()
    if code not in codes:
        raise UsageError(f"{where}: there is no rule {code!r}; {suggestion(code, codes)}")
    subject = _text(entry, "subject", where) if "subject" in entry else "*"
    reason = _text(entry, "reason", where)
    return Acceptance(code, subject, reason, _day(entry.get("expires"), where), where)


def _text(entry: dict[str, Any], key: str, where: str) -> str:
    value = entry.get(key, "")
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"{where}: {key} is required and must be a text that is not empty")
    return value.strip()


def _day(value: Any, where: str) -> date | None:
    if value is None:
        return None
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        raise UsageError(f"{where}: expires must be a date like 2027-01-31") from None
