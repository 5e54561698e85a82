"""Expand the compact inventories in fixtures/rules/ and hold a rule to what they expect.

A file is `{"cases": [...]}`. A case has a name, `hosts` (subject to a CPU of cpus.json, by name, or
as `{"like": name, "without": "flags", "with": "flags", ...}`, or null for one that could not be
read), `guests` (only what differs from a running Proxmox guest lab/101 with kvm64), and what the
rule under test must say: `findings` with severity, flags and words, and `skips`. What is not listed
must not be said.

`models` are the cluster's custom models, by name.

A guest may have been entered: `inside` holds fields of `Inside` as a saved inventory writes them,
without "known"; `sees` is the CPU that it shows there, like a model of QEMU or Proxmox VE; and
`workloads` and `unread` are what the finders make of it, judged by the engine as everybody's are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from unmask.cpu import catalogue, shown_name
from unmask.dialects.records import codec
from unmask.engine.cases import guest_cases
from unmask.engine.run import judge
from unmask.errors import UnreadError
from unmask.model.cpu import Accelerator, CpuSpec, HostCpu, Mode, Origin, Remark, RemarkKind
from unmask.model.finding import Finding, Outcome, Rule
from unmask.model.inside import Inside
from unmask.model.inventory import (
    Cluster,
    Guest,
    GuestKind,
    GuestState,
    Host,
    Inventory,
    Platform,
)
from unmask.model.reading import Known, Missing, Reading
from unmask.model.visit import UNVISITED, Visit, Way
from unmask.model.workload import Finder, Workload, WorkloadKind

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "fixtures" / "rules"
KINDS = ("fires", "silent", "unknown")
EXPECTED = frozenset(["subject", "severity", "flags", "words", "never", "command", "confidence"])
MODES = {"host": Mode.HOST, "max": Mode.MAXIMUM, "host-model": Mode.HOST_MODEL}


@dataclass(frozen=True)
class RuleCase:
    """One case of a fixture file, expanded."""

    name: str
    inventory: Inventory
    findings: tuple[Mapping[str, Any], ...]
    skips: tuple[Mapping[str, Any], ...]
    finders: tuple[Finder, ...] = ()


def load(code: str, kind: str) -> list[RuleCase]:
    """Return the cases of fixtures/rules/CODE/KIND.json."""
    document = json.loads((FOLDER / code / f"{kind}.json").read_text(encoding="utf-8"))
    return [expand(case) for case in document["cases"]]


def expand(case: Mapping[str, Any]) -> RuleCase:
    """Return a case with its inventory."""
    known = {"name", "hosts", "guests", "models", "findings", "skips", "why"}
    assert not set(case) - known, f"{case['name']}: unknown keys {set(case) - known}"
    return RuleCase(
        case["name"],
        inventory(
            case.get("hosts", {"lab/one": "broadwell"}),
            case.get("guests", []),
            case.get("models", {}),
        ),
        tuple(case.get("findings", [])),
        tuple(case.get("skips", [])),
        finders(case.get("guests", [])),
    )


def inventory(
    hosts: Mapping[str, Any],
    guests: Sequence[Mapping[str, Any]],
    models: Mapping[str, Any] | None = None,
) -> Inventory:
    """Return the inventory of compact hosts and guests; "lab/one" is host one of cluster lab.

    `models` are custom models that every cluster has, by name.
    """
    custom = tuple((name, spec(entry)) for name, entry in sorted((models or {}).items()))
    clusters = sorted({subject.split("/")[0] for subject in hosts})
    return Inventory(
        targets=("test",),
        hosts=tuple(host(subject, entry) for subject, entry in hosts.items()),
        guests=tuple(guest(entry) for entry in guests),
        clusters=tuple(Cluster(name, name, Platform.PROXMOX, custom) for name in clusters),
    )


def finders(guests: Sequence[Mapping[str, Any]]) -> tuple[Finder, ...]:
    """Return finders, one a kind, that find what the entries list."""
    listed = {entry.get("subject", "lab/101"): entry for entry in guests}

    def find(kind: WorkloadKind, found: Guest) -> Iterator[Workload]:
        entry = listed[found.subject]
        for written in entry.get("workloads", ()):
            if written["kind"] == kind:
                yield codec(Workload).load(written)
        for unread in entry.get("unread", ()):
            if unread["kind"] == kind:
                raise UnreadError(unread["reason"], unread.get("needs", ""))

    return tuple(Finder(kind, partial(find, kind)) for kind in WorkloadKind)


def visit(entry: Mapping[str, Any]) -> Visit:
    """Return what was learnt inside of a guest: nothing where the entry says nothing of it."""
    if not entry.keys() & {"inside", "sees", "workloads", "unread"}:
        return UNVISITED
    fields = {
        name: value if "missing" in value else {"known": value}
        for name, value in entry.get("inside", {}).items()
    }
    seen: Inside = codec(Inside).load(fields)
    if "sees" in entry:
        seen = replace(seen, cpu=Known(shown(entry["sees"])))
    return Visit(Known(seen), Way.AGENT, "the guest agent")


def shown(entry: Any) -> HostCpu:
    """Return the CPU that a guest lists under KVM: that of a model, changed."""
    if isinstance(entry, str):
        return shown({"like": entry})
    named = _named(entry["like"], Platform.PROXMOX)
    model = catalogue.find(named.model)
    flags = (model.flags if model else frozenset()) | named.on | _set(entry, "with")
    rest = {key: value for key, value in entry.items() if key not in ("like", "with", "without")}
    return HostCpu(**{"arch": "x86_64", "flags": flags - _set(entry, "without"), **rest})


def host(subject: str, entry: Any) -> Host:
    """Return a host; its name is the end of the subject."""
    cluster, _, name = subject.rpartition("/")
    return Host(subject, name, Platform.PROXMOX, cluster, host_cpu(entry))


def host_cpu(entry: Any) -> Reading[HostCpu]:
    """Return a host's CPU from the name of one, a change of one, or null."""
    if entry is None:
        return Missing("no cpuinfo file", "nodes/NAME/cpuinfo")
    if isinstance(entry, str):
        return Known(_cpus()[entry])
    rest = {key: value for key, value in entry.items() if key not in ("like", "with", "without")}
    if "bugs" in rest:
        rest["bugs"] = frozenset(rest["bugs"].split())
    cpu = _cpus()[entry["like"]]
    flags = (cpu.flags | _set(entry, "with")) - _set(entry, "without")
    return Known(replace(cpu, flags=flags, **rest))


def guest(entry: Mapping[str, Any]) -> Guest:
    """Return a guest: by default a running Proxmox guest lab/101 on lab/one with kvm64."""
    subject = entry.get("subject", "lab/101")
    platform = Platform(entry.get("platform", "proxmox"))
    kind = GuestKind(entry.get("kind", "vm"))
    specs = {key: spec(entry[key], platform) for key in ("running", "pending") if key in entry}
    accelerator = Accelerator(entry.get("accelerator", "kvm"))
    configured = spec(entry.get("cpu", "default"), platform)
    if platform is Platform.UNSEEN and "sees" in entry:
        configured = shown_name.spec(shown(entry["sees"]), accelerator)
    return Guest(
        subject=subject,
        ident=subject.rpartition("/")[2],
        name=entry.get("guest_name", "web"),
        platform=platform,
        kind=kind,
        host=entry.get("host", "lab/one"),
        state=GuestState(entry.get("state", "running")),
        arch=entry.get("arch", "x86_64"),
        accelerator=accelerator,
        configured=configured,
        running=specs.get("running"),
        pending=specs.get("pending"),
        template=entry.get("template", False),
        os_declared=entry.get("os", "l26"),
        remarks=_remarks(entry),
        visit=visit(entry),
    )


def spec(entry: Any, platform: Platform = Platform.PROXMOX) -> CpuSpec:
    """Return a specification from a model's name, as the platform expands it, with changes."""
    if isinstance(entry, str):
        return _named(entry, platform)
    base = _named(entry.get("like", "kvm64"), platform)
    changes: dict[str, Any] = {
        key: entry[key]
        for key in ("written", "label", "model", "enforced", "exact")
        if key in entry
    }
    if "mode" in entry:
        changes["mode"] = Mode(entry["mode"])
    if "origin" in entry:
        changes["origin"] = Origin(entry["origin"])
    off = _set(entry, "off")
    return replace(
        base,
        on=(base.on | _set(entry, "on")) - off,
        off=off,
        optional=_set(entry, "optional"),
        remarks=_remarks(entry),
        **changes,
    )


def _named(name: str, platform: Platform) -> CpuSpec:
    if name == "default":
        return replace(_named("kvm64", platform), written="", origin=Origin.DEFAULT)
    if name in MODES:
        return CpuSpec(name, Origin.CONFIG, MODES[name], name)
    if name == "container":
        return CpuSpec("", Origin.DEFAULT, Mode.NONE, "the host's")
    own = catalogue.proxmox_model(name) if platform is Platform.PROXMOX else None
    label = catalogue.proxmox_deprecated(name) or name
    model = own.reported_model if own else label
    added = frozenset({"lahf_lm", "sep"}) if model == "kvm64" else frozenset()
    on = own.on if own else added
    return CpuSpec(name, Origin.CONFIG, Mode.MODEL, label, model, on, enforced=True)


def _set(entry: Mapping[str, Any], key: str) -> frozenset[str]:
    return frozenset(entry.get(key, "").split())


def _remarks(entry: Mapping[str, Any]) -> tuple[Remark, ...]:
    return tuple(Remark(RemarkKind(kind), text) for kind, text in entry.get("remarks", ()))


@cache
def _cpus() -> Mapping[str, HostCpu]:
    document = json.loads((FOLDER / "cpus.json").read_text(encoding="utf-8"))
    return {name: _cpu(entry) for name, entry in document.items()}


def _cpu(entry: Mapping[str, Any]) -> HostCpu:
    sets = {key: frozenset(entry[key].split()) for key in ("flags", "bugs")}
    return HostCpu(**{**entry, **sets})


def cases(code: str) -> list[RuleCase]:
    """Return the cases of all three files of a rule."""
    return [case for kind in KINDS for case in load(code, kind)]


def hold(rule: Rule, case: RuleCase) -> Outcome:
    """Assert that a rule says exactly what a case expects, and return what it said."""
    outcome = judge(case.inventory, [rule], guest_cases(case.inventory, case.finders))
    said = [(finding.subject, finding.problem.severity.word) for finding in outcome.findings]
    assert said == [(entry["subject"], entry["severity"]) for entry in case.findings], outcome
    for finding, entry in zip(outcome.findings, case.findings, strict=True):
        _hold_finding(finding, entry)
    assert [skip.subject for skip in outcome.skips] == [entry["subject"] for entry in case.skips]
    for skip, entry in zip(outcome.skips, case.skips, strict=True):
        for word in entry["words"]:
            assert word in f"{skip.reason} | {skip.needs}", skip
    return outcome


def _hold_finding(finding: Finding, entry: Mapping[str, Any]) -> None:
    problem = finding.problem
    assert not set(entry) - EXPECTED, entry
    assert list(problem.flags) == entry.get("flags", "").split(), problem
    assert problem.evidence
    assert problem.remedy
    text = " | ".join((problem.message, *problem.evidence, problem.remedy))
    for word in entry["words"]:
        assert word in text, (word, text)
    for word in entry.get("never", ()):
        assert word not in f"{text} | {problem.command}", (word, text)
    if "confidence" in entry:
        assert problem.confidence == entry["confidence"]
    if "command" in entry:
        assert problem.command == entry["command"]
