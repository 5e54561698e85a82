"""Named CPU models held against a set of nodes: which of them can run each, and which is best."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from unmask.cpu import catalogue, levels
from unmask.cpu.catalogue import CpuModel
from unmask.cpu.node_flags import lacking, uncertain
from unmask.model.baseline import FlagSource, ModelFit, Needs, Node, Obstacle, Verdict
from unmask.model.inventory import Host, Platform

NEUTRAL = frozenset({"kvm32", "kvm64", "qemu32", "qemu64"})
"""QEMU models that stand for no vendor's CPU: a guest sees the host's vendor with them."""
OLD_FAMILY = frozenset(
    {"Opteron_G1", "Opteron_G2", "Opteron_G3", "athlon", "kvm64", "phenom", "qemu64"}
)
"""QEMU models of a family below 15h that could show an AMD CPU; Proxmox VE's own are of qemu64."""
AMD = "AuthenticAMD"
RISKY = frozenset({"hle", "mpx", "rtm"})
"""TSX, which microcode turns off on CPUs that had it, and MPX, which Linux has dropped."""
NOT_MODELS = frozenset({"base", "host", "max"})
FAMILY_NOTE = (
    "On AMD nodes Windows may not use AES under it: the guest shows an AMD CPU of a family below "
    "15h, for which SymCrypt turns AES-NI off (read in its source, not tested)."
)
TSX_NOTE = (
    "It has TSX (hle, rtm), which a microcode update can take from a node: guests of it then no "
    "longer start there."
)
VERSIONED = re.compile(r"-v\d+$")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model that somebody could choose."""

    name: str
    model: CpuModel
    """The QEMU model behind it."""
    flags: frozenset[str]
    since: str = ""
    """The first Proxmox VE that has it, for one of Proxmox VE's own."""

    @property
    def vendor(self) -> str:
        """Return the vendor whose CPUs it is made for, "" for none."""
        return "" if self.model.name in NEUTRAL else self.model.vendor


def candidates(nodes: Sequence[Node]) -> tuple[Candidate, ...]:
    """Return the named models that at least one of the nodes' platforms takes by name.

    A model for another vendor's CPUs than those of any node is left out.
    """
    vendors = {place.vendor for place in nodes}
    everywhere = "" in vendors
    found = []
    for item in _everything(any(p.host.platform is Platform.PROXMOX for p in nodes)):
        foreign = item.vendor and item.vendor not in vendors and not everywhere
        if not foreign and any(_takes(place, item) for place in nodes):
            found.append(item)
    return tuple(_without_doubles(found))


def fits(nodes: Sequence[Node], needs: Needs, *, windows: bool = False) -> tuple[ModelFit, ...]:
    """Return every candidate with what speaks against it on which node, the best first.

    Those that all nodes can run come first. Among them decides how much of the needs a model
    shows (AES that Windows would not use does not count), then the level, whether it is free of
    TSX and MPX, how much of what helps it shows, and then the number of its flags.

    Args:
        nodes: Nodes of x86 whose flags are known.
        needs: What to rank by.
        windows: Whether Windows guests are among those that the models are for.
    """
    amd = any(place.vendor == AMD for place in nodes)
    kinds = _kinds(nodes)
    found = [_fit(item, kinds, needs, ignored=windows and amd) for item in candidates(nodes)]
    return tuple(sorted(found, key=lambda fit: _rank(fit, needs)))


def _rank(fit: ModelFit, needs: Needs) -> tuple[object, ...]:
    certain = [item for item in fit.obstacles if item.verdict is Verdict.LACKS]
    return (bool(certain), len(fit.obstacles), *worth(fit, needs))


def worth(fit: ModelFit, needs: Needs) -> tuple[int, int, bool, int, int, str]:
    """Return what sorts models by how much they are worth, the best first, wherever they run."""
    return (
        -len(fit.shows),
        -fit.level,
        bool(fit.flags & RISKY),
        -len(fit.flags.intersection(needs.helpful)),
        -len(fit.flags),
        fit.name,
    )


def _fit(
    item: Candidate, kinds: Sequence[tuple[Node, tuple[str, ...]]], needs: Needs, *, ignored: bool
) -> ModelFit:
    obstacles = []
    for place, names in kinds:
        against = obstacle(item, place)
        if against:
            verdict, reason, flags = against
            obstacles += [Obstacle(name, verdict, reason, flags) for name in names]
    ignored = ignored and item.model.name in OLD_FAMILY
    shown = item.flags - {"aes"} if ignored else item.flags
    return ModelFit(
        name=item.name,
        base=item.model.name,
        vendor=item.vendor,
        flags=item.flags,
        level=levels.level(item.flags),
        shows=tuple(flag for flag in needs.flags if flag in shown),
        lacks=tuple(flag for flag in needs.flags if flag not in shown),
        obstacles=tuple(sorted(obstacles, key=lambda each: each.node)),
        notes=tuple(_notes(item, ignored=ignored and "aes" in item.flags)),
    )


def _notes(item: Candidate, *, ignored: bool) -> Iterator[str]:
    if ignored:
        yield FAMILY_NOTE
    if item.flags & {"hle", "rtm"}:
        yield TSX_NOTE


def obstacle(item: Candidate, place: Node) -> tuple[Verdict, str, tuple[str, ...]] | None:
    """Return what keeps a node from running a model; None where it can run it.

    The hypervisor's own answer goes before what its flags lead to.
    """
    if not _takes(place, item):
        return Verdict.LACKS, _untaken(place), ()
    if item.vendor and place.vendor not in ("", item.vendor):
        return Verdict.LACKS, f"has no CPU of {_maker(item.vendor)}, for which it is made", ()
    missing = tuple(sorted(lacking(place, item.flags)))
    said = dict(place.usable).get(item.name)
    if said is False:
        return Verdict.LACKS, _denied(missing), missing
    if said is True:
        return None
    if missing:
        return Verdict.LACKS, f"lacks {' '.join(missing)}", missing
    old = too_old(place.host, item.model)
    if old:
        return old
    doubt = tuple(sorted(uncertain(place, item.flags)))
    if doubt:
        return Verdict.UNKNOWN, f"may or may not have {' '.join(doubt)}: not told", doubt
    return None


def _denied(missing: Sequence[str]) -> str:
    if missing:
        return f"lacks {' '.join(missing)} (its libvirt says that it cannot run this model)"
    return "cannot run it, says its libvirt"


def known_to(place: Node, name: str) -> bool:
    """Return whether the node's QEMU, and its libvirt, surely have a QEMU model of this name."""
    model = catalogue.find(name)
    if model is None or name in NOT_MODELS or _renamed(name):
        return False
    item = Candidate(name, model, model.flags)
    return _takes(place, item) and too_old(place.host, model) is None


def too_old(host: Host, model: CpuModel) -> tuple[Verdict, str, tuple[str, ...]] | None:
    """Tell of a QEMU without the model: the catalogue knows of some releases, not of each."""
    since = model.since
    if since == catalogue.releases()[0]:
        return None
    version = _order(host.software.qemu)[:2]
    if version >= _order(since)[:2]:
        return None
    if not version:
        said = f"has a QEMU of unknown version, and the model is there since QEMU {since}"
        return Verdict.UNKNOWN, said, ()
    said = f"has QEMU {host.software.qemu}, and the model is there since {since}"
    before = [_order(each) for each in catalogue.releases() if _order(each) < _order(since)]
    if version <= before[-1]:
        return Verdict.LACKS, said, ()
    return Verdict.UNKNOWN, f"{said} or somewhat earlier", ()


def _takes(place: Node, item: Candidate) -> bool:
    """Return whether the node's platform takes the name of a model at all."""
    if place.host.platform is Platform.PROXMOX:
        if item.since:
            release = _order(place.host.software.hypervisor.removeprefix("Proxmox VE"))
            return not release or release >= _order(item.since)
        return item.name in catalogue.proxmox_cpu_names("x86_64")
    if item.since:
        return False
    return not place.usable or item.name in dict(place.usable)


def _untaken(place: Node) -> str:
    if place.host.platform is Platform.PROXMOX:
        version = place.host.software.hypervisor or "Proxmox VE"
        return f"has {version}, which has no CPU type of this name"
    return "has a libvirt that does not know the name"


def _maker(vendor: str) -> str:
    return {"AuthenticAMD": "AMD", "GenuineIntel": "Intel"}.get(vendor, vendor)


def _everything(proxmox: bool) -> Iterator[Candidate]:  # noqa: FBT001
    for name in catalogue.names():
        model = catalogue.find(name)
        if model and name not in NOT_MODELS and not _renamed(name):
            yield Candidate(name, model, model.flags)
    for name in catalogue.proxmox_names() if proxmox else ():
        own = catalogue.proxmox_model(name)
        base = catalogue.find(own.reported_model) if own else None
        if own and base:
            yield Candidate(name, base, base.flags | own.on, own.since)


def _renamed(name: str) -> bool:
    return catalogue.proxmox_deprecated(name) is not None


def _without_doubles(found: Sequence[Candidate]) -> Iterator[Candidate]:
    """A name without a version stands for one of the versions, which is not shown beside it."""
    plain = {item.model.resolved for item in found if not VERSIONED.search(item.name)}
    for item in found:
        if not VERSIONED.search(item.name) or item.name not in plain:
            yield item


def _kinds(nodes: Sequence[Node]) -> list[tuple[Node, tuple[str, ...]]]:
    """Return one node of each kind with the names of all that are like it."""
    kinds: dict[tuple[object, ...], list[Node]] = {}
    for place in nodes:
        host = place.host
        key = (
            host.platform, place.vendor, place.source, place.given, place.spoken, place.usable,
            host.software.qemu, host.software.hypervisor,
            host.cpu.value.flags if place.source is FlagSource.KERNEL else None,
        )  # fmt: skip
        kinds.setdefault(key, []).append(place)
    return [(same[0], tuple(place.name for place in same)) for same in kinds.values()]


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d{1,5}", version)[:3])
