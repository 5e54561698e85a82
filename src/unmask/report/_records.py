"""Hosts, guests, findings and the rest as JSON objects, one function each.

docs/audit.schema.json describes every key.
"""

from __future__ import annotations

from typing import Any

from unmask.cpu.features import reported
from unmask.model.case import GuestCase
from unmask.model.cpu import FeatureView, HostCpu
from unmask.model.finding import Accepted, Finding, Skip
from unmask.model.inventory import Cluster, Gap, Host, Snapshot
from unmask.model.reading import Known, Reading
from unmask.model.report import Run
from unmask.report import _visit_records

DOCS = "docs/rules/{code}.md"
"""Where a rule's page is in the project."""


def run(item: Run) -> dict[str, Any]:
    """Return when and of what a report was made; every report has it."""
    return {
        "version": item.version,
        "started": item.started,
        "targets": list(item.targets),
        "complete": item.complete,
    }


def host(item: Host) -> dict[str, Any]:
    """Return a host; `cpu.flags` is null with a reason where its CPU could not be read."""
    return {
        "subject": item.subject,
        "site": item.site or None,
        "name": item.name,
        "platform": str(item.platform),
        "cluster": item.cluster or None,
        "cpu": _host_cpu(item.cpu),
        "software": {
            "hypervisor": item.software.hypervisor or None,
            "qemu": item.software.qemu or None,
            "kernel": item.software.kernel or None,
        },
        "parameters": dict(item.parameters),
    }


def _host_cpu(reading: Reading[HostCpu]) -> dict[str, Any]:
    if isinstance(reading, Known):
        cpu = reading.value
        return {
            "arch": cpu.arch or None,
            "vendor": cpu.vendor or None,
            "model_name": cpu.model_name or None,
            "family": cpu.family,
            "model": cpu.model,
            "stepping": cpu.stepping,
            "microcode": cpu.microcode or None,
            "flags": sorted(cpu.flags),
            "complete": cpu.complete,
            "reason": None,
            "needs": None,
        }
    unknown = ("arch", "vendor", "model_name", "family", "model", "stepping", "microcode", "flags")
    return {
        **dict.fromkeys(unknown),
        "complete": False,
        "reason": reading.reason,
        "needs": reading.needs or None,
    }


def guest(case: GuestCase) -> dict[str, Any]:
    """Return a guest with what it is configured with and what it sees."""
    item = case.guest
    return {
        "subject": item.subject,
        "site": item.site or None,
        "ident": item.ident,
        "name": item.name,
        "platform": str(item.platform),
        "host": item.host,
        "state": str(item.state),
        "kind": str(item.kind),
        "template": item.template,
        "arch": item.arch or None,
        "os": item.os_declared or None,
        "location": item.location or None,
        "lock": item.lock or None,
        "high_availability": item.high_availability or None,
        "replicas": list(item.replicas),
        "snapshots": [_snapshot(one) for one in item.snapshots],
        "cpu": _guest_cpu(case),
        "remarks": [{"kind": str(remark.kind), "text": remark.text} for remark in item.remarks],
        "observed": _observed(case.observed) if case.observed else None,
        **_visit_records.visit(case),
    }


def _observed(view: FeatureView) -> dict[str, Any]:
    """Return what the guest itself says that it sees, with the keys of what it should see."""
    return {
        "label": view.label,
        "vendor": view.vendor or None,
        "level": level(view),
        "level_certain": view.level_certain,
        "features": {flag: str(view.state(flag)) for flag in reported(view.arch)},
    }


def _snapshot(item: Snapshot) -> dict[str, Any]:
    return {"name": item.name, "with_memory": item.with_memory, "cpu": item.cpu.label}


def _guest_cpu(case: GuestCase) -> dict[str, Any]:
    item, spec, view = case.guest, case.guest.current, case.view
    later = None
    if case.pending and item.pending:
        later = {"origin": str(item.pending.origin), **_view(case.pending)}
    return {
        "configured": item.configured.brief,
        "written": item.configured.written or None,
        "origin": str(spec.origin),
        "accelerator": str(view.accelerator),
        **_view(view),
        "pending": item.pending.brief if item.pending else None,
        "after_restart": later,
        "remarks": [
            {"kind": str(remark.kind), "text": remark.text}
            for remark in dict.fromkeys((*item.configured.remarks, *spec.remarks))
        ],
        "steps": [*spec.steps, *(step for step in view.steps if step not in spec.steps)],
    }


def _view(view: FeatureView) -> dict[str, Any]:
    return {
        "effective": view.label,
        "model": view.model or None,
        "vendor": view.vendor or None,
        "level": level(view),
        "level_certain": view.level_certain,
        "features": {flag: str(view.state(flag)) for flag in reported(view.arch)},
        "lost": sorted(view.lost),
        "starts": view.starts,
    }


def level(view: FeatureView) -> str | None:
    """Return "x86-64-v2" and the like, "none" below the first, None where no level is known."""
    if view.level is None or not view.x86:
        return None
    return f"x86-64-v{view.level}" if view.level else "none"


def cluster(item: Cluster) -> dict[str, Any]:
    """Return a cluster and its custom models."""
    return {
        "subject": item.subject,
        "site": item.site or None,
        "name": item.name,
        "platform": str(item.platform),
        "custom_models": {
            name: {"written": spec.written, "model": spec.model or None}
            for name, spec in item.custom_models
        },
    }


def finding(item: Finding) -> dict[str, Any]:
    """Return a finding; `docs` is the path of its page."""
    problem = item.problem
    return {
        "code": item.code,
        "title": item.title,
        "severity": problem.severity.word,
        "confidence": str(problem.confidence),
        "subject": item.subject,
        "name": item.name,
        "host": item.host or None,
        "message": problem.message,
        "evidence": list(problem.evidence),
        "remedy": problem.remedy or None,
        "command": problem.command or None,
        "flags": list(problem.flags),
        "docs": DOCS.format(code=item.code),
    }


def accepted(item: Accepted) -> dict[str, Any]:
    """Return an accepted finding with its reason."""
    return {
        "finding": finding(item.finding),
        "reason": item.reason,
        "expires": item.expires or None,
    }


def skip(item: Skip) -> dict[str, Any]:
    """Return a check that could not be made."""
    return {
        "code": item.code,
        "subject": item.subject,
        "reason": item.reason,
        "needs": item.needs or None,
    }


def gap(item: Gap) -> dict[str, Any]:
    """Return something that could not be read."""
    return {"subject": item.subject, "reason": item.reason, "needs": item.needs or None}
