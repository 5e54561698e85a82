"""What is behind one line of the table of guests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from unmask.model.case import GuestCase
from unmask.model.finding import Finding
from unmask.model.reading import Known, Missing
from unmask.report import _workloads
from unmask.report._html.labels import Ref, sentence
from unmask.report._html.loads import Load, load
from unmask.report._text import clean, listed, reasoned

STEPS = 12
LOADS = 40
FINDINGS = 30


@dataclass(frozen=True, slots=True)
class Details:
    """How a guest came to what its line says."""

    facts: tuple[tuple[str, str], ...]
    """Names and values."""
    steps: tuple[str, ...]
    """How the configuration led to the CPU."""
    later: tuple[str, ...]
    """The same of a change that is pending."""
    loads: tuple[Load, ...]
    findings: tuple[Ref, ...]
    """Severity and code, with the finding's place on the page."""
    unread: tuple[str, ...]


def build(
    case: GuestCase, findings: Sequence[Finding], anchors: dict[tuple[str, str], str]
) -> Details:
    """Return a guest's details; `findings` are its own, the worst first."""
    spec, view = case.guest.current, case.view
    steps = [*spec.steps, *(step for step in view.steps if step not in spec.steps)]
    loads = sorted(case.workloads, key=lambda item: _workloads.Row(case, item).badness)
    codes = dict.fromkeys((item.problem.severity.word, item.code) for item in findings)
    return Details(
        facts=tuple((name, sentence(value)) for name, value in _facts(case) if value),
        steps=tuple(sentence(step) for step in steps[:STEPS]),
        later=tuple(sentence(step) for step in case.pending.steps[:STEPS]) if case.pending else (),
        loads=tuple(load(item) for item in loads[:LOADS]),
        findings=tuple(
            Ref(f"{word} {code}", anchors.get((case.guest.subject, code), ""))
            for word, code in list(codes)[:FINDINGS]
        ),
        unread=tuple(_unread(case)),
    )


def _facts(case: GuestCase) -> Iterator[tuple[str, str]]:
    guest = case.guest
    yield "subject", guest.subject
    written = guest.configured.written
    yield "written", "" if written in ("", guest.configured.brief) else written
    if case.pending and guest.pending:
        yield "after a stop and start", f"{guest.pending.brief} gives {case.pending.label}"
    if case.view.lost:
        yield "asked for, and not given by its host", listed(sorted(case.view.lost))
    if not case.view.starts:
        yield "start", "it does not start on its host with this CPU"
    yield "seen inside", _inside(case)
    yield "machine type", guest.machine
    yield "declared system", guest.os_declared
    yield "locked for", guest.lock
    yield "kept by the resource manager", guest.high_availability
    yield "replicated to", listed(guest.replicas)
    memory = [snapshot.name for snapshot in guest.snapshots if snapshot.with_memory]
    yield "snapshots with memory", listed([clean(name, 60) for name in memory])
    yield "configuration", guest.location


def _inside(case: GuestCase) -> str:
    """Return by which way somebody was inside and what runs there, or why nobody was."""
    visit = case.guest.visit
    if isinstance(visit.inside, Missing):
        return visit.inside.reason if visit.tried else ""
    system = visit.inside.value.system
    name = ""
    if isinstance(system, Known):
        found = system.value
        name = " ".join(word for word in (found.appliance, found.appliance_version) if word)
        name = ", ".join(word for word in (name, found.name, found.kernel) if word)
    return f"{name or 'a system not known'}; by {visit.by}" if visit.by else name


def _unread(case: GuestCase) -> Iterator[str]:
    for item in case.unread:
        yield sentence(f"{item.kind}: {reasoned(item.reason, item.needs)}")
