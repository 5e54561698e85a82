"""The report on a change for programs: one JSON object, as docs/fix.schema.json has it."""

from __future__ import annotations

import json
from typing import Any

from unmask.model.change import Constraint, Gain, Plan, Reach, Setting, Step
from unmask.model.fix import FixDocument, Result
from unmask.report import _records

SCHEMA = "unmask.fix/1"
"""Grows by new keys only; a key that changes or goes makes it /2."""


def render(document: FixDocument) -> str:
    """Return the report as ASCII JSON that ends with a line break."""
    run = document.run
    results = {result.subject: result for result in document.results}
    body = {
        "schema": SCHEMA,
        "run": _records.run(run),
        "cpu": document.wish,
        "run_id": document.run_id or None,
        "guests": [_guest(plan, results.get(plan.place.subject)) for plan in document.plans],
        "refused": [{"subject": name, "reason": why} for name, why in document.refused],
        "verdict": document.verdict or None,
        "gaps": [_records.gap(item) for item in document.gaps],
    }
    return json.dumps(body, indent=2) + "\n"


def _guest(plan: Plan, result: Result | None) -> dict[str, Any]:
    place = plan.place
    return {
        "subject": place.subject,
        "id": place.ident,
        "name": place.name,
        "platform": place.platform.value,
        "node": place.node or None,
        "plan": {
            "before": _setting(plan.before),
            "after": _setting(plan.after),
            "changes": plan.changes,
            "flags_gained": list(plan.gained),
            "flags_lost": list(plan.lost),
            "workloads": [_gain(item) for item in plan.gains],
            "moves": [_reach(item) for item in plan.reach],
            "custom_model": plan.custom_model or None,
            "notes": list(plan.notes),
        },
        "constraints": [_constraint(item) for item in plan.constraints],
        "steps": [_step(item) for item in plan.steps],
        "result": _result(result) if result else None,
    }


def _setting(setting: Setting) -> dict[str, Any]:
    return {"value": setting.value, "digest": setting.digest or None}


def _gain(gain: Gain) -> dict[str, Any]:
    return {
        "workload": gain.workload,
        "before": gain.before,
        "after": gain.after,
        "helps": gain.helps,
        "why": gain.why or None,
    }


def _reach(reach: Reach) -> dict[str, Any]:
    return {"node": reach.node, "before": reach.before, "after": reach.after}


def _constraint(constraint: Constraint) -> dict[str, Any]:
    return {
        "code": constraint.code,
        "message": constraint.message,
        "acknowledged": constraint.acknowledged,
        "fatal": constraint.fatal,
        "remedy": constraint.remedy or None,
    }


def _step(step: Step) -> dict[str, Any]:
    return {"what": step.what, "command": step.command or None}


def _result(result: Result) -> dict[str, Any]:
    return {
        "phase": result.phase,
        "problem": result.problem or None,
        "detail": result.detail or None,
        "proof": list(result.proof),
    }
