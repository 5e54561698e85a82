"""What was learnt inside of a guest, of its disks and over the network, as JSON objects.

docs/audit.schema.json describes every key.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from unmask.model.case import GuestCase
from unmask.model.disk import Disk, DiskPart, HostEncryption
from unmask.model.inside import UNASKED, Inside, Partial, Resources, System, Virtualisation
from unmask.model.outlook import Note
from unmask.model.reading import Known, Missing, Reading
from unmask.model.tls_endpoint import TlsEndpoint
from unmask.model.visit import UNSEEN_DISKS, Attempt, Declaration, Visit
from unmask.model.workload import JudgedWorkload, Unread

_DIGITS = 4
"""Of a factor; what was measured is not known any better."""


def visit(case: GuestCase) -> dict[str, Any]:
    """Return all keys of a guest that a visit fills."""
    seen = case.guest.visit
    return {
        "declared": [_declaration(item) for item in case.guest.declared],
        "addresses": list(seen.addresses),
        "inside": _visited(seen) if seen.tried else None,
        "disks": _disks(seen.disks),
        "endpoints": [_endpoint(item) for item in seen.endpoints],
        "workloads": [workload(item) for item in case.workloads],
        "unread": [_unread(item) for item in case.unread],
    }


def workload(item: JudgedWorkload) -> dict[str, Any]:
    """Return a workload with how it fares; what was not judged is null."""
    found, outlook = item.workload, item.outlook
    return {
        "kind": str(found.kind),
        "name": found.name,
        "detail": found.detail or None,
        "consumer": found.consumer or None,
        "version": found.version or None,
        "cipher": found.cipher or (outlook.cipher if outlook else "") or None,
        "ports": list(found.ports),
        "driver": found.driver or None,
        "host_side": found.host_side,
        "status": item.status,
        "how": (outlook.how if outlook else "") or None,
        "missing": list(outlook.missing) if outlook else [],
        "factor": _share(outlook.factor) if outlook else None,
        "of_best": _share(outlook.of_best) if outlook else None,
        "factor_origin": (outlook.factor_origin if outlook else "") or None,
        "better": list(outlook.better) if outlook else [],
        "notes": [_note(note) for note in outlook.notes] if outlook else [],
        "activity": str(found.activity),
        "confidence": str(found.confidence),
        "evidence": list(found.evidence),
    }


def _share(factor: float | None) -> float | None:
    return None if factor is None else round(factor, _DIGITS)


def _note(item: Note) -> dict[str, Any]:
    return {"kind": str(item.kind), "text": item.text, "confidence": str(item.confidence)}


def _unread(item: Unread) -> dict[str, Any]:
    return {"kind": str(item.kind), "reason": item.reason, "needs": item.needs or None}


def _declaration(item: Declaration) -> dict[str, Any]:
    return {
        "kind": item.kind,
        "present": item.present,
        "detail": item.detail or None,
        "where": item.where,
    }


def _visited(seen: Visit) -> dict[str, Any]:
    read = seen.inside.value if isinstance(seen.inside, Known) else None
    why = seen.inside if isinstance(seen.inside, Missing) else Missing("")
    return {
        "way": str(seen.way) if seen.way else None,
        "by": seen.by or None,
        "reason": why.reason or None,
        "needs": why.needs or None,
        "root": read.root if read else None,
        "system": _known(read.system, _system) if read else None,
        "virtualisation": _known(read.virtualisation, _virtualisation) if read else None,
        "resources": _known(read.resources, _resources) if read else None,
        "attempts": [_attempt(item) for item in seen.attempts],
        "partial": [_partial(item) for item in read.partial] if read else [],
        "missing": _missing(read) if read else [],
    }


def _known(reading: Reading[Any], record: Any) -> dict[str, Any] | None:
    found: dict[str, Any] | None = record(reading.value) if isinstance(reading, Known) else None
    return found


def _system(item: System) -> dict[str, Any]:
    return {
        "kernel_name": item.kernel_name,
        "kernel": item.kernel or None,
        "machine": item.machine or None,
        "id": item.ident or None,
        "version": item.version or None,
        "name": item.name or None,
        "appliance": item.appliance or None,
        "appliance_version": item.appliance_version or None,
        "libc": item.libc or None,
        "levels": list(item.levels),
        "uptime": item.uptime,
    }


def _virtualisation(item: Virtualisation) -> dict[str, Any]:
    return {
        "detected": item.detected or None,
        "container": item.container or None,
        "vendor": item.vendor or None,
        "product": item.product or None,
        "version": item.version or None,
        "hypervisor_flag": item.hypervisor_flag,
    }


def _resources(item: Resources) -> dict[str, Any]:
    return {
        "processors": item.processors,
        "memory": item.memory,
        "available": item.available,
        "load": item.load or None,
        "steal_permille": item.steal_permille,
    }


def _attempt(item: Attempt) -> dict[str, Any]:
    return {"way": str(item.way), "reason": item.reason, "needs": item.needs or None}


def _partial(item: Partial) -> dict[str, Any]:
    return {"probe": item.probe, "reason": item.reason, "needs": item.needs or None}


def _missing(read: Inside) -> list[dict[str, Any]]:
    """Return the probes that were asked for and told nothing, in the order of the fields."""
    readings = ((field.name, getattr(read, field.name)) for field in fields(read))
    return [
        {"probe": name, "reason": reading.reason, "needs": reading.needs or None}
        for name, reading in readings
        if isinstance(reading, Missing) and reading != UNASKED
    ]


def _disks(reading: Reading[tuple[Disk, ...]]) -> dict[str, Any] | None:
    """Return null where nobody looked; `items` is null with a reason where it was in vain."""
    if reading == UNSEEN_DISKS:
        return None
    if isinstance(reading, Missing):
        return {"items": None, "reason": reading.reason, "needs": reading.needs or None}
    return {"items": [_disk(item) for item in reading.value], "reason": None, "needs": None}


def _disk(item: Disk) -> dict[str, Any]:
    why = item.parts if isinstance(item.parts, Missing) else Missing("")
    return {
        "name": item.name,
        "source": item.source or None,
        "format": item.format or None,
        "size": item.size,
        "parts": [_part(part) for part in item.parts.value]
        if isinstance(item.parts, Known)
        else None,
        "reason": why.reason or None,
        "needs": why.needs or None,
        "encryption": [_host_encryption(each) for each in item.encryption],
    }


def _part(item: DiskPart) -> dict[str, Any]:
    return {
        "number": item.number,
        "kind": item.kind or None,
        "encrypted": item.encrypted,
        "offset": item.offset,
        "size": item.size,
        "cipher": item.cipher or None,
        "key_bits": item.key_bits,
        "label": item.label or None,
        "unread": item.unread or None,
    }


def _host_encryption(item: HostEncryption) -> dict[str, Any]:
    return {"kind": item.kind, "cipher": item.cipher or None, "where": item.where or None}


def _endpoint(item: TlsEndpoint) -> dict[str, Any]:
    return {
        "address": item.address,
        "port": item.port,
        "protocol": item.protocol,
        "cipher": item.cipher,
        "prefers_chacha": item.prefers_chacha,
        "follows_client": item.follows_client,
        "starttls": item.starttls or None,
    }
