"""A comparison of two audits for programs: docs/diff.schema.json."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from typing import Any

from unmask.model.difference import (
    Audit,
    Change,
    CpuChange,
    Difference,
    FindingChange,
    Passing,
    WorkloadChange,
)
from unmask.report import _records

SCHEMA = "unmask.diff/1"
"""Grows by new keys only; a key that changes or goes makes it /2."""


def render(difference: Difference, *, every: bool = False) -> str:
    """Return the comparison as ASCII JSON; with `every` also the unchanged findings."""
    counts = Counter(item.change for item in difference.findings)
    (came, filled), (lost, made) = difference.gaps, difference.skips
    body = {
        "schema": SCHEMA,
        "old": _audit(difference.old),
        "new": _audit(difference.new),
        "complete": difference.complete,
        "notes": list(difference.notes),
        "counts": {str(change): counts[change] for change in Change},
        "findings": [
            _finding(item)
            for item in difference.findings
            if every or item.change is not Change.UNCHANGED
        ],
        "passages": [_passing(item) for item in difference.passings],
        "cpus": [_cpu(item) for item in difference.cpus],
        "workloads": [_workload(item) for item in difference.workloads],
        "gaps": {
            "new": [_records.gap(item) for item in came],
            "filled": [_records.gap(item) for item in filled],
        },
        "skips": {
            "new": [_records.skip(item) for item in lost],
            "filled": [_records.skip(item) for item in made],
        },
    }
    return json.dumps(body, indent=2) + "\n"


def _audit(item: Audit) -> dict[str, Any]:
    return {
        "file": item.file,
        "version": item.version,
        "started": item.started or None,
        "targets": list(item.targets),
        "complete": item.complete,
        "rules": list(item.rules),
        "guests": len(item.guests),
        "hosts": len(item.hosts),
    }


def _finding(item: FindingChange) -> dict[str, Any]:
    return {
        "change": str(item.change),
        "note": item.note or None,
        "before": _records.finding(item.before) if item.before else None,
        "after": _records.finding(item.after) if item.after else None,
    }


def _passing(item: Passing) -> dict[str, Any]:
    return {
        "what": item.what,
        "change": str(item.passage),
        "subject": item.subject,
        "name": item.name,
        "from": item.origin or None,
        "to": item.target or None,
        "note": item.note or None,
    }


def _cpu(item: CpuChange) -> dict[str, Any]:
    found = asdict(item)
    return {**found, "won": list(item.won), "lost": list(item.lost)}


def _workload(item: WorkloadChange) -> dict[str, Any]:
    return asdict(item)
