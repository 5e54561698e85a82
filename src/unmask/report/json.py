"""The report for programs: one JSON object, described by docs/audit.schema.json."""

from __future__ import annotations

import json
from typing import Any

from unmask.model.finding import About
from unmask.model.report import Document, Format
from unmask.report import _records

SCHEMA = "unmask.audit/1"
"""Grows by new keys only; a key that changes or goes makes it /2."""

NOT_OF_AUDITS = (About.MOVE, About.CHANGE)
"""What rules are about that judge no audit, but a move or a change that is planned."""


def render(document: Document, width: int) -> str:  # noqa: ARG001 - JSON has no width
    """Return the report as ASCII JSON that ends with a line break.

    Names are as the configuration has them; whatever is not ASCII is escaped, so that nothing in
    them reaches a terminal.
    """
    run, inventory, outcome = document.run, document.inventory, document.outcome
    body = {
        "schema": SCHEMA,
        "run": _records.run(run),
        "rules": [rule.code for rule in document.rules if rule.about not in NOT_OF_AUDITS],
        "clusters": [_records.cluster(item) for item in inventory.clusters],
        "hosts": [_records.host(item) for item in inventory.hosts],
        "guests": [_records.guest(item) for item in document.cases],
        "findings": [_records.finding(item) for item in outcome.findings],
        "accepted": [_records.accepted(item) for item in outcome.accepted],
        "skips": [_records.skip(item) for item in outcome.skips],
        "gaps": [_records.gap(item) for item in inventory.gaps],
        "measured": _measured(document),
    }
    return json.dumps(body, indent=2) + "\n"


def _measured(document: Document) -> list[dict[str, Any]]:
    if not document.measured:
        return []
    from unmask.report._bench.json import records  # noqa: PLC0415 - most audits need it not

    return records(document.measured)


FORMAT = Format(name="json", summary="for programs: docs/audit.schema.json", render=render)
