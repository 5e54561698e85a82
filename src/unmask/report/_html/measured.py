"""What was measured on these guests and nodes, as bars with their figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from unmask.crypto.sentence import percent
from unmask.measure.compare import compare
from unmask.measure.reference import WhatIf
from unmask.measure.statistics import Series
from unmask.model.bench import PLAIN, BenchResult
from unmask.model.report import Document
from unmask.report._bench.document import Machine
from unmask.report._bench.document import build as machines
from unmask.report._bench.table import CAUSES, ENDS, SETTINGS, rate
from unmask.report._html.labels import Labels, Ref, sentence
from unmask.report._html.summary import moment
from unmask.report._text import clean

REQUESTS = "requests"
"""Begins the name of an algorithm whose rate counts requests."""


@dataclass(frozen=True, slots=True)
class Line:
    """One figure with its bar."""

    setting: str
    width: float
    """Per cent of the longest bar of its kind; 0 without figure."""
    text: str
    """"205 MB/s", or how the run ended."""
    of_plain: str
    """"13 %", "6.5 times": against the figure as it is."""


@dataclass(frozen=True, slots=True)
class Algorithm:
    """All figures of one algorithm."""

    name: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Before:
    """One figure before and after."""

    algorithm: str
    before: Line
    after: Line
    sentence: str


@dataclass(frozen=True, slots=True)
class Bench:
    """One machine that was measured."""

    ref: Ref
    told: str
    """When, how and by which way."""
    cause: str
    sentence: str
    algorithms: tuple[Algorithm, ...]
    shares: tuple[str, ...]
    """Of its node's speed."""
    since: str
    """When it was measured before; "" where it was not."""
    changes: tuple[Before, ...]
    what_if: bool
    problems: tuple[str, ...]


def build(document: Document, labels: Labels) -> tuple[Bench, ...]:
    """Return every machine's latest result; where there is an earlier one, what has changed."""
    latest: dict[tuple[str, bool], BenchResult] = {}
    first: dict[tuple[str, bool], BenchResult] = {}
    for result in document.measured:
        key = (result.subject, result.asks_what_if)
        first.setdefault(key, result)
        latest[key] = result
    made = machines(tuple(latest.values()), version="", started="")
    return tuple(
        _bench(machine, first[key] if first[key] is not latest[key] else None, labels)
        for key, machine in zip(latest, made.machines, strict=True)
    )


def _bench(machine: Machine, first: BenchResult | None, labels: Labels) -> Bench:
    result, found = machine.result, machine.diagnosis
    earlier = None if result.asks_what_if else first
    told = [moment(result.started), *(clean(word, 80) for word in (result.method, result.way))]
    said = found.sentence if found else ""
    figures = _models(machine.what_if) if result.asks_what_if else _lines(machine)
    return Bench(
        labels.of(result.subject, result.name),
        ", ".join(word for word in told if word),
        CAUSES[found.cause] if found else "",
        sentence(said),
        _gathered(figures),
        tuple(sentence(share.sentence) for share in machine.shares),
        (moment(earlier.started) or "an earlier run") if earlier else "",
        tuple(_changes(earlier, result)) if earlier else (),
        result.asks_what_if,
        tuple(sentence(problem) for problem in result.problems[:20]),
    )


def _gathered(figures: Iterable[tuple[str, Line]]) -> tuple[Algorithm, ...]:
    found: dict[str, list[Line]] = {}
    for name, line in figures:
        found.setdefault(name, []).append(line)
    return tuple(Algorithm(clean(name, 60), tuple(lines)) for name, lines in found.items())


def _lines(machine: Machine) -> Iterator[tuple[str, Line]]:
    """Yield the figures of a machine, and beside them those of its node as it is."""
    series = machine.series
    most: dict[tuple[str, bool], float] = {}
    plain: dict[tuple[str, str], float] = {}
    for one in series:
        kind = _kind(one)
        most[kind] = max(most.get(kind, 0.0), one.rate or 0.0)
        if one.setting == PLAIN and one.rate:
            plain[one.tool, one.algorithm] = one.rate
    for share in machine.shares:
        kind = (share.tool, share.algorithm.startswith(REQUESTS))
        most[kind] = max(most.get(kind, 0.0), share.node)
    for one in series:
        rival = plain.get((one.tool, one.algorithm))
        of_plain = ""
        if rival and one.rate and one.setting != PLAIN:
            of_plain = _times(one.rate / rival)
        line = Line(
            SETTINGS.get(one.setting) or clean(one.setting, 60),
            _width(one.rate, most[_kind(one)]),
            rate(one) if one.rate is not None else ENDS.get(one.ended, "no figure"),
            of_plain,
        )
        yield one.algorithm, line
    for share in machine.shares:
        scale = most[share.tool, share.algorithm.startswith(REQUESTS)]
        text = _figure(share.algorithm, share.node)
        of = _times(share.node / share.guest)
        yield share.algorithm, Line("its node, as it is", _width(share.node, scale), text, of)


def _kind(one: Series) -> tuple[str, bool]:
    """Return what figures have in common that are drawn to one scale."""
    return one.tool, one.algorithm.startswith(REQUESTS)


def _models(rows: Sequence[WhatIf]) -> Iterator[tuple[str, Line]]:
    """Yield what CPU models amount to, each algorithm to a scale of its own."""
    order = dict.fromkeys(row.algorithm for row in rows)
    for algorithm in order:
        here = [row for row in rows if row.algorithm == algorithm]
        most = max(row.rate or 0.0 for row in here)
        for row in here:
            text = _megabytes(row.rate) if row.rate is not None else sentence(row.note, 80)
            of = percent(row.of_host) if row.of_host is not None else ""
            yield algorithm, Line(clean(row.model, 60), _width(row.rate, most), text, of)


def _changes(before: BenchResult, after: BenchResult) -> Iterator[Before]:
    for change in compare(before, after):
        algorithm = clean(change.algorithm, 60)
        most = max(change.before or 0.0, change.after or 0.0)
        lines = [
            Line(when, _width(value, most), _figure(algorithm, value), "")
            for when, value in (("before", change.before), ("after", change.after))
        ]
        said = change.sentence.removeprefix(f"{change.algorithm}: ")
        yield Before(algorithm, lines[0], lines[1], sentence(said))


def _figure(algorithm: str, value: float | None) -> str:
    if value is None:
        return "not measured"
    return f"{value:.2f}/s" if algorithm.startswith(REQUESTS) else _megabytes(value)


def _megabytes(value: float) -> str:
    number = value / 1e6
    return f"{number:.{0 if number >= 100 else 1 if number >= 1 else 2}f} MB/s"


def _times(factor: float) -> str:
    return f"{factor:.1f} times" if factor >= 1 else percent(factor)


def _width(value: float | None, most: float) -> float:
    return round(100 * value / most, 2) if value and most else 0.0
