"""The report on moves for programs: one JSON object, as docs/migrate.schema.json has it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from unmask.model.inventory import Guest
from unmask.model.migration import MigrationDocument, Plan, Step
from unmask.model.move import Move, Reason
from unmask.report import _records

SCHEMA = "unmask.migrate/1"
"""Grows by new keys only; a key that changes or goes makes it /2."""


def render(document: MigrationDocument) -> str:
    """Return the report as ASCII JSON that ends with a line break."""
    run, asked = document.run, document.question
    guests = {guest.subject: guest for guest in document.inventory.guests}
    body = {
        "schema": SCHEMA,
        "run": _records.run(run),
        "asked": {
            "guests": list(asked.guests),
            "to": list(asked.to),
            "cpu": asked.cpu or None,
            "evacuate": asked.evacuate or None,
        },
        "moves": [_move(item, guests) for item in document.moves],
        "plan": _plan(document.plan, guests) if document.plan else None,
        "gaps": [_records.gap(item) for item in document.inventory.gaps],
    }
    return json.dumps(body, indent=2) + "\n"


def _move(move: Move, guests: Mapping[str, Guest]) -> dict[str, Any]:
    return {
        "guest": move.guest,
        "name": guests[move.guest].name,
        "from": move.origin,
        "to": move.target,
        "live": move.live.value,
        "cold": move.cold.value,
        "reasons": [_reason(item) for item in move.reasons],
    }


def _reason(reason: Reason) -> dict[str, Any]:
    return {
        "code": reason.code,
        "message": reason.message,
        "blocks": [kind.value for kind in reason.stops],
        "leaves_unknown": [kind.value for kind in reason.unsure],
        "features": list(reason.features),
        "needs": reason.needs or None,
    }


def _plan(plan: Plan, guests: Mapping[str, Guest]) -> dict[str, Any]:
    return {
        "node": plan.node,
        "steps": [_step(item, guests) for item in plan.steps],
        "loads": [
            {"host": host, "before": before, "after": after} for host, before, after in plan.loads
        ],
    }


def _step(step: Step, guests: Mapping[str, Guest]) -> dict[str, Any]:
    return {
        "guest": step.guest,
        "name": guests[step.guest].name,
        "to": step.target or None,
        "how": step.how,
        "copies_disks": step.with_disks,
        "reasons": [_reason(item) for item in step.reasons],
    }
