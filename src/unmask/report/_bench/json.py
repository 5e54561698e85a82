"""The report of `unmask bench` for programs: JSON, described by docs/bench.schema.json."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from unmask.measure.advise import Snippet
from unmask.measure.compare import Change
from unmask.measure.reference import Share, WhatIf
from unmask.measure.statistics import Series
from unmask.model.bench import BenchResult, Diagnosis
from unmask.model.reading import Known
from unmask.report._bench.document import Asked, BenchDocument, Machine, build

SCHEMA = "unmask.bench/1"
"""Grows by new keys only; a key that changes or goes makes it /2."""


def render(document: BenchDocument) -> str:
    """Return the report as ASCII JSON that ends with a line break."""
    body = {
        "schema": SCHEMA,
        "run": {"version": document.version, "started": document.started},
        "machines": [_machine(machine) for machine in document.machines],
    }
    return json.dumps(body, indent=2) + "\n"


def records(results: Sequence[BenchResult]) -> list[dict[str, Any]]:
    """Return each result as a machine of that report, the oldest first.

    Its `changes` are those since it was measured before by the same method.
    """
    return [_machine(_among(number, results)) for number in range(len(results))]


def _among(number: int, results: Sequence[BenchResult]) -> Machine:
    """Return one of several results, held against its node and what it was before."""
    result = results[number]
    nodes = [
        other
        for other in results
        if other is not result and other.subject == result.host and not other.asks_what_if
    ]
    before = [
        other
        for other in results[:number]
        if (other.subject, other.method) == (result.subject, result.method)
    ]
    asked = Asked(before=tuple(before[-1:]))
    return build((result, *nodes[-1:]), asked, version="", started="").machines[0]


def _machine(machine: Machine) -> dict[str, Any]:
    result = machine.result
    return {
        "subject": result.subject,
        "name": result.name,
        "host": result.host,
        "started": result.started,
        "method": result.method,
        "way": result.way,
        "environment": _environment(result),
        "figures": [_figure(one) for one in machine.series],
        "noise": {"fit": machine.noise.fit, "reasons": list(machine.noise.reasons)},
        "diagnosis": _diagnosis(machine.diagnosis) if machine.diagnosis else None,
        "node": [_share(share) for share in machine.shares],
        "what_if": [_what_if(row) for row in machine.what_if],
        "changes": [_change(change) for change in machine.changes],
        "snippets": [_snippet(snippet) for snippet in machine.snippets],
        "problems": list(result.problems),
    }


def _environment(result: BenchResult) -> dict[str, Any]:
    place = result.environment
    cpu = place.cpu.value if isinstance(place.cpu, Known) else None
    system = place.system.value if isinstance(place.system, Known) else None
    library = place.openssl.value if isinstance(place.openssl, Known) else None
    around = place.virtualisation.value if isinstance(place.virtualisation, Known) else None
    return {
        "cpu": {"vendor": cpu.vendor, "name": cpu.model_name, "flags": sorted(cpu.flags)}
        if cpu
        else None,
        "system": {"name": system.name, "kernel": system.kernel} if system else None,
        "openssl": library.version if library else None,
        "virtualisation": around.detected if around else None,
        "accelerator": place.accelerator.value,
        "drivers": dict(place.drivers),
        "override": place.override,
        "pinned": place.pinned,
        "load": place.load,
    }


def _figure(one: Series) -> dict[str, Any]:
    return {
        "tool": one.tool.value,
        "algorithm": one.algorithm,
        "setting": one.setting,
        "ended": one.ended.value,
        "unit": "requests/s" if one.algorithm.startswith("requests") else "bytes/s",
        "median": one.rate,
        "low": one.low,
        "high": one.high,
        "spread": one.spread,
        "runs": one.count,
        "illegal_instructions": one.illegal,
        "block": one.block,
        "steal": one.steal,
        "notes": list(one.notes),
    }


def _diagnosis(found: Diagnosis) -> dict[str, Any]:
    return {
        "cause": found.cause.value,
        "sentence": found.sentence,
        "confidence": found.confidence.value,
        "nested": found.nested,
        "evidence": list(found.evidence),
        "advice": list(found.advice),
        "useless": list(found.useless),
    }


def _share(share: Share) -> dict[str, Any]:
    return {
        "tool": share.tool.value,
        "algorithm": share.algorithm,
        "here": share.guest,
        "there": share.node,
        "share": share.share,
        "differs": share.differs,
        "sentence": share.sentence,
    }


def _what_if(row: WhatIf) -> dict[str, Any]:
    return {
        "model": row.model,
        "algorithm": row.algorithm,
        "rate": row.rate,
        "factor": row.factor,
        "of_host": row.of_host,
        "noisy": row.noisy,
        "note": row.note,
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "tool": change.tool.value,
        "algorithm": change.algorithm,
        "before": change.before,
        "after": change.after,
        "ratio": change.ratio,
        "credit": change.credit.value,
        "sentence": change.sentence,
    }


def _snippet(snippet: Snippet) -> dict[str, Any]:
    return {
        "title": snippet.title,
        "path": snippet.path,
        "text": snippet.text,
        "warning": snippet.warning,
    }
