"""From what the API tells of one guest to a `Guest`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from unmask.dialects.excerpt import excerpt
from unmask.dialects.proxmox import guest
from unmask.dialects.proxmox.conf import GuestConfig, Section
from unmask.dialects.proxmox.cpu_option import CUSTOM
from unmask.dialects.proxmox.ha import IGNORED, Rules
from unmask.dialects.proxmox.release import NEWEST
from unmask.dialects.proxmox.specification import Place
from unmask.errors import InputError
from unmask.model.cpu import Accelerator, CpuSpec, Mode, Origin, Remark, RemarkKind
from unmask.model.inventory import Guest, GuestKind, GuestState, Platform
from unmask.model.reading import Known, Missing, Reading
from unmask.sources._pve_api_answers import Listed, Row, number, text, values

STATES = {
    "running": GuestState.RUNNING,
    "stopped": GuestState.STOPPED,
    "paused": GuestState.PAUSED,
    "suspended": GuestState.PAUSED,
}

DROPPED_LINES = (
    "No cpu is configured, as far as the API tells: it leaves out a cpu line that does not"
    " validate, which only the file shows (pve+ssh://, or a copy of /etc/pve)."
)

WAITING = (
    "A change is pending although the guest is stopped, as after a shutdown from inside: it is"
    " counted here, since the next start applies it."
)

CONTAINER_TIES = Missing(
    "the configurations of containers are not read from the API", "the files (pve+ssh://)"
)

NAME_LIMIT = 255
"""Characters of a guest's name."""


def machine(
    item: Listed,
    pending: list[Row],
    snapshots: Mapping[str, Row],
    place: Place,
    location: str,
    needs: Callable[[str], str],
) -> Guest:
    """Return the virtual machine that these answers describe.

    Args:
        item: As `cluster/resources` lists it.
        pending: Of `pending`: the values in force and those that wait.
        snapshots: Configurations of the snapshots with memory, by name.
        place: Where it runs; `models` are those whose definition could be read.
        location: Of its configuration, for people.
        needs: Returns what it takes to read the definition of a custom model.

    Raises:
        InputError: A value in it is none that Proxmox VE would give.
    """
    state = STATES.get(str(item.row.get("status", "")), GuestState.UNKNOWN)
    config = _config(pending, snapshots)
    suspended = config.main.values.get("lock") == "suspended" and state is not GuestState.RUNNING
    waiting = state is GuestState.STOPPED and not suspended and config.pending is not None
    if waiting:
        config = _applied(config)
    missing = _undefined(config, place)
    if missing:
        place = replace(place, models=None)
    built = _built(config, item.vmid, place, location)
    remarks = built.remarks + ((Remark(RemarkKind.NOTE, WAITING),) if waiting else ())
    return replace(
        _explained(built, missing, needs),
        state=GuestState.SUSPENDED if suspended else state,
        running=built.running if suspended else None,
        remarks=remarks,
    )


def _built(config: GuestConfig, vmid: str, place: Place, location: str) -> Guest:
    """Build it; a value that only a newer release knows is the server's word against ours."""
    try:
        return guest.build(config, vmid, place, location)
    except InputError:
        return guest.build(config, vmid, replace(place, version=NEWEST), location)


def _config(pending: list[Row], snapshots: Mapping[str, Row]) -> GuestConfig:
    """Return the answers as the configuration file that they come from."""
    told = [item for item in pending if "key" in item]
    waiting = {str(item["key"]): text(item["pending"]) for item in told if "pending" in item}
    deletes = tuple(str(item["key"]) for item in told if number(item.get("delete")) > 0)
    later = Section(_stripped(waiting), deletes=deletes) if waiting or deletes else None
    stored = {
        name: Section(_stripped({key: text(value) for key, value in row.items()}))
        for name, row in snapshots.items()
    }
    return GuestConfig(Section(_stripped(values(pending))), later, stored)


def _stripped(found: Mapping[str, str]) -> dict[str, str]:
    return {key: value.strip() if key == "cpu" else value for key, value in found.items()}


def _applied(config: GuestConfig) -> GuestConfig:
    """Return the configuration with what waits in it, as the next start of a stopped guest has."""
    later = config.pending or Section()
    kept = {key: value for key, value in config.main.values.items() if key not in later.deletes}
    return GuestConfig(Section(kept | dict(later.values)), None, config.snapshots)


def _undefined(config: GuestConfig, place: Place) -> str:
    """Return the name of a custom model in use whose definition could not be read, or ""."""
    sections = [config.main, config.pending or Section(), *config.snapshots.values()]
    for name in (custom_name(section.values.get("cpu", "")) for section in sections):
        if name and name not in (place.models or {}):
            return name
    return ""


def custom_name(cpu: str) -> str:
    """Return the custom model that a `cpu` value names, "" for any other."""
    for part in cpu.split(","):
        word = part.removeprefix("cputype=")
        if word.startswith(CUSTOM):
            return word.removeprefix(CUSTOM)
    return ""


def _explained(built: Guest, missing: str, needs: Callable[[str], str]) -> Guest:
    """Say what the API cannot tell about the guest's CPU."""
    if missing:
        pending = _unresolved(built.pending, needs) if built.pending else None
        snapshots = tuple(
            replace(item, cpu=_unresolved(item.cpu, needs)) for item in built.snapshots
        )
        configured = _unresolved(built.configured, needs)
        built = replace(built, configured=configured, pending=pending, snapshots=snapshots)
    if built.configured.written or built.configured.origin is not Origin.DEFAULT:
        return built
    remarks = (*built.configured.remarks, Remark(RemarkKind.NOTE, DROPPED_LINES))
    return replace(built, configured=replace(built.configured, remarks=remarks))


def _unresolved(spec: CpuSpec, needs: Callable[[str], str]) -> CpuSpec:
    """Replace what would be said of a file that was not there: the server knows the model."""
    if spec.origin is not Origin.CUSTOM or not spec.remarked(RemarkKind.UNRESOLVED):
        return spec
    said = undefined(excerpt(custom_name(spec.written), 60), needs)
    kept = tuple(item for item in spec.remarks if item.kind is not RemarkKind.UNRESOLVED)
    return replace(spec, remarks=(Remark(RemarkKind.UNRESOLVED, said), *kept))


def undefined(name: str, needs: Callable[[str], str]) -> str:
    """Return the sentence on a custom model whose definition could not be read."""
    return f"The definition of the custom model {name} could not be read; it needs {needs(name)}."


def unread(item: Listed, place: Place, why: str, location: str) -> Guest:
    """Return a virtual machine of which nothing but the cluster's list is known."""
    said = f"Its configuration could not be read: {why}."
    spec = CpuSpec(
        written="",
        origin=Origin.CONFIG,
        mode=Mode.UNKNOWN,
        label="unknown",
        remarks=(Remark(RemarkKind.UNRESOLVED, said),),
    )
    ties = Missing(f"its configuration could not be read: {why}")
    return replace(_named(item, place, location), configured=spec, ties=ties)


def container(item: Listed, place: Place, location: str) -> Guest:
    """Return a container; it has no CPU of its own, so that the cluster's list says enough."""
    state = STATES.get(str(item.row.get("status", "")), GuestState.UNKNOWN)
    return replace(
        _named(item, place, location),
        kind=GuestKind.CONTAINER,
        accelerator=Accelerator.OTHER,
        state=state,
        ties=CONTAINER_TIES,
    )


def _named(item: Listed, place: Place, location: str) -> Guest:
    word = "VM" if item.kind == "qemu" else "CT"
    said = guest.declarations({"tags": text(item.row.get("tags", ""))})
    return Guest(
        subject=f"{place.cluster}/{item.vmid}",
        ident=item.vmid,
        name=excerpt(text(item.row.get("name", "")), NAME_LIMIT) or f"{word} {item.vmid}",
        platform=Platform.PROXMOX,
        kind=GuestKind.VM,
        host=f"{place.cluster}/{place.node}",
        state=GuestState.UNKNOWN,
        arch=place.host_arch or "x86_64",
        accelerator=Accelerator.UNKNOWN,
        configured=guest.SHARED,
        template=number(item.row.get("template")) == 1,
        remarks=said.remarks,
        location=location,
        lock=excerpt(text(item.row.get("lock", "")), 40),
        declared=said.declarations,
    )


def kept_available(
    found: Guest, item: Listed, replicas: Iterable[str], rules: Reading[Rules]
) -> Guest:
    """Add what the cluster does to keep the guest running, and where that lets it be."""
    state = excerpt(text(item.row.get("hastate", "")), 40)
    cluster = found.host.rpartition("/")[0]
    return replace(
        found,
        high_availability=state,
        replicas=tuple(sorted(set(replicas))),
        confined=rules
        if isinstance(rules, Missing)
        else Known(() if state == IGNORED else rules.value.of(item.vmid, cluster)),
    )
