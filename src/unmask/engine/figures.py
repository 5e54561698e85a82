"""What CPU models were measured to amount to on a guest's own node, instead of general figures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from unmask.cpu.passthrough import gives
from unmask.cpu.resolve import resolve
from unmask.crypto.consumers import consumers
from unmask.dialects.proxmox import named_model
from unmask.measure import reference
from unmask.measure._words import rate
from unmask.measure.reference import WhatIf
from unmask.model.bench import BenchResult
from unmask.model.case import GuestCase
from unmask.model.cpu import Accelerator, CpuSpec, FeatureView, HostCpu
from unmask.model.inside_programs import OpenSsl
from unmask.model.inventory import Host, own
from unmask.model.outlook import Outlook, Status
from unmask.model.reading import Known, Reading
from unmask.model.workload import JudgedWorkload

OPENSSL = "openssl"
SLOW = (Status.SOFTWARE, Status.PARTIAL)
KEY = 256
"""Bits, where a cipher's name does not say."""
_KEY = re.compile(r"aes[-_ ]?(128|192|256)", re.IGNORECASE)
_AES = re.compile(r"aes-(\d{3})-(\w+)")
_CHACHA = "chacha20-poly1305"


@dataclass(frozen=True, slots=True)
class Figure:
    """One model's rate of one algorithm, and that of the node with nothing hidden."""

    result: BenchResult
    algorithm: str
    rate: float
    """Bytes a second."""
    whole: float


def of_node(results: Iterable[BenchResult], host: Reading[Host]) -> tuple[BenchResult, ...]:
    """Return the results that were measured on a node, the newest first.

    A node that was measured by an address of its own is known by the host's name in it. Another
    CPU than the node has now is not its own.
    """
    if not isinstance(host, Known):
        return ()
    found = [one for one in results if one.asks_what_if and _is(one, host.value)]
    return tuple(sorted(found, key=lambda one: one.started, reverse=True))


def _is(result: BenchResult, host: Host) -> bool:
    address = result.subject.rpartition("@")[2].partition(":")[0]
    if result.subject not in (host.subject, own(host.subject, host.site)) and address != host.name:
        return False
    now, then = host.cpu, result.environment.cpu
    if not isinstance(now, Known) or not isinstance(then, Known):
        return True
    names = {now.value.model_name, then.value.model_name} - {""}
    return len(names) < 2


def applied(case: GuestCase) -> GuestCase:
    """Return a case whose workloads have the figures of its node, where it has fitting ones."""
    if not case.figures or not case.workloads:
        return case
    return replace(case, workloads=tuple(_judged(item, case) for item in case.workloads))


def _judged(item: JudgedWorkload, case: GuestCase) -> JudgedWorkload:
    if item.outlook is None:
        return item
    return replace(item, outlook=measured(item.outlook, item.workload.cipher, case))


def measured(outlook: Outlook, cipher: str, case: GuestCase) -> Outlook:
    """Return an outlook with the factor that was measured on the guest's node.

    It stays as it is where OpenSSL does not do the work or is fast, and where nothing was measured
    that has the same flags under the same name. A node that lacks a missing flag itself cannot tell
    what that is worth.
    """
    view = case.observed or case.view
    if outlook.status not in SLOW or view.accelerator is not Accelerator.KVM:
        return outlook
    for result in case.figures:
        cpu = result.environment.cpu
        if not isinstance(cpu, Known) or not _gives(cpu.value, outlook.missing):
            continue
        found = figure(result, view, outlook, cipher, _custom(case))
        if found:
            factor = min(1.0, found.rate / found.whole)
            return replace(outlook, factor=factor, factor_origin=_origin(found), measured_here=True)
    return outlook


def gained(
    now: GuestCase, then: GuestCase, before: JudgedWorkload, after: Outlook
) -> Iterator[str]:
    """Say what a change gives a slow workload, where both models were measured in one go."""
    slow = before.outlook
    if slow is None or not slow.measured_here:
        return
    cipher = before.workload.cipher
    for result in now.figures:
        old = figure(result, now.observed or now.view, slow, cipher, _custom(now))
        new = figure(result, then.view, after, cipher, _custom(then))
        if old and new and old.algorithm == new.algorithm:
            where = result.name or result.subject
            rates = f"{rate(old.rate)} before and {rate(new.rate)} after"
            yield f"Measured on {where}: {old.algorithm} has {rates}."
            return


def figure(
    result: BenchResult,
    view: FeatureView,
    outlook: Outlook,
    cipher: str,
    custom: Mapping[str, CpuSpec],
) -> Figure | None:
    """Return what a node does under the model of this view; None where that was not measured."""
    cpu = result.environment.cpu
    if not _by_openssl(outlook) or not isinstance(cpu, Known):
        return None
    rows = [row for row in reference.what_if(result) if row.model == view.label]
    row = _nearest(rows, outlook.cipher, cipher)
    if row is None or not _same(view, cpu.value, custom, outlook.cipher):
        return None
    if not row.rate or not row.of_host:
        return None
    return Figure(result, row.algorithm, row.rate, row.rate / row.of_host)


def _by_openssl(outlook: Outlook) -> bool:
    consumer = consumers().get(outlook.consumer)
    path = consumer.paths.get(outlook.cipher) if consumer else None
    return path is not None and (outlook.consumer == OPENSSL or path.uses == (OPENSSL,))


def _gives(cpu: HostCpu, flags: Iterable[str]) -> bool:
    return all(gives(flag, cpu.flags) for flag in flags)


def _custom(case: GuestCase) -> Mapping[str, CpuSpec]:
    return dict(case.cluster.custom_models) if case.cluster else {}


def _nearest(rows: Iterable[WhatIf], family: str, cipher: str) -> WhatIf | None:
    """Return the row of this family whose key is nearest to the cipher's."""
    told = _KEY.search(cipher)
    wanted = int(told.group(1)) if told else KEY
    fitting = []
    for row in rows:
        aes = _AES.fullmatch(row.algorithm)
        if aes and aes.group(2) == family:
            fitting.append((abs(int(aes.group(1)) - wanted), row))
        elif row.algorithm == _CHACHA and family == "chacha20":
            fitting.append((0, row))
    having = [pair for pair in fitting if pair[1].rate and pair[1].of_host]
    return min(having, key=lambda pair: pair[0])[1] if having else None


def _same(view: FeatureView, cpu: HostCpu, custom: Mapping[str, CpuSpec], family: str) -> bool:
    """Return whether OpenSSL sees the same in the guest as under the model of that name.

    A guest may have flags beside its model ("kvm64,flags=+aes"), which its label does not tell.
    """
    spec = named_model.spec(view.label, cpu, custom)
    alone = resolve(spec, cpu.arch, Accelerator.KVM, Known(cpu))
    path = consumers()[OPENSSL].paths[family]
    flags = {flag for tier in path.tiers for flag in (*tier.flags, *tier.unasked)}
    return all(view.state(flag) is alone.state(flag) for flag in flags)


def _origin(found: Figure) -> str:
    """Return "measured on pve1 with OpenSSL 3.0.19 on 2026-12-01: 88 of 2900 MB/s"."""
    result = found.result
    library = result.environment.openssl
    told = library.value if isinstance(library, Known) else OpenSsl()
    release = " ".join(told.version.split()[:2])
    text = f"{found.algorithm} measured on {result.name or result.subject}"
    text += f" with {release}" if release else ""
    text += f" on {result.started[:10]}" if result.started else ""
    return f"{text}: {rate(found.rate).removesuffix(' MB/s')} of {rate(found.whole)}"
