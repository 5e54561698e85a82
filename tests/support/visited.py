"""Guests that somebody has looked into, for tests of what is found there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from support import probe_case
from unmask import plugins
from unmask.engine.cases import guest_cases
from unmask.errors import UnreadError
from unmask.model.case import GuestCase
from unmask.model.cpu import Accelerator, CpuSpec, Mode, Origin
from unmask.model.inside import Inside, System
from unmask.model.inventory import Guest, GuestKind, GuestState, Inventory, Platform
from unmask.model.reading import Known
from unmask.model.tls_endpoint import TlsEndpoint
from unmask.model.visit import Visit, Way
from unmask.model.workload import Finder, Workload, WorkloadKind
from unmask.probes._bounds import bounded
from unmask.probes._section import Section

LINUX = System("Linux", kernel="6.1.0-50-cloud-amd64", machine="x86_64")
UNSEEN_CPU = CpuSpec(
    written="", origin=Origin.CONFIG, mode=Mode.MODEL, label="kvm64", model="kvm64"
)


def guest(
    inside: Inside | None = None, endpoints: tuple[TlsEndpoint, ...] = (), **changes: Any
) -> Guest:
    """Return a running guest under KVM; nobody was in it where `inside` is None."""
    visit = Visit(endpoints=endpoints)
    if inside is not None:
        visit = replace(visit, inside=Known(inside), way=Way.AGENT, by="the guest agent")
    made = Guest(
        subject="one/web",
        ident="1",
        name="web",
        platform=Platform.LIBVIRT,
        kind=GuestKind.VM,
        host="one",
        state=GuestState.RUNNING,
        arch="x86_64",
        accelerator=Accelerator.KVM,
        configured=UNSEEN_CPU,
        visit=visit,
    )
    return replace(made, **changes)


def inside(**readings: Any) -> Inside:
    """Return what was read; values are taken as known, and the system is Linux."""
    ready = {"root", "partial"}
    values: dict[str, Any] = {
        name: value if name in ready or hasattr(value, "known") else Known(value)
        for name, value in {"system": LINUX, **readings}.items()
    }
    return Inside(**values)


def without_volumes(**readings: Any) -> Inside:
    """Return an entered Linux guest where no volume was found on any disk, but for `readings`."""
    none: dict[str, Any] = dict.fromkeys(
        ("block_devices", "signatures", "dm_crypt", "luks_headers", "crypttab"), ()
    )
    return inside(**{"root": True, **none, **readings})


def recorded(module: str, name: str) -> Any:
    """Return what a probe reads in one of its recorded cases."""
    case = next(case for case in probe_case.cases(module) if case["name"] == name)
    return bounded(probe_case.probes()[module].parse(probe_case.section(case)))


def parsed(module: str, **parts: str) -> Any:
    """Return what a probe reads in a section with these parts."""
    found = {name: text.encode() for name, text in parts.items()}
    return bounded(probe_case.probes()[module].parse(Section(parts=found)))


def find(module: Any, seen: Guest) -> list[Workload]:
    """Return what a finder yields; it must not owe anything."""
    finder: Finder = module.WORKLOAD
    return list(finder.find(seen))


def find_and_owe(module: Any, seen: Guest) -> tuple[list[Workload], str]:
    """Return what a finder yields before it raises, and why it raises ("" if it does not)."""
    found = []
    try:
        for item in module.WORKLOAD.find(seen):
            found.append(item)  # noqa: PERF402 - what comes before the error counts
    except UnreadError as error:
        return found, f"{error.reason} ({error.needs})"
    return found, ""


def case(seen: Guest) -> GuestCase:
    """Return the guest as the engine judges it, with all finders."""
    finders = plugins.load("unmask.workloads", "WORKLOAD", Finder)
    (only,) = guest_cases(Inventory(guests=(seen,)), finders)
    return only


def judged(seen: Guest, kind: WorkloadKind) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return status and missing flags of the guest's workloads of one kind, by name."""
    return {
        item.workload.name: (item.status, item.outlook.missing if item.outlook else ())
        for item in case(seen).workloads
        if item.workload.kind is kind
    }
