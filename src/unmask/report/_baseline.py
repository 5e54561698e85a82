"""The report on a baseline for people: nodes, models, the custom model, a new node, drift."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unmask.cpu.features import REPORTED_X86
from unmask.model.baseline import (
    Arrival,
    Baseline,
    BaselineDocument,
    Drift,
    FlagSource,
    ModelFit,
    Node,
    Proposal,
)
from unmask.model.reading import Known
from unmask.report._grid import Layout, Table, draw, fit
from unmask.report._paint import Paint
from unmask.report._text import clean, listed, wrap

SHOWN = 8
"""Models that all nodes can run that are shown; the JSON report has all."""
NAME = 60
SOURCES = {
    FlagSource.HYPERVISOR: "hypervisor",
    FlagSource.KERNEL: "/proc/cpuinfo",
    FlagSource.CAPABILITIES: "libvirt's map",
}
NODES = Layout(
    shrinkable={"CPU": 20, "HOLDS BACK": 20, "NODE": 12}, droppable=("FLAGS FROM", "CPU")
)
MODELS = Layout(shrinkable={"MODEL": 20, "LACKS": 12}, droppable=("VENDOR", "FLAGS"))
NEXT = {
    "proxmox": (
        "Custom model for Proxmox VE",
        (
            "Append this to /etc/pve/virtual-guest/cpu-models.conf, then set guests to it with "
            "qm set VMID --cpu custom-{}; it takes effect after a stop and start."
        ),
    ),
    "libvirt": (
        "Custom model for libvirt",
        (
            "Put this in place of <cpu> and keep its other children (topology, numa, cache); it "
            "takes effect after a shutdown and start."
        ),
    ),
}


def render(document: BaselineDocument, width: int, paint: Paint) -> str:
    """Return the report, for lines of `width` columns (0: unlimited)."""
    found = document.baseline
    parts = (
        ("", _nodes(found, width, paint)),
        ("In common", _common(found, width)),
        ("Models that all nodes can run, best first", _models(found, width, paint)),
        ("Held back by one node", _missed(found, width)),
        *((NEXT[item.platform][0], _proposal(item, width)) for item in _for_nodes(document)),
        *((f"With {clean(item.node, NAME)}", _arrival(item, width)) for item in document.arrivals),
        (f"Since {clean(document.compared, NAME)}", _drifts(document.drift, width)),
        ("To know", _remarks(document, width)),
    )
    lines: list[str] = []
    for title, body in parts:
        if body:
            lines += ["", *([paint.heading(title)] if title else []), *body]
    return "\n".join(lines).lstrip("\n") + "\n"


def _nodes(found: Baseline, width: int, paint: Paint) -> list[str]:
    held = dict(found.held_back)
    rows = [
        (
            clean(node.name, NAME), clean(_cpu(node), NAME), SOURCES[node.source],
            " ".join(_telling(held.get(node.name, frozenset()))) or "-",
        )
        for node in found.nodes
    ]  # fmt: skip
    rows += [(clean(item.host.name, NAME), "?", "not known", "?") for item in found.unknown]
    headings = ("NODE", "CPU", "FLAGS FROM", "HOLDS BACK")
    table: Table = {
        heading: [row[number] for row in rows] for number, heading in enumerate(headings)
    }
    return draw(fit(table, width, NODES), lambda _, cell: paint.cell(cell))


def _cpu(node: Node) -> str:
    cpu = node.host.cpu
    name = cpu.value.model_name if isinstance(cpu, Known) else ""
    return name or node.vendor or node.arch


def _telling(flags: frozenset[str]) -> list[str]:
    """Return the flags that reports show first, then the number of the others."""
    first = [flag for flag in REPORTED_X86 if flag in flags]
    rest = len(flags) - len(first)
    return [*first, *([f"(+{rest})"] if rest else [])]


def _common(found: Baseline, width: int) -> list[str]:
    if not found.nodes:
        return []
    level = ""
    if found.level is not None:
        level = f"{_level(found.level)}, "
    shown = [flag for flag in REPORTED_X86 if flag in found.common]
    names = shown if found.level is not None else sorted(found.common)
    text = f"{level}{len(found.common)} flags, of them {listed(names) or 'none that matter here'}."
    lines = wrap(text, width, "  ")
    if found.level is not None:
        needs = found.needs
        has = [flag for flag in needs.flags if flag in found.common]
        lacks = [flag for flag in needs.flags if flag not in found.common]
        text = f"Ranked by {listed(needs.flags)} ({needs.origin})"
        text += f"; not on all nodes: {listed(lacks)}." if lacks else "; all nodes have all of it."
        lines += wrap(text if has or lacks else "", width, "  ")
    for alike in found.alike:
        text = "a guest of type host can move between them."
        lines += wrap(
            f"Alike in CPU, flags and microcode: {listed([clean(name, NAME) for name in alike])}; "
            f"{text}",
            width,
            "  ",
        )
    return lines


def _models(found: Baseline, width: int, paint: Paint) -> list[str]:
    fitting = [item for item in found.models if item.fits]
    if not fitting:
        return wrap("None.", width, "  ") if found.models else []
    table = _table(fitting[:SHOWN])
    lines = draw(fit(table, width, MODELS), lambda _, cell: paint.cell(cell))
    more = len(fitting) - SHOWN
    if more > 0:
        lines += wrap(f"and {more} more: see --format json", width, "  ")
    for note in dict.fromkeys(note for item in fitting[:SHOWN] for note in item.notes):
        names = [item.name for item in fitting[:SHOWN] if note in item.notes]
        lines += wrap(f"{listed(names)}: {note}", width, "  ", "    ")
    return lines


def _table(models: Sequence[ModelFit]) -> Table:
    return {
        "MODEL": [item.name for item in models],
        "VENDOR": [item.vendor or "any" for item in models],
        "LEVEL": [f"v{item.level}" if item.level else "<v1" for item in models],
        "SHOWS": [" ".join(item.shows) or "-" for item in models],
        "LACKS": [" ".join(item.lacks) or "-" for item in models],
        "FLAGS": [str(len(item.flags)) for item in models],
    }


def _missed(found: Baseline, width: int) -> list[str]:
    """Return what all other nodes could run, were it not for one of them."""
    models = {item.name: item for item in found.models}
    lines = []
    for node, name in found.unlocked:
        item = models[name]
        (why,) = {each.reason if not each.flags else "" for each in item.obstacles}
        lacks = _telling(frozenset(item.obstacles[0].flags))
        why = why or f"lacks {' '.join(lacks)}"
        shows = f"x86-64-v{item.level}, shows {listed(item.shows) or 'none of it'}"
        text = f"Without {clean(node, NAME)} all nodes could run {name} ({shows}): it {why}."
        lines += wrap(text, width, "  ", "    ")
    return lines


def _for_nodes(document: BaselineDocument) -> list[Proposal]:
    """Return the custom models for the platforms of the nodes; the JSON report has all."""
    platforms = {node.host.platform.value for node in document.baseline.nodes}
    return [item for item in document.proposals if item.platform in platforms]


def _proposal(item: Proposal, width: int) -> list[str]:
    model = item.model
    lines = []
    if model.on or model.off:
        lines += wrap(NEXT[item.platform][1].format(item.name), width, "  ")
        lines += ["", *(f"  {line}" for line in item.text.rstrip("\n").split("\n")), ""]
    shows = f"It shows {listed(model.shows) or 'nothing of the needs'}"
    lacks = f"; {listed(model.lacks)} not every node has" if model.lacks else ""
    lines += wrap(f"{shows}{lacks}; x86-64-v{model.level}.", width, "  ")
    for note in model.notes:
        lines += wrap(note, width, "  ")
    return lines


def _arrival(item: Arrival, width: int) -> list[str]:
    return [line for text in _of_arrival(item) for line in wrap(text, width, "  ", "    ")]


def _of_arrival(item: Arrival) -> Iterator[str]:
    if not item.known:
        yield "Its flags are not known: nothing can be said of what would be lost."
        yield from item.remarks
        return
    lost = _telling(frozenset(item.flags_lost))
    yield f"Flags lost: {' '.join(lost) or 'none'}."
    if item.flags_open:
        yield f"Not told whether it has: {' '.join(_telling(frozenset(item.flags_open)))}."
    if item.level_before != item.level_after:
        yield f"Level: {_level(item.level_before)}, then {_level(item.level_after)}."
    yield f"Models lost: {listed(item.models_lost) or 'none'}."
    if item.models_open:
        yield f"Not known whether it runs: {listed(item.models_open)}."
    if item.best_before != item.best_after:
        yield f"Best model: {item.best_before or 'none'}, then {item.best_after or 'none'}."
    for guest in item.guests:
        yield f"{clean(guest.guest, NAME)} ({clean(guest.name, NAME)}) {clean(guest.reason)}."
    if not item.guests:
        yield "Every guest that was read could start there."
    yield from item.remarks


def _level(level: int | None) -> str:
    if level is None:
        return "none in common"
    return f"x86-64-v{level}" if level else "below x86-64-v1"


def _drifts(drifts: Sequence[Drift] | None, width: int) -> list[str]:
    if drifts is None:
        return []
    lines = [line for item in drifts for text in _drift(item) for line in wrap(text, width, "  ")]
    return lines or wrap("No node has changed.", width, "  ")


def _drift(item: Drift) -> Iterator[str]:
    name = clean(item.node, NAME)
    if item.presence:
        yield f"{name} is {'new' if item.presence == 'new' else 'no longer there'}."
    if item.unknown:
        yield f"{name}: its flags {clean(item.unknown)}."
    if item.lost:
        yield f"{name} lost {' '.join(item.lost)}."
    if item.gained:
        yield f"{name} gained {' '.join(item.gained)}."
    for sentence in item.evidence:
        yield f"{name}: {clean(sentence)}"


def _remarks(document: BaselineDocument, width: int) -> list[str]:
    said = [*document.baseline.remarks, *([document.no_proposal] if document.no_proposal else [])]
    alike: dict[str, list[str]] = {}
    for gap in document.gaps:
        alike.setdefault(clean(gap.reason), []).append(clean(gap.subject, NAME))
    said += [f"{listed(names)}: {reason}" for reason, names in list(alike.items())[:SHOWN]]
    if len(alike) > SHOWN:
        said.append(f"and {len(alike) - SHOWN} more reasons: see --format json")
    return [line for text in said for line in wrap(text, width, "  ", "    ")]
