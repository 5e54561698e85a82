"""SARIF 2.1.0, for code scanning and other collectors of findings.

OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0"; section numbers below are
its. What GitHub makes of it: GitHub documentation, "SARIF support for code scanning".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from unmask.model.finding import Accepted, Finding, Rule, Severity, Skip
from unmask.model.inventory import Gap
from unmask.model.report import Document, Format
from unmask.report import _sarif_text as words
from unmask.report._fingerprints import fingerprints
from unmask.report._sarif_place import location
from unmask.report._subjects import Subjects
from unmask.report._text import clean

VERSION = "2.1.0"
SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
LEVELS = {
    Severity.CRITICAL: "error",
    Severity.HIGH: "error",
    Severity.MEDIUM: "warning",
    Severity.LOW: "note",
    Severity.INFO: "note",
}
"""SARIF has three levels of what fails; `properties.severity` has all of ours."""
SECURITY = {"SEC": "3.0"}
"""The families of rules that GitHub is to list as security alerts, with the score that it turns
into a severity (0.1 to 3.9: low, what these rules report at most). All others cost speed."""
TAGS = {
    "CLU": ("cluster",),
    "CPU": ("cpu-model",),
    "CRY": ("encryption", "performance"),
    "MIG": ("migration",),
    "REQ": ("compatibility",),
    "RST": ("restart",),
    "SEC": ("security", "mitigations"),
}
UNREAD = "unread"
"""Names the notification about something that could not be read."""
UNCHECKED = "unchecked"
"""Names the notification about a check that could not be made."""
NOTIFICATIONS = (
    (UNREAD, "Something could not be read", "What is reported is not all that there may be."),
    (UNCHECKED, "A check could not be made", "Whether the rule fits the subject is not known."),
)
_SEMANTIC = re.compile(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")
Json = dict[str, Any]


def render(document: Document, width: int) -> str:  # noqa: ARG001 - JSON has no width
    """Return one log with one run, as ASCII JSON that ends with a line break.

    It has no `automationDetails`: whoever uploads it knows the category, and GitHub's action
    derives one from the workflow where none is given.
    """
    run: Json = {
        "tool": {"driver": _driver(document)},
        "invocations": [_invocation(document)],
        "columnKind": "unicodeCodePoints",
        "results": list(_results(document)),
        "properties": {
            "complete": document.run.complete,
            "targets": [clean(target) for target in document.run.targets],
        },
    }
    log = {"$schema": SCHEMA, "version": VERSION, "runs": [run]}
    return json.dumps(log, indent=2) + "\n"


def _driver(document: Document) -> Json:
    version = clean(document.run.version, 100)
    driver: Json = {"name": "unmask"}
    if version:
        driver["version"] = version
    if _SEMANTIC.fullmatch(version):
        driver["semanticVersion"] = version
    driver["rules"] = [_rule(code, rule) for code, rule in _rules(document).items()]
    driver["notifications"] = [
        {
            "id": identity,
            "name": words.pascal(short),
            "shortDescription": {"text": f"{short}."},
            "fullDescription": {"text": full},
            "help": {"text": "What would help is in the message, behind the word needs."},
        }
        for identity, short, full in NOTIFICATIONS
    ]
    return driver


def _rules(document: Document) -> dict[str, Rule | str]:
    """Return each rule by its code; a finding's title where its rule is not in the document."""
    known: dict[str, Rule | str] = {rule.code: rule for rule in document.rules}
    for finding in _everything(document):
        known.setdefault(finding.code, finding.title)
    for skip in document.outcome.skips:
        known.setdefault(skip.code, skip.code)
    return known


def _rule(code: str, rule: Rule | str) -> Json:
    title = clean(rule if isinstance(rule, str) else rule.title, 1000)
    described: Json = {
        "id": code,
        "name": words.pascal(title) or words.pascal(code),
        "shortDescription": {"text": words.sentence(title)},
        "fullDescription": {"text": words.sentence(title)},
        "help": {
            "text": f"unmask explain {code} tells why it matters, how it decides and what to do.",
            "markdown": words.page(code, rule if isinstance(rule, Rule) else None),
        },
        "defaultConfiguration": {"level": LEVELS[Severity.MEDIUM]},
        "properties": {"tags": list(TAGS.get(code[:3], ()))},
    }
    if code[:3] in SECURITY:
        described["properties"]["security-severity"] = SECURITY[code[:3]]
    return described


def _everything(document: Document) -> tuple[Finding, ...]:
    outcome = document.outcome
    return (*outcome.findings, *(item.finding for item in outcome.accepted))


def _results(document: Document) -> Iterator[Json]:
    subjects = Subjects(document)
    places = {code: index for index, code in enumerate(_rules(document))}
    prints = fingerprints(_everything(document))
    outcome = document.outcome
    for finding, mark in zip(outcome.findings, prints, strict=False):
        yield _result(finding, subjects, places, mark)
    for item, mark in zip(outcome.accepted, prints[len(outcome.findings) :], strict=True):
        result = _result(item.finding, subjects, places, mark)
        yield {**result, "suppressions": [_suppression(item)]}


def _result(finding: Finding, subjects: Subjects, places: dict[str, int], mark: str) -> Json:
    problem = finding.problem
    about = subjects.of(finding.code, finding.subject)
    return {
        "ruleId": finding.code,
        "ruleIndex": places[finding.code],
        "kind": "fail",
        "level": LEVELS[problem.severity],
        "message": {"text": words.finding(finding)},
        "locations": [location(about, finding.name)],
        # GitHub looks at nothing but this name, and takes what follows the colon for a counter.
        "partialFingerprints": {"primaryLocationLineHash": f"{mark}:1", "unmaskFinding/v1": mark},
        "properties": {
            "severity": problem.severity.word,
            "confidence": str(problem.confidence),
            "subject": clean(finding.subject),
            "name": clean(finding.name),
            "host": clean(finding.host),
            "flags": [clean(flag) for flag in problem.flags],
            "evidence": [clean(fact) for fact in problem.evidence],
            "remedy": clean(problem.remedy),
            "command": clean(problem.command),
        },
    }


def _suppression(item: Accepted) -> Json:
    """Return why a finding does not count (3.35): somebody has said so elsewhere."""
    reason = clean(item.reason) or "no reason is given"
    until = f" (until {clean(item.expires, 40)})" if item.expires else ""
    return {"kind": "external", "status": "accepted", "justification": f"{reason}{until}"}


def _invocation(document: Document) -> Json:
    """Return how the run went (3.20): not successful where a target could not be read at all.

    What could not be read came up while it ran. A check that lacks something to decide by wants a
    privilege, a package or a file, and is told among the conditions of its configuration.
    """
    run, inventory = document.run, document.inventory
    unread = {gap.subject for gap in inventory.gaps}.intersection(run.targets)
    places = {code: index for index, code in enumerate(_rules(document))}
    return {
        "executionSuccessful": not unread,
        "startTimeUtc": clean(run.started, 40),
        "toolExecutionNotifications": [
            _notice(UNREAD, 0, item, "error" if item.subject in unread else "warning")
            for item in inventory.gaps
        ],
        "toolConfigurationNotifications": [
            {
                **_notice(UNCHECKED, 1, item, "warning"),
                "associatedRule": {"id": item.code, "index": places[item.code]},
            }
            for item in document.outcome.skips
        ],
    }


def _notice(kind: str, index: int, item: Gap | Skip, level: str) -> Json:
    return {
        "descriptor": {"id": kind, "index": index},
        "level": level,
        "message": {"text": words.notice(item)},
        "properties": {"subject": clean(item.subject), "needs": clean(item.needs)},
    }


FORMAT = Format(name="sarif", summary="SARIF 2.1.0, for code scanning: docs/ci.md", render=render)
