"""The JSON report of `unmask audit`, read back as far as a comparison needs it.

Reports grow by new keys (docs/json.md), so keys that are not known are no fault, and those that
came later than version 1 need not be there. What is there has to have its type.
"""

from __future__ import annotations

import dataclasses
import types
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

from unmask.dialects import saved_text
from unmask.dialects.records import WrongValueError, codec
from unmask.dialects.saved_text import Form
from unmask.errors import InputError
from unmask.model.difference import Audit, SeenGuest, SeenHost, SeenWorkload
from unmask.model.finding import Accepted, Confidence, Finding, Problem, Severity, Skip
from unmask.model.inventory import Gap

SCHEMA = "unmask.audit"
VERSION = 1
LIMIT = 256 * 1024 * 1024
"""Characters of text that are looked at: some 30,000 guests."""
FORM = Form(
    schema=SCHEMA,
    version=VERSION,
    limit=LIMIT,
    what="a JSON report",
    no="not a JSON report of unmask audit",
    has="this report has",
    it="it",
)


@dataclass(frozen=True, slots=True)
class _Run:
    version: str
    started: str
    targets: tuple[str, ...]
    complete: bool


@dataclass(frozen=True, slots=True)
class _Cluster:
    subject: str


@dataclass(frozen=True, slots=True)
class _HostCpu:
    model_name: str = ""
    flags: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class _Host:
    subject: str
    name: str
    cpu: _HostCpu
    cluster: str = ""
    site: str = ""


@dataclass(frozen=True, slots=True)
class _GuestCpu:
    effective: str
    features: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Observed:
    label: str


@dataclass(frozen=True, slots=True)
class _Lack:
    probe: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Inside:
    reason: str = ""
    partial: tuple[_Lack, ...] = ()
    missing: tuple[_Lack, ...] = ()


@dataclass(frozen=True, slots=True)
class _Disks:
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Endpoint:
    address: str


@dataclass(frozen=True, slots=True)
class _Unread:
    kind: str


@dataclass(frozen=True, slots=True)
class _Guest:
    subject: str
    ident: str
    name: str
    platform: str
    host: str
    cpu: _GuestCpu
    state: str = ""
    site: str = ""
    observed: _Observed | None = None
    inside: _Inside | None = None
    disks: _Disks | None = None
    endpoints: tuple[_Endpoint, ...] = ()
    workloads: tuple[SeenWorkload, ...] = ()
    unread: tuple[_Unread, ...] = ()


@dataclass(frozen=True, slots=True)
class _Finding:
    code: str
    title: str
    severity: str
    confidence: Confidence
    subject: str
    name: str
    message: str
    host: str = ""
    evidence: tuple[str, ...] = ()
    remedy: str = ""
    command: str = ""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Accepted:
    finding: _Finding
    reason: str
    expires: str = ""


@dataclass(frozen=True, slots=True)
class _Report:
    run: _Run
    clusters: tuple[_Cluster, ...]
    hosts: tuple[_Host, ...]
    guests: tuple[_Guest, ...]
    findings: tuple[_Finding, ...]
    accepted: tuple[_Accepted, ...]
    skips: tuple[Skip, ...]
    gaps: tuple[Gap, ...]
    rules: tuple[str, ...] = ()


def load(text: str) -> Audit:
    """Return the audit that a JSON report shows.

    Raises:
        InputError: It is no such report, or of another version; the message names the first wrong
            place as a path like `findings[3].severity`.
    """
    body = saved_text.load(FORM, text)
    try:
        report: _Report = codec(_Report).load(_known(_Report, body))
    except WrongValueError as error:
        raise InputError(f"not a valid report: {error}") from error
    _check_subjects(report)
    findings = tuple(_finding(item, f"findings[{n}]") for n, item in enumerate(report.findings))
    return Audit(
        version=report.run.version,
        started=report.run.started,
        targets=report.run.targets,
        complete=report.run.complete,
        rules=report.rules,
        clusters=tuple(item.subject for item in report.clusters),
        hosts=tuple(_host(item) for item in report.hosts),
        guests=tuple(_guest(item) for item in report.guests),
        findings=findings,
        accepted=tuple(
            Accepted(_finding(item.finding, f"accepted[{n}].finding"), item.reason, item.expires)
            for n, item in enumerate(report.accepted)
        ),
        skips=report.skips,
        gaps=report.gaps,
    )


def _known(kind: Any, value: Any) -> Any:
    """Return the value without keys that its type does not have, and without nulls.

    An object that its type calls pairs becomes some. Whatever else is wrong with it is left to the
    codec.
    """
    if dataclasses.is_dataclass(kind) and isinstance(value, dict):
        hints = _hints(cast("type", kind))
        return {
            key: _known(hints[key], item)
            for key, item in value.items()
            if key in hints and item is not None
        }
    if get_origin(kind) in (Union, types.UnionType):
        return _known(get_args(kind)[0], value)
    parts = get_args(kind)
    if get_origin(kind) is tuple and isinstance(value, list):
        return [_known(parts[0], item) for item in value]
    if get_origin(kind) is tuple and get_origin(parts[0]) is tuple and isinstance(value, dict):
        return [[key, item] for key, item in sorted(value.items())]
    return value


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _check_subjects(report: _Report) -> None:
    for what in ("hosts", "guests"):
        counts = Counter(item.subject for item in getattr(report, what))
        for subject, count in counts.most_common(1):
            if count > 1:
                raise InputError(f"not a valid report: {what}: {subject[:80]!r} appears twice")


def _finding(item: _Finding, place: str) -> Finding:
    severity = next((each for each in Severity if each.word == item.severity), None)
    if severity is None:
        words = ", ".join(each.word for each in Severity)
        raise InputError(
            f"not a valid report: {place}.severity: {item.severity[:60]!r} is none of {words}"
        )
    problem = Problem(
        severity=severity,
        message=item.message,
        evidence=item.evidence,
        remedy=item.remedy,
        command=item.command,
        confidence=item.confidence,
        flags=item.flags,
    )
    return Finding(item.code, item.title, item.subject, item.name, item.host, problem)


def _host(item: _Host) -> SeenHost:
    flags = None if item.cpu.flags is None else frozenset(item.cpu.flags)
    return SeenHost(item.subject, item.name, item.cluster, item.site, item.cpu.model_name, flags)


def _guest(item: _Guest) -> SeenGuest:
    inside = item.inside
    entered = inside is not None and not inside.reason
    lacks = (
        {(lack.probe, lack.reason) for lack in (*inside.partial, *inside.missing)} if inside else ()
    )
    looks = {
        "inside": entered,
        "disks": item.disks is not None and not item.disks.reason,
        "endpoints": bool(item.endpoints),
        "cpu": item.observed is not None,
    }
    return SeenGuest(
        subject=item.subject,
        ident=item.ident,
        name=item.name,
        platform=item.platform,
        host=item.host,
        site=item.site,
        effective=item.cpu.effective,
        features=item.cpu.features,
        workloads=item.workloads,
        looks=frozenset(name for name, seen in looks.items() if seen),
        lacks=tuple(sorted(lacks)),
        blind=frozenset(unread.kind for unread in item.unread),
        closed=inside.reason if inside else "",
        state=item.state,
    )
