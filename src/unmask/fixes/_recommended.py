"""`--cpu recommended`: the smallest CPU that serves the guest's work and runs on its cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from unmask.cpu import baseline, catalogue
from unmask.cpu.resolve import resolve
from unmask.dialects.described_host import spoken
from unmask.dialects.proxmox import custom_section
from unmask.engine import custom_models, needs
from unmask.errors import UsageError
from unmask.fixes._wish_words import Words
from unmask.model.baseline import Needs
from unmask.model.case import GuestCase
from unmask.model.cpu import Accelerator, CpuSpec, FeatureView, Mode, Origin
from unmask.model.inventory import Host, Inventory, Platform
from unmask.model.outlook import Status
from unmask.model.reading import Known, Missing
from unmask.rules import _advice, _gain, _out_of_reach, _scope, _single_flags, _words

EMULATED = frozenset({"aes", "pclmulqdq", "popcnt", "sse4_1", "sse4_2", "ssse3"})
"""What software takes for granted beside AES, where nothing that is not shown can be executed."""
NOT_READ = Missing("its host was not read")


@dataclass(frozen=True, slots=True)
class Choice:
    """What is recommended, in no hypervisor's words yet."""

    words: Words
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Custom:
    """A custom model for the cluster."""

    section: str
    spec: CpuSpec


def recommended(case: GuestCase, inventory: Inventory) -> Choice:
    """Return the smallest sufficient CPU; no words where the guest has all it needs.

    Raises:
        UsageError: No CPU model is of any use, or too little is known to choose one.
    """
    wanted, why = _wanted(case)
    view = case.pending if case.pending and case.pending.starts else case.view
    if view.accelerator is Accelerator.TCG:
        return _emulated(case, wanted, view)
    beyond = _out_of_reach.explained(case, wanted)
    if beyond:
        raise UsageError(f"{case.guest.subject}: nothing is to be recommended: {beyond}")
    host = _scope.known_host_cpu(case)
    if host is None:
        raise UsageError(
            f"{case.guest.subject}: what its host's CPU has is not known, so that nothing can be "
            "recommended: name a model"
        )
    given = wanted & host.flags
    if not given:
        raise UsageError(f"{case.guest.subject}: {_words.host(case)} has no {_words.flags(wanted)}")
    lacking = frozenset(flag for flag in given if not view.shows(flag))
    if not lacking and view.starts:
        absent = wanted - given
        own = f" Its host itself has no {_words.flags(absent)}." if absent else ""
        return Choice(Words(), (f"It sees {_words.flags(given)} already: {why}.{own}",))
    return _changed(case, inventory, given, lacking, why)


def _changed(
    case: GuestCase,
    inventory: Inventory,
    wanted: frozenset[str],
    lacking: frozenset[str],
    why: str,
) -> Choice:
    if case.workloads and lacking and _single_flags.enough(case, lacking):
        said = f"Of the flags of its host it lacks only {_words.flags(lacking)}: {why}."
        return Choice(Words(on=tuple(sorted(lacking))), (said,))
    back = _turned_back(case, wanted)
    model = _advice.smallest(case, wanted)
    if model:
        said = f"{model} is the smallest model with {_words.flags(wanted)} that "
        return Choice(Words(model, on=back), (f"{said}{_advice.reaches(case)}: {why}.",))
    if case.guest.platform is Platform.PROXMOX and case.cluster:
        name = custom_section.free_name([name for name, _ in case.cluster.custom_models])
        made = _made(case, _hosts(case, inventory), name, wanted)
        if made:
            said = f"No named model with {_words.flags(wanted)} runs on all nodes: {why}."
            return Choice(Words(f"custom-{name}", on=back), (said,))
    model = _advice.smallest(case, wanted, own_host=True)
    if model:
        said = f"{model} has {_words.flags(wanted)} and runs on its host, not on all other nodes"
        return Choice(Words(model, on=back), (f"{said}: {why}.",))
    if _scope.windows(case):
        raise UsageError(
            f"{case.guest.subject}: no named model with {_words.flags(wanted)} runs on its host, "
            "and host slows Windows down: choose yourself"
        )
    mode = "host-model" if case.guest.platform is Platform.LIBVIRT else "host"
    return Choice(Words(mode, on=back), (f"No named model has {_words.flags(wanted)}: {why}.",))


def _turned_back(case: GuestCase, wanted: frozenset[str]) -> tuple[str, ...]:
    """Return what the guest's own flags turn off by name: it would undo the choice."""
    spec = case.guest.pending or case.guest.configured
    return tuple(sorted(spec.off & wanted)) if spec.origin is Origin.CONFIG else ()


def _wanted(case: GuestCase) -> tuple[frozenset[str], str]:
    """Return the flags that the guest's work needs, and why."""
    needed: set[str] = set()
    names = []
    for item in case.workloads:
        if item.outlook is None or item.outlook.status is Status.NOT_APPLICABLE:
            continue
        gain = _gain.of(case, item.workload, item.outlook)
        if gain and gain.needs:
            needed |= gain.needs
            names.append(f"{item.workload.kind.value} {item.workload.name}".strip())
    if needed:
        return frozenset(needed), f"needed for {_words.few(dict.fromkeys(names))}"
    if any(item.outlook for item in case.workloads):
        return _advice.BOTH, "nothing found in it needs more than AES and PCLMULQDQ"
    return _advice.BOTH, "what is encrypted in it is not known, and most of it needs these"


def _emulated(case: GuestCase, wanted: frozenset[str], view: FeatureView) -> Choice:
    """Return a whole model for a guest that QEMU emulates: single flags break it."""
    needed = wanted | EMULATED
    if view.shows(*needed):
        return Choice(Words(), (f"It sees {_words.flags(needed)} already.",))
    fitting = sorted((len(flags), name) for name, flags in _emulable(case) if needed <= flags)
    why = "QEMU emulates this guest, so that AES helps only together with what goes with it"
    if fitting:
        return Choice(
            Words(fitting[0][1]), (f"{fitting[0][1]} has {_words.flags(needed)}: {why}.",)
        )
    if case.guest.platform is Platform.LIBVIRT:
        return Choice(Words(on=tuple(sorted(needed))), (f"{why}.",))
    raise UsageError(f"{case.guest.subject}: no model of its QEMU has {_words.flags(needed)}")


def _emulable(case: GuestCase) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield models with all that a guest sees of them under emulation, none of it missing."""
    host = case.host.value if isinstance(case.host, Known) else None
    kind = (case.guest.arch, Accelerator.TCG)
    usable = {
        name: able
        for offer in (host.offers if host else ())
        if (offer.arch, offer.accelerator) == kind
        for name, able in offer.usable
    }
    proxmox = case.guest.platform is Platform.PROXMOX
    allowed = catalogue.proxmox_cpu_names("x86_64") if proxmox else None
    for name in catalogue.names():
        model = catalogue.find(name)
        if model is None or model.deprecated or model.since != catalogue.releases()[0]:
            continue
        if (allowed is not None and name not in allowed) or (usable and not usable.get(name)):
            continue
        spec = CpuSpec(name, Origin.CONFIG, Mode.MODEL, name, name, enforced=True)
        seen = resolve(
            spec,
            case.guest.arch or "x86_64",
            Accelerator.TCG,
            host.cpu if host else NOT_READ,
            qemu=host.software.qemu if host else "",
        )
        if seen.starts and not seen.lost:
            yield name, frozenset(flag for flag in seen.states if seen.shows(flag))


def custom(case: GuestCase, inventory: Inventory, name: str) -> Custom:
    """Return a custom model of this name for the nodes of the guest's cluster, or for its host.

    Raises:
        UsageError: There is none that its host can run.
    """
    host = _scope.known_host_cpu(case)
    wanted = _wanted(case)[0]
    given = wanted & host.flags if host else wanted
    own = [item for item in inventory.hosts if item.subject == case.guest.host]
    made = _made(case, _hosts(case, inventory), name, given) or _made(case, own, name, given)
    if made is None:
        raise UsageError(
            f"{case.guest.subject}: the cluster has no custom model {name}, and none can be made "
            "that shows what is needed on its host; unmask baseline tells why"
        )
    return made


def _made(
    case: GuestCase, hosts: Sequence[Host], name: str, wanted: frozenset[str]
) -> Custom | None:
    windows = needs.windows(case.guest)
    asked: Needs = needs.asked(tuple(sorted(wanted)))
    found = baseline.baseline(hosts, asked, windows=windows, spoken=spoken())
    for item in custom_models.proposals(found, (), windows=windows):
        if item.platform == "proxmox" and item.model.flags >= wanted:
            section = custom_section.written(name, item.model)
            spec = custom_models.read_back(replace(item, name=name, text=section))
            return Custom(section, spec)
    return None


def _hosts(case: GuestCase, inventory: Inventory) -> Sequence[Host]:
    cluster = case.cluster.subject if case.cluster else ""
    return [
        host
        for host in inventory.hosts
        if host.subject == case.guest.host or (cluster and host.cluster == cluster)
    ]
