"""From the files of /etc/pve to an inventory, wherever they come from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from unmask.dialects import cpuinfo
from unmask.dialects.excerpt import excerpt
from unmask.dialects.proxmox import (
    availability,
    corosync,
    custom_models,
    guest,
    specification,
)
from unmask.dialects.proxmox.conf import LIMIT
from unmask.dialects.proxmox.corosync import Membership
from unmask.dialects.proxmox.custom_models import CustomModels
from unmask.dialects.proxmox.release import NEWEST
from unmask.dialects.proxmox.specification import Place
from unmask.errors import InputError
from unmask.model.cpu import CpuSpec, HostCpu, Remark, RemarkKind
from unmask.model.inventory import Cluster, Gap, Guest, Host, Inventory, Platform
from unmask.model.reading import Known, Missing, Reading
from unmask.sources import _pve_around
from unmask.sources._pve_layout import ConfigFile, Site, sites

NAMED = 8
"""Files that one gap names."""


@dataclass(slots=True)
class _Draft:
    """An inventory in the making."""

    prefix: str
    """Put in front of paths."""
    version: str
    versions: Mapping[str, str]
    gaps: list[Gap]
    hosts: list[Host] = field(default_factory=list)
    guests: list[Guest] = field(default_factory=list)
    clusters: list[Cluster] = field(default_factory=list)

    def gap(self, path: str, reason: str, needs: str = "") -> None:
        """Note that a file could not be made sense of."""
        self.gaps.append(Gap(f"{self.prefix}{path}", reason, needs))


def inventory(
    files: Mapping[str, bytes],
    name: str,
    target: str = "",
    gaps: Iterable[Gap] = (),
    version: str = NEWEST,
    versions: Mapping[str, str] | None = None,
) -> Inventory:
    """Return what the files of one or several copies of /etc/pve tell.

    Args:
        files: Content by path, relative and with slashes.
        name: What to call a cluster without corosync.conf.
        target: Where the files come from, as the operator wrote it; put in front of paths.
        gaps: What could not be read of them.
        version: Of Proxmox VE.
        versions: The same for the nodes that have another.
    """
    draft = _Draft(f"{target.rstrip('/')}/" if target else "", version, versions or {}, list(gaps))
    for site in sites(files):
        _collect(site, name, draft)
    return Inventory(
        targets=(target,) if target else (),
        hosts=tuple(sorted(draft.hosts, key=lambda host: host.subject)),
        guests=tuple(sorted(draft.guests, key=lambda found: found.subject)),
        clusters=tuple(sorted(draft.clusters, key=lambda cluster: cluster.subject)),
        gaps=tuple(draft.gaps),
    )


def _collect(site: Site, name: str, draft: _Draft) -> None:
    """Add one site."""
    members = _membership(site, draft)
    subject = members.cluster or _folder(site.root) or name
    if any(cluster.subject == subject for cluster in draft.clusters):
        subject = f"{subject} ({site.root.rstrip('/') or name})"
    custom = _custom_models(site, subject, draft)
    home = members.nodes[0] if len(members.nodes) == 1 else subject
    cpus = _processors(site, members, home, draft)
    kept = availability.read(_text(site.resources), _text(site.replication))
    around = _pve_around.surroundings(site, cpus, kept.replicas)
    places = {
        node: replace(
            _place(subject, node, cpu, custom, draft.versions.get(node, draft.version)),
            around=around,
        )
        for node, cpu in cpus.items()
    }
    draft.hosts += [
        Host(f"{subject}/{node}", node, Platform.PROXMOX, subject, cpu)
        for node, cpu in cpus.items()
    ]
    read = [
        found
        for config in site.configs
        if (found := _guest(config, places[config.node or home], draft))
    ]
    rules = _pve_around.rules(site)
    draft.guests += [
        _pve_around.confined(kept.of(found), rules, subject) for found in _distinct(read, draft)
    ]
    nowhere = _place(subject, "", Missing("no node"), custom, draft.version)
    models = _described(custom, nowhere) if custom else ()
    draft.clusters.append(Cluster(subject, subject, Platform.PROXMOX, models))
    for path in site.strangers[:NAMED]:
        draft.gap(path, "it is no guest's configuration: its name is not a VMID")
    if len(site.strangers) > NAMED:
        more = len(site.strangers) - NAMED
        draft.gap(site.root or ".", f"{more} more files are no guests': their names are no VMIDs")


def _folder(root: str) -> str:
    """Return the folder that a copy of etc/pve lies in, "" at the top."""
    path = root.rstrip("/")
    return path.removesuffix("etc/pve").rstrip("/").rpartition("/")[2]


def _text(content: bytes) -> str:
    """Return a file's text; bytes that are no UTF-8 become replacement characters."""
    return content.decode("utf-8", errors="replace")


def _membership(site: Site, draft: _Draft) -> Membership:
    if site.corosync is not None:
        try:
            return corosync.parse(_text(site.corosync))
        except InputError as error:
            draft.gap(f"{site.root}corosync.conf", str(error))
    return Membership("", ())


def _custom_models(site: Site, cluster: str, draft: _Draft) -> CustomModels | None:
    """Return the custom models, None where their file is not there or cannot be read."""
    if site.models is None:
        return None
    try:
        custom = custom_models.parse(_text(site.models), draft.version)
    except InputError as error:
        draft.gap(f"{site.root}virtual-guest/cpu-models.conf", str(error))
        return None
    for model, fault in custom.faults:
        if model not in custom.models:
            draft.gaps.append(Gap(cluster, fault))
    return custom


def _processors(
    site: Site, members: Membership, home: str, draft: _Draft
) -> dict[str, Reading[HostCpu]]:
    """Return the CPU of every node, sorted by name."""
    nodes = {config.node or home for config in site.configs}
    nodes |= {node or home for node in site.cpus} | set(members.nodes)
    found: dict[str, Reading[HostCpu]] = {}
    for node in sorted(nodes):
        path, content = site.cpus.get(node) or site.cpus.get(
            "" if node == home else node, ("", b"")
        )
        needs = f"nodes/{node}/cpuinfo, a copy of the node's /proc/cpuinfo"
        if not path:
            found[node] = Missing("the copy of /etc/pve holds no cpuinfo of this node", needs)
            continue
        try:
            found[node] = Known(cpuinfo.parse(_text(content)))
        except InputError as error:
            draft.gap(path, str(error), needs)
            found[node] = Missing(str(error), needs)
    return found


def _place(
    cluster: str, node: str, cpu: Reading[HostCpu], custom: CustomModels | None, version: str
) -> Place:
    host = cpu.value if isinstance(cpu, Known) else None
    return Place(
        cluster=cluster,
        node=node,
        host_arch=host.arch if host else "",
        host_flags=host.flags if host and host.complete else None,
        models=custom.models if custom else None,
        version=version,
    )


def _guest(config: ConfigFile, place: Place, draft: _Draft) -> Guest | None:
    """Return the guest of one file, None and a gap where it holds none."""
    if not config.content.strip():
        draft.gap(config.path, "it is empty: the copy seems to be incomplete")
        return None
    if len(config.content) > LIMIT:
        draft.gap(config.path, "it is larger than the 512 KiB that Proxmox allows")
        return None
    reader = guest.read_container if config.kind == "lxc" else guest.read
    try:
        return reader(_text(config.content), config.vmid, place, f"{draft.prefix}{config.path}")
    except InputError as error:
        draft.gap(config.path, str(error))
        return None


def _distinct(guests: list[Guest], draft: _Draft) -> list[Guest]:
    """Tell guests apart that share a VMID, which Proxmox does not allow in a cluster."""
    by_subject: dict[str, list[Guest]] = {}
    for found in guests:
        by_subject.setdefault(found.subject, []).append(found)
    distinct = []
    for subject, same in by_subject.items():
        if len(same) == 1:
            distinct += same
            continue
        paths = [found.location for found in same]
        said = f"VMID {same[0].ident} is configured more than once: {', '.join(paths[:NAMED])}."
        draft.gaps.append(Gap(subject, said.rstrip("."), "only one file for each VMID"))
        note = Remark(RemarkKind.NOTE, said)
        distinct += [
            replace(
                found,
                subject=subject if position == 0 else f"{subject} ({found.location})",
                remarks=(*found.remarks, note),
            )
            for position, found in enumerate(same)
        ]
    return distinct


def _described(custom: CustomModels, place: Place) -> tuple[tuple[str, CpuSpec], ...]:
    """Return the CPU of every custom model, as a guest with nothing else has it."""
    described = []
    for name in sorted(custom.models):
        spec = specification.of_model(name, place)
        faults = tuple(
            Remark(RemarkKind.IGNORED, fault) for model, fault in custom.faults if model == name
        )
        described.append((excerpt(name), replace(spec, remarks=spec.remarks + faults)))
    return tuple(described)
