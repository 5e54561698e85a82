"""The report on a baseline for programs: one JSON object, as docs/baseline.schema.json has it."""

from __future__ import annotations

import json
from typing import Any

from unmask.model.baseline import (
    Arrival,
    Baseline,
    BaselineDocument,
    Drift,
    ModelFit,
    Needs,
    Node,
    Proposal,
    UnknownNode,
)
from unmask.model.reading import Known
from unmask.report import _records

SCHEMA = "unmask.baseline/1"
"""Grows by new keys only; a key that changes or goes makes it /2."""


def render(document: BaselineDocument) -> str:
    """Return the report as ASCII JSON that ends with a line break."""
    run, found = document.run, document.baseline
    body = {
        "schema": SCHEMA,
        "run": _records.run(run),
        "nodes": [_node(item) for item in found.nodes],
        "unknown_nodes": [_unknown(item) for item in found.unknown],
        "needs": _needs(found.needs),
        "common_flags": sorted(found.common),
        "undecided_flags": sorted(found.open),
        "level": _level(found.level),
        "held_back": {name: sorted(flags) for name, flags in found.held_back},
        "alike": [list(names) for names in found.alike],
        "unlocked": dict(found.unlocked),
        "models": [_model(item) for item in found.models],
        "custom": _custom(document),
        "with": [_arrival(item) for item in document.arrivals],
        "drift": _drifts(document),
        "remarks": _remarks(found, document),
        "gaps": [_records.gap(item) for item in document.gaps],
    }
    return json.dumps(body, indent=2) + "\n"


def _level(level: int | None) -> str | None:
    if level is None:
        return None
    return f"x86-64-v{level}" if level else "none"


def _node(node: Node) -> dict[str, Any]:
    host = node.host
    cpu = host.cpu.value if isinstance(host.cpu, Known) else None
    return {
        "subject": host.subject,
        "name": host.name,
        "arch": node.arch,
        "vendor": node.vendor,
        "cpu": cpu.model_name if cpu else "",
        "microcode": cpu.microcode if cpu else "",
        "flags_from": node.source.value,
        "flags": sorted(node.given),
        "software": {
            "hypervisor": host.software.hypervisor,
            "qemu": host.software.qemu,
            "kernel": host.software.kernel,
        },
    }


def _unknown(node: UnknownNode) -> dict[str, Any]:
    return {
        "subject": node.host.subject,
        "name": node.host.name,
        "reason": node.reason,
        "needs": node.needs,
    }


def _needs(needs: Needs) -> dict[str, Any]:
    return {
        "flags": list(needs.flags),
        "helpful": list(needs.helpful),
        "origin": needs.origin,
        "guests": {flag: list(subjects) for flag, subjects in needs.guests},
    }


def _model(fit: ModelFit) -> dict[str, Any]:
    return {
        "name": fit.name,
        "base": fit.base,
        "vendor": fit.vendor,
        "level": _level(fit.level),
        "runs_everywhere": fit.fits,
        "shows": list(fit.shows),
        "lacks": list(fit.lacks),
        "flags": sorted(fit.flags),
        "obstacles": [
            {
                "node": item.node,
                "answer": item.verdict.value,
                "reason": item.reason,
                "flags": list(item.flags),
            }
            for item in fit.obstacles
        ],
        "notes": list(fit.notes),
    }


def _custom(document: BaselineDocument) -> dict[str, Any] | None:
    """Return the custom models by platform; null where there is none, which `remarks` explain."""
    if not document.proposals:
        return None
    return {item.platform: _proposal(item) for item in document.proposals}


def _proposal(item: Proposal) -> dict[str, Any]:
    model = item.model
    return {
        "name": item.name,
        "base": model.base,
        "on": sorted(model.on),
        "off": sorted(model.off),
        "flags": sorted(model.flags),
        "level": _level(model.level),
        "shows": list(model.shows),
        "lacks": list(model.lacks),
        "text": item.text,
        "cpu_argument": item.command,
        "notes": list(model.notes),
    }


def _arrival(item: Arrival) -> dict[str, Any]:
    return {
        "node": item.node,
        "known": item.known,
        "flags_lost": list(item.flags_lost),
        "flags_undecided": list(item.flags_open),
        "level_before": _level(item.level_before),
        "level_after": _level(item.level_after),
        "models_lost": list(item.models_lost),
        "models_undecided": list(item.models_open),
        "best_before": item.best_before,
        "best_after": item.best_after,
        "guests": [
            {
                "guest": guest.guest,
                "name": guest.name,
                "starts": guest.starts,
                "flags": list(guest.flags),
                "reason": guest.reason,
            }
            for guest in item.guests
        ],
        "remarks": list(item.remarks),
    }


def _drifts(document: BaselineDocument) -> dict[str, Any] | None:
    if document.drift is None:
        return None
    return {"since": document.compared, "nodes": [_drift(item) for item in document.drift]}


def _drift(item: Drift) -> dict[str, Any]:
    return {
        "node": item.node,
        "presence": item.presence or "both",
        "lost": list(item.lost),
        "gained": list(item.gained),
        "evidence": list(item.evidence),
        "unknown": item.unknown,
    }


def _remarks(found: Baseline, document: BaselineDocument) -> list[str]:
    return [*found.remarks, *([document.no_proposal] if document.no_proposal else [])]
