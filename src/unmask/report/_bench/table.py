"""The report of `unmask bench` for people: figures with bars, the cause, and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from unmask.measure.advise import Snippet
from unmask.measure.statistics import Series
from unmask.model.bench import (
    FORCED,
    MASKED,
    PADLOCK,
    PLAIN,
    WITHOUT_PCLMULQDQ,
    Cause,
    Ended,
    Tool,
)
from unmask.report._bench.document import BenchDocument, Machine
from unmask.report._grid import Layout, Table, draw, fit
from unmask.report._paint import Paint
from unmask.report._text import clean, wrap

BAR = 24
"""Characters of the longest bar."""
SETTINGS = {
    PLAIN: "as it is",
    MASKED: "masked",
    WITHOUT_PCLMULQDQ: "without PCLMULQDQ",
    FORCED: "forced",
    PADLOCK: "with PadLock",
}
CAUSES = {
    Cause.ACTIVE: "active",
    Cause.HIDDEN: "hidden by the hypervisor",
    Cause.ABSENT: "absent, or turned off in firmware",
    Cause.SOFTWARE_PATH: "already on the software path",
    Cause.PARTIAL: "partial: PCLMULQDQ is hidden",
    Cause.SLOW: "present but slow",
    Cause.KERNEL_DIFFERS: "the kernel differs from OpenSSL",
    Cause.EMULATED: "an emulated CPU",
    Cause.NOT_X86: "not x86",
    Cause.INCONCLUSIVE: "inconclusive",
}
ENDS = {
    Ended.ILLEGAL: "illegal instruction",
    Ended.KILLED: "killed",
    Ended.LATE: "not in time",
    Ended.FAILED: "failed",
    Ended.UNSUPPORTED: "not supported",
    Ended.INVALID: "no valid figure",
}
NESTED = "Its hypervisor is the guest of another."
SPEED = "this node's speed"
LAYOUT = Layout({"algorithm": 12, "setting": 10}, ("bar", "of plain", "spread"))


@dataclass(frozen=True, slots=True)
class _Row:
    """One line of figures."""

    one: Series
    plain: Series | None
    """The same algorithm as it is."""
    most: float
    """The highest rate among those that are drawn to one scale."""


def render(document: BenchDocument, width: int, paint: Paint = Paint(enabled=False)) -> str:  # noqa: B008 - frozen
    """Return the report as lines of at most `width` columns (0: any), ending with a line break."""
    blocks = ["\n".join(_machine(machine, width, paint)) for machine in document.machines]
    return "\n\n".join(blocks) + "\n"


def _machine(machine: Machine, width: int, paint: Paint) -> Iterator[str]:
    result = machine.result
    title = clean(result.name or result.subject, 60)
    if result.name and result.name != result.subject:
        title += f" ({clean(result.subject, 60)})"
    told = [word for word in (result.method, result.way) if word]
    yield paint.heading(title) + "".join(f", {clean(word, 80)}" for word in told)
    if machine.diagnosis:
        yield from wrap(f"{CAUSES[machine.diagnosis.cause]}: {_sentence(machine)}", width, "  ")
    if machine.series:
        yield ""
        yield from ("  " + line for line in _figures(machine, width - 2 if width else 0))
    rest = list(_rest(machine, width))
    if rest and machine.series:
        yield ""
    yield from rest


def _rest(machine: Machine, width: int) -> Iterator[str]:
    """Yield what stands below the figures."""
    if machine.diagnosis:
        yield from _listed("Seen", machine.diagnosis.evidence, width)
        yield from _listed("Do", machine.diagnosis.advice, width)
        yield from _listed("Will not help", machine.diagnosis.useless, width)
    if machine.earlier:
        heading = f"Since {machine.earlier.started or machine.earlier.subject}"
        yield from _listed(heading, [change.sentence for change in machine.changes], width)
    yield from _snippets(machine.snippets, width)
    if not machine.noise.fit:
        yield from _listed("Disturbed", machine.noise.reasons, width)
        yield from _listed("To measure better", machine.noise.advice, width)
    yield from _listed("Problems", machine.result.problems, width)


def _snippets(found: Sequence[Snippet], width: int) -> Iterator[str]:
    """Yield what can be put into files of the guest; their lines are never wrapped."""
    if not found:
        return
    yield "  Inside the guest, where its hypervisor cannot be changed:"
    for snippet in found:
        place = f", in {snippet.path}" if snippet.path else ""
        yield from wrap(f"{snippet.title}{place}:", width, "  - ", "    ")
        yield from ("      " + clean(line) for line in snippet.text.splitlines())
        if snippet.warning:
            yield from wrap(snippet.warning, width, "    ")


def _sentence(machine: Machine) -> str:
    found = machine.diagnosis
    said = found.sentence if found else ""
    if machine.headline and SPEED not in said:
        said += f" {machine.headline[0].upper()}{machine.headline[1:]}."
    return f"{said} {NESTED}" if found and found.nested else said


def _figures(machine: Machine, width: int) -> list[str]:
    rows = list(_rows(machine.series))
    table: Table = {
        "algorithm": [],
        "setting": [],
        "rate": [],
        "spread": [],
        "of plain": [],
        "bar": [],
    }
    last = ""
    for row in rows:
        one = row.one
        table["algorithm"].append("" if one.algorithm == last else clean(one.algorithm, 40))
        table["setting"].append(SETTINGS.get(one.setting) or clean(one.setting, 40))
        table["rate"].append(rate(one) if one.rate is not None else ENDS.get(one.ended, "none"))
        table["spread"].append("" if one.spread is None else f"+-{one.spread:.0%}")
        table["of plain"].append(_of_plain(row))
        table["bar"].append(_bar(row))
        last = one.algorithm
    return draw(fit(table, width, LAYOUT), lambda _, cell: cell)


def _rows(found: Sequence[Series]) -> Iterator[_Row]:
    """Yield the figures by algorithm, each kind of figure drawn to a scale of its own."""
    plain = {(one.tool, one.algorithm): one for one in found if one.setting == PLAIN}
    scales: dict[tuple[Tool, bool], float] = {}
    for one in found:
        kind = _kind(one)
        scales[kind] = max(scales.get(kind, 0.0), one.rate or 0.0)
    order = list(dict.fromkeys((one.tool, one.algorithm) for one in found))
    settings = list(dict.fromkeys((*SETTINGS, *(one.setting for one in found))))
    every = sorted(
        found,
        key=lambda one: (order.index((one.tool, one.algorithm)), settings.index(one.setting)),
    )
    for one in every:
        yield _Row(one, plain.get((one.tool, one.algorithm)), scales[_kind(one)])


def _kind(one: Series) -> tuple[Tool, bool]:
    return one.tool, _counts(one)


def _counts(one: Series) -> bool:
    """Return whether a rate is of requests, not of bytes."""
    return one.algorithm.startswith("requests")


def rate(one: Series) -> str:
    """Return a rate in its unit."""
    value = one.rate or 0.0
    if _counts(one):
        return f"{value:.2f}/s" if value < 100 else f"{value:.0f}/s"
    number = value / 1e6
    digits = 0 if number >= 100 else 1 if number >= 1 else 2
    return f"{number:.{digits}f} MB/s"


def _of_plain(row: _Row) -> str:
    one, plain = row.one, row.plain
    if plain is None or one is plain or not one.rate or not plain.rate:
        return ""
    factor = one.rate / plain.rate
    return f"{factor:.1f}x" if factor >= 1 else f"{factor:.0%}"


def _bar(row: _Row) -> str:
    value = row.one.rate
    if not value or not row.most:
        return ""
    return "#" * max(round(BAR * value / row.most), 1)


def _listed(heading: str, items: Sequence[str], width: int) -> Iterator[str]:
    if not items:
        return
    yield f"  {heading}:"
    for item in items:
        yield from wrap(item, width, "  - ", "    ")
