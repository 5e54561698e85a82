"""Each cluster's nodes: what they are, and which flags their guests can be given."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from unmask.cpu import node_flags
from unmask.model.baseline import Node, UnknownNode
from unmask.model.inventory import Host
from unmask.model.reading import Known
from unmask.model.report import Document
from unmask.report._html import marks
from unmask.report._html.labels import NAME, Labels, Ref, sentence
from unmask.report._text import clean, reasoned

ALONE = "Hosts of no cluster"
SAME_KNOWN = "those of these nodes that are known can give the same"
SOURCES = {
    "hypervisor": "the hypervisor",
    "kernel": "its kernel",
    "capabilities": "libvirt's description of its CPU",
}


@dataclass(frozen=True, slots=True)
class NodeRow:
    """One node."""

    ref: Ref
    cpu: str
    identity: str
    """"family 6, model 85, stepping 4"."""
    microcode: str
    kernel: str
    hypervisor: str
    qemu: str
    guests: int
    source: str
    """Who says which flags it can give."""
    cells: tuple[str, ...]
    """A word for each of the map's flags."""
    why: str
    """Why nothing is known of its flags; "" where something is."""


@dataclass(frozen=True, slots=True)
class Column:
    """One flag, and whether the nodes of the map differ in it."""

    flag: str
    differs: bool


@dataclass(frozen=True, slots=True)
class FlagTable:
    """Rows of one architecture, and the flags that reports show for it."""

    arch: str
    columns: tuple[Column, ...]
    defences: int
    """How many of the columns, at the end, are mitigation flags."""
    rows: tuple[NodeRow, ...]

    @property
    def pairs(self) -> tuple[tuple[str, bool], ...]:
        """Return each flag with whether the nodes differ in it."""
        return tuple((column.flag, column.differs) for column in self.columns)

    @property
    def said(self) -> str:
        """Return in what the nodes differ, in words."""
        known = sum(bool(row.cells) for row in self.rows)
        if self.differing:
            return f"these nodes differ (\u2260) in {', '.join(self.differing)}"
        if known < 2:
            return ""
        return "these nodes can give the same" if known == len(self.rows) else SAME_KNOWN

    @property
    def differing(self) -> tuple[str, ...]:
        """Return the flags that some of these nodes have and others lack."""
        return tuple(column.flag for column in self.columns if column.differs)


@dataclass(frozen=True, slots=True)
class ClusterMap:
    """The nodes of one cluster."""

    title: str
    anchor: str
    rows: tuple[NodeRow, ...]
    tables: tuple[FlagTable, ...]
    models: int
    """Different CPU model names."""
    custom_models: str

    @property
    def unknown(self) -> tuple[NodeRow, ...]:
        """Return the nodes of which nothing is known and that no table of flags has."""
        shown = {row for table in self.tables for row in table.rows}
        return tuple(row for row in self.rows if row.why and row not in shown)


def build(document: Document, labels: Labels) -> tuple[ClusterMap, ...]:
    """Return a map for each cluster that has nodes, and one for hosts that are in none."""
    hosts: dict[str, list[Host]] = defaultdict(list)
    for host in document.inventory.hosts:
        hosts[host.cluster].append(host)
    guests = Counter(case.guest.host for case in document.cases)
    clusters = {cluster.subject: cluster for cluster in document.inventory.clusters}
    maps = []
    for subject in [*clusters, *(name for name in hosts if name not in clusters)]:
        if subject in hosts:
            custom = clusters[subject].custom_models if subject in clusters else ()
            ref = labels.clusters.get(subject) or Ref(clean(subject, NAME))
            ref = ref if subject else Ref(ALONE, "cluster-0")
            names = ", ".join(clean(name, 60) for name, _ in custom[:20])
            maps.append(_map(ref, hosts[subject], guests, labels, names))
    return tuple(maps)


def _map(
    ref: Ref, hosts: Sequence[Host], guests: Counter[str], labels: Labels, custom: str
) -> ClusterMap:
    places = [node_flags.node(host) for host in hosts]
    flags = {_arch(place): marks.split(_arch(place)) for place in places}
    rows = [(_arch(place), _row(place, labels, guests, flags[_arch(place)])) for place in places]
    names = {row.cpu for _, row in rows if row.cpu}
    return ClusterMap(
        ref.text,
        ref.anchor,
        tuple(row for _, row in rows),
        tuple(_tables(rows, flags)),
        len(names),
        custom,
    )


def _tables(
    rows: Sequence[tuple[str, NodeRow]], flags: dict[str, tuple[tuple[str, ...], tuple[str, ...]]]
) -> Iterator[FlagTable]:
    for arch, (work, defences) in flags.items():
        every = (*work, *defences)
        here = tuple(row for its, row in rows if its == arch)
        known = [row.cells for row in here if row.cells]
        if not every or not known:
            continue
        columns = tuple(
            Column(flag, len({cells[index] for cells in known} - {marks.UNKNOWN}) > 1)
            for index, flag in enumerate(every)
        )
        yield FlagTable(arch, columns, len(defences), here)


def _row(
    place: Node | UnknownNode,
    labels: Labels,
    guests: Counter[str],
    flags: tuple[tuple[str, ...], tuple[str, ...]],
) -> NodeRow:
    host = place.host
    cpu = host.cpu.value if isinstance(host.cpu, Known) else None
    numbers = (
        ("family", cpu.family if cpu else None),
        ("model", cpu.model if cpu else None),
        ("stepping", cpu.stepping if cpu else None),
    )
    why, source = "", ""
    cells: tuple[str, ...] = ()
    if isinstance(place, UnknownNode):
        why = sentence(reasoned(place.reason, place.needs))
    else:
        source = SOURCES[place.source]
        cells = tuple(_word(place, flag) for part in flags for flag in part)
    return NodeRow(
        ref=(labels.short_nodes if host.cluster else labels.nodes)[host.subject],
        cpu=clean(cpu.model_name, 80) if cpu else "",
        identity=", ".join(f"{word} {value}" for word, value in numbers if value is not None),
        microcode=clean(cpu.microcode, 30) if cpu else "",
        kernel=clean(host.software.kernel, 60),
        hypervisor=clean(host.software.hypervisor, 60),
        qemu=clean(host.software.qemu, 30),
        guests=guests[host.subject],
        source=source,
        cells=cells,
        why=why,
    )


def _word(place: Node, flag: str) -> str:
    if node_flags.sure(place, flag):
        return marks.YES
    return marks.NO if node_flags.lacks(place, flag) else marks.UNKNOWN


def _arch(place: Node | UnknownNode) -> str:
    """Return the node's architecture; one that nothing is known of is shown with x86's flags."""
    if isinstance(place, Node):
        return place.arch
    cpu = place.host.cpu
    return (cpu.value.arch if isinstance(cpu, Known) else "") or "x86_64"
