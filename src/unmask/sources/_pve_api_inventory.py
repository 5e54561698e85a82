"""From a cluster's answers to an inventory with everything that is missing named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from unmask.dialects.excerpt import excerpt
from unmask.dialects.proxmox import cpu_option, specification
from unmask.dialects.proxmox.cpu_option import CUSTOM, CpuOption
from unmask.dialects.proxmox.custom_models import REPORTED_MODEL
from unmask.dialects.proxmox.specification import Place
from unmask.dialects.proxmox.surroundings import Surroundings
from unmask.errors import InputError
from unmask.model.cpu import CpuSpec, Mode, Origin, Remark, RemarkKind
from unmask.model.inventory import Cluster, Gap, Guest, Host, Inventory, Platform
from unmask.model.reading import Known, Missing, Reading
from unmask.sources import _pve_api_around, _pve_api_guest, _pve_api_hidden, _pve_api_host
from unmask.sources._pve_api_answers import (
    REPLICATION,
    Answers,
    Listed,
    Row,
    absent,
    number,
    text,
)
from unmask.sources._pve_api_reading import MODELS, SNAPSHOTS_OF_ONE, memories

ABOUT_OFFLINE = "its node {node} is offline, and the API reads a configuration from its node only"
FROM_THE_FILE = "the node, or the file by way of another one (pve+ssh://)"


@dataclass(slots=True)
class _Draft:
    """An inventory in the making."""

    answers: Answers
    target: str
    cluster: str
    models: Mapping[str, CpuOption]
    gaps: list[Gap] = field(default_factory=list)
    around: Surroundings = field(default_factory=Surroundings)

    def gap(self, subject: str, missing: Missing, what: str = "") -> None:
        """Note what could not be read."""
        self.gaps.append(Gap(subject, f"{what}{missing.reason}", missing.needs))

    def definition(self, name: str) -> str:
        """Return what it takes to read the definition of a custom model."""
        reading = self.answers.models
        if isinstance(reading, Known):
            return f"Mapping.Audit on /mapping/cpu/{name}"
        if reading == absent(MODELS):
            return f"the file (pve+ssh://): Proxmox VE {self.answers.version} has no API for it"
        return reading.needs or f"another try: {reading.reason}"


def inventory(answers: Answers, target: str, fallback: str) -> Inventory:
    """Return what the answers tell; `fallback` names a cluster that may not be asked its name."""
    draft = _Draft(answers, target, _name(answers, fallback), _models(answers))
    hosts = {node: _pve_api_host.host(node, draft.cluster, answers) for node in _nodes(answers)}
    _say_of_cluster(draft)
    _say_of_hosts(draft, hosts)
    replicas = _replicas(answers)
    draft.around = _pve_api_around.surroundings(answers, hosts, replicas)
    rules = _pve_api_around.rules(answers)
    guests = [
        _pve_api_guest.kept_available(
            _guest(item, hosts[item.node], draft), item, replicas.get(item.vmid, ()), rules
        )
        for item in answers.guests
    ]
    _say_of_models(draft, guests)
    cluster = Cluster(draft.cluster, draft.cluster, Platform.PROXMOX, _described(draft))
    return Inventory(
        targets=(target,),
        hosts=tuple(sorted(hosts.values(), key=lambda item: item.subject)),
        guests=tuple(sorted(guests, key=lambda item: item.subject)),
        clusters=(cluster,),
        gaps=tuple(sorted(draft.gaps, key=lambda gap: (gap.subject, gap.reason))),
    )


def unverified(found: Inventory) -> Inventory:
    """Return the inventory with a gap that says that nobody knows who has answered."""
    reason = "its certificate was not verified: whoever is on the way could have altered it all"
    gaps = (Gap(item.subject, reason, "--ca-file or --fingerprint") for item in found.clusters)
    return replace(found, gaps=(*found.gaps, *gaps))


def _name(answers: Answers, fallback: str) -> str:
    """Return the cluster's name; a node on its own is called by its own."""
    rows = answers.status.value if isinstance(answers.status, Known) else []
    for row in rows:
        if row.get("type") == "cluster" and row.get("name"):
            return excerpt(text(row["name"]), 80)
    nodes = list(answers.online)
    return nodes[0] if len(nodes) == 1 else fallback


def _nodes(answers: Answers) -> list[str]:
    return sorted({*answers.online, *(item.node for item in answers.guests)})


def _models(answers: Answers) -> dict[str, CpuOption]:
    """Return the custom models whose definitions could be read, by name."""
    found = {}
    for row in answers.models.value if isinstance(answers.models, Known) else []:
        properties = {key: text(value) for key, value in row.items()}
        if properties.get("hidden") == "0":
            del properties["hidden"]
        name = properties.get("cputype", "").removeprefix(CUSTOM)
        if name and not any(
            cpu_option.fault(key, value) for key, value in properties.items() if key != "digest"
        ):
            named = {"reported-model": REPORTED_MODEL} | properties | {"cputype": CUSTOM + name}
            found[name] = cpu_option.build(named)
    return found


def _say_of_cluster(draft: _Draft) -> None:
    answers, cluster = draft.answers, draft.cluster
    if isinstance(answers.resources, Missing):
        draft.gap(cluster, answers.resources, "the guests could not be listed: ")
    if isinstance(answers.status, Missing):
        draft.gap(cluster, answers.status, "its name and quorum are not known: ")
    elif not answers.quorate:
        reason = "it has no quorum: what runs on nodes outside of this partition is not known"
        draft.gaps.append(Gap(cluster, reason, "quorum (pvecm status)"))
    if answers.interrupted:
        draft.gaps.append(Gap(cluster, "reading was interrupted before its end"))
        return
    if isinstance(answers.replication, Missing) and answers.replication != absent(REPLICATION):
        draft.gap(cluster, answers.replication, "which guests are replicated is not known: ")
    seen = len(answers.guests)
    draft.gaps += _pve_api_hidden.guests(answers.permissions, cluster, seen)
    if answers.late:
        reason = "the time allowed was used up before everything was read"
        draft.gaps.append(Gap(cluster, reason, "a longer --timeout"))


def _say_of_hosts(draft: _Draft, hosts: Mapping[str, Host]) -> None:
    for node, host in hosts.items():
        reading = draft.answers.hosts.get(node, _pve_api_host.OFFLINE)
        if isinstance(reading, Missing):
            what = "its CPU is known only as far as its hypervisor offers it to guests: "
            draft.gap(host.subject, reading, what if host.cpu.known else "")
        elif isinstance(host.cpu, Missing):
            draft.gap(host.subject, host.cpu)


def _say_of_models(draft: _Draft, guests: list[Guest]) -> None:
    """Name the custom models in use whose definition could not be read."""
    specs = {
        spec
        for guest in guests
        for spec in (guest.configured, guest.pending)
        if spec and spec.origin is Origin.CUSTOM and spec.mode is Mode.UNKNOWN
    }
    for label in sorted({spec.label.removeprefix(CUSTOM) for spec in specs}):
        reason = f"the definition of the custom model {excerpt(label)}, which guests have"
        draft.gaps.append(Gap(draft.cluster, reason, draft.definition(excerpt(label))))


def _place(host: Host, draft: _Draft) -> Place:
    cpu = host.cpu.value if isinstance(host.cpu, Known) else None
    return Place(
        cluster=draft.cluster,
        node=host.name,
        host_arch=cpu.arch if cpu else "",
        host_flags=cpu.flags if cpu and cpu.complete else None,
        models=draft.models,
        version=draft.answers.release,
        around=draft.around,
    )


def _guest(item: Listed, host: Host, draft: _Draft) -> Guest:
    place = _place(host, draft)
    location = f"{draft.target.rstrip('/')}/nodes/{item.node}/{item.kind}/{item.vmid}"
    there = draft.answers.answers_for(item.node)
    if not draft.answers.online.get(item.node, True):
        item = item.stateless
    if item.kind == "lxc":
        return _pve_api_guest.container(item, place, location)
    if not there:
        reading: Reading[list[Row]] = Missing(ABOUT_OFFLINE.format(node=item.node), FROM_THE_FILE)
    else:
        reading = draft.answers.pending.get(item.vmid, Missing("it was not asked for"))
    if isinstance(reading, Known):
        try:
            memory = _with_memory(item, place, draft)
            return _pve_api_guest.machine(
                item, reading.value, memory, place, location, draft.definition
            )
        except InputError as error:
            reading = Missing(str(error))
    draft.gap(f"{draft.cluster}/{item.vmid}", reading)
    return _pve_api_guest.unread(item, place, reading.reason, location)


def _with_memory(item: Listed, place: Place, draft: _Draft) -> dict[str, Row]:
    """Return the configurations of the snapshots with memory, and note those not read."""
    answers, subject = draft.answers, f"{place.cluster}/{item.vmid}"
    listed = answers.snapshots.get(item.vmid)
    if listed is None:
        return {}
    if isinstance(listed, Missing):
        draft.gap(subject, listed, "its snapshots: ")
        return {}
    names = memories(listed.value)
    if len(names) > SNAPSHOTS_OF_ONE:
        reason = f"{SNAPSHOTS_OF_ONE} of {len(names)} snapshots with memory were read"
        draft.gaps.append(Gap(subject, reason))
    found = {}
    for name in names[:SNAPSHOTS_OF_ONE]:
        reading = answers.with_memory.get((item.vmid, name), Missing("it was not asked for"))
        if isinstance(reading, Known):
            found[name] = reading.value
        else:
            draft.gap(subject, reading, f"its snapshot {name}: ")
    return found


def _replicas(answers: Answers) -> dict[str, list[str]]:
    """Return the nodes that each guest is replicated to, by VMID."""
    found: dict[str, list[str]] = {}
    for row in answers.replication.value if isinstance(answers.replication, Known) else []:
        vmid = text(row.get("guest", text(row.get("id", "")).partition("-")[0]))
        if row.get("target") and number(row.get("disable")) != 1:
            found.setdefault(vmid, []).append(excerpt(text(row["target"]), 80))
    return found


def _described(draft: _Draft) -> tuple[tuple[str, CpuSpec], ...]:
    """Return the CPU of every custom model, as a guest with nothing else has it."""
    nowhere = Place(draft.cluster, "", models=draft.models, version=draft.answers.release)
    found = {excerpt(name): specification.of_model(name, nowhere) for name in draft.models}
    names = draft.answers.model_names
    for row in names.value if isinstance(names, Known) else []:
        name = text(row.get("name", "")).removeprefix(CUSTOM)
        if number(row.get("custom")) == 1 and excerpt(name) not in found:
            said = _pve_api_guest.undefined(excerpt(name), draft.definition)
            remark = Remark(RemarkKind.UNRESOLVED, said)
            label = CUSTOM + excerpt(name)
            found[excerpt(name)] = CpuSpec(
                "", Origin.CUSTOM, Mode.UNKNOWN, label, remarks=(remark,)
            )
    return tuple(sorted(found.items()))
