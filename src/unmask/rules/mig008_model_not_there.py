"""The guest's CPU model does not exist on the target, or is another one there.

## Why it matters

A custom model of Proxmox VE is a section of one file that a cluster shares. In another cluster the
same name can be missing or mean other flags: a guest that is configured there with a name that does
not exist is started with kvm64, without a word. libvirt knows the models of its own version: one
that an older libvirt does not know keeps the guest from starting.

## How it decides

Within a Proxmox VE cluster a custom model is the same everywhere, which is told. To another cluster
both kinds of move are blocked where it does not exist or its flags differ, and unknown where its
models were not read. A guest whose custom model is gone already is told that its next start, there
as here, gets the default. On libvirt hosts the list of models in the target's domain capabilities
decides. Where there is none, and for the CPU types of Proxmox VE, the versions do: a QEMU or a
Proxmox VE from before the model blocks the move, and one of which that is not known, and that is
older than the source's, leaves it unknown.

## Remedy

Copy the section of cpu-models.conf to the other cluster first; take a model that both know.

## What fix does

It moves nothing. Where this would hold for the guest with its new CPU, the plan names it as a
constraint that has to be acknowledged (`--ack MIG008`).

## When to accept it

Hardly ever.

## References

- qemu-server, src/PVE/QemuServer/CPUConfig.pm, custom models; src/PVE/QemuMigrate.pm
- libvirt, "Unknown CPU model", observed with libvirt 9.0
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.cpu import catalogue, model_fit, move_views
from unmask.errors import UnreadError
from unmask.model.baseline import Verdict
from unmask.model.cpu import CpuSpec, Mode, Origin, RemarkKind
from unmask.model.finding import About, Problem, Rule
from unmask.model.inventory import Cluster, Platform
from unmask.model.move import MoveCase
from unmask.model.reading import Known
from unmask.rules import _moves
from unmask.rules._moves import BOTH, COLD, LIVE

PREFIX = "custom-"


def check(move: MoveCase) -> Iterator[Problem]:
    """Yield where the target does not have the guest's CPU model."""
    if not _moves.is_vm(move):
        return
    if move.case.guest.platform is Platform.LIBVIRT:
        yield from _unknown_name(move)
        yield from _too_new(move)
        return
    yield from _too_new(move)
    configured = move.case.guest.configured
    if configured.remarked(RemarkKind.CUSTOM_MISSING):
        yield _moves.told(
            f"The custom model of its configuration does not exist: started on {move.target.name} "
            f"it gets {move.started.label}, as everywhere."
        )
    if configured.origin is not Origin.CUSTOM:
        return
    if move.case.cluster != move.cluster:
        yield from _elsewhere(move, configured)
    elif _defined(move.cluster, configured) is not None:
        yield _moves.told(
            f"{configured.label} is a model of the whole cluster: it is the same on "
            f"{move.target.name}."
        )


def _elsewhere(move: MoveCase, configured: CpuSpec) -> Iterator[Problem]:
    if move.cluster is None:
        raise UnreadError(f"which custom models {move.target.name} has")
    here, there = _defined(move.case.cluster, configured), _defined(move.cluster, configured)
    name = configured.label
    if there is None:
        yield _moves.told(
            f"{move.cluster.name} has no custom model {name}.",
            stops=BOTH,
        )
    elif here is None:
        raise UnreadError(f"what {name} is in its own cluster", "cpu-models.conf")
    elif _makes(here) != _makes(there):
        differing = (here.on ^ there.on) | (here.off ^ there.off)
        yield _moves.told(
            f"{name} is another model in {move.cluster.name} than here.",
            stops=BOTH,
            flags=differing,
        )


def _defined(cluster: Cluster | None, spec: CpuSpec) -> CpuSpec | None:
    models = dict(cluster.custom_models) if cluster else {}
    return models.get(spec.label.removeprefix(PREFIX))


def _makes(spec: CpuSpec) -> tuple[object, ...]:
    """Return what a model's definition decides, whatever it is called."""
    return spec.mode, spec.model, spec.on, spec.off, spec.properties


def _unknown_name(move: MoveCase) -> Iterator[Problem]:
    guest = move.case.guest
    kind = (guest.arch, guest.accelerator)
    known = {
        name
        for offer in move.target.offers
        if (offer.arch, offer.accelerator) == kind
        for name, _ in offer.usable
    }
    names = {spec.model for spec in (guest.current, guest.configured) if spec.mode is Mode.MODEL}
    for name in sorted(filter(None, names)):
        if known and name not in known:
            yield _moves.told(
                f"libvirt on {move.target.name} does not know the CPU model {name}.",
                stops=_moves.kinds(move),
            )


def _too_new(move: MoveCase) -> Iterator[Problem]:
    """Yield where the versions of the target's software tell that it does not have the model."""
    guest = move.case.guest
    specs = {LIVE: guest.current, COLD: move_views.next_spec(guest)}
    said = {kind: _since(move, specs[kind]) for kind in _moves.kinds(move)}
    for found in dict.fromkeys(filter(None, said.values())):
        lacks, words = found
        kinds = tuple(kind for kind in said if said[kind] == found)
        yield _moves.told(
            f"{move.target.name} {words}.",
            stops=kinds if lacks else (),
            unsure=() if lacks else kinds,
            needs="" if lacks else f"`qemu-system-x86_64 -cpu help` on {move.target.name}",
        )


def _since(move: MoveCase, spec: CpuSpec) -> tuple[bool, str] | None:
    """Return whether the model is surely not there, and why; None where nothing speaks for it."""
    target, guest = move.target, move.case.guest
    if spec.mode is not Mode.MODEL or guest.arch not in ("x86_64", "i686"):
        return None
    own = catalogue.proxmox_model(spec.label) if guest.platform is Platform.PROXMOX else None
    release = _moves.version(target.software.hypervisor)
    if own and release and release < _moves.version(own.since):
        since = f"{spec.label} is there since Proxmox VE {own.since}"
        words = f"has {target.software.hypervisor}, and {since}"
        return True, words
    model = catalogue.find(spec.model)
    if model is None or _answers(move) or _as_new(move):
        return None
    old = model_fit.too_old(target, model)
    return (old[0] is Verdict.LACKS, old[1].replace("the model", spec.label, 1)) if old else None


def _as_new(move: MoveCase) -> bool:
    """Return whether the target's QEMU is no older than the one that has the model here."""
    source = move.case.host
    here = _moves.version(source.value.software.qemu) if isinstance(source, Known) else ()
    there = _moves.version(move.target.software.qemu)
    return bool(here) and there >= here


def _answers(move: MoveCase) -> bool:
    """Return whether the target's libvirt has listed its models."""
    kind = (move.case.guest.arch, move.case.guest.accelerator)
    return any(
        (offer.arch, offer.accelerator) == kind and offer.usable for offer in move.target.offers
    )


RULE = Rule("MIG008", "The CPU model does not exist on the target", About.MOVE, check)
