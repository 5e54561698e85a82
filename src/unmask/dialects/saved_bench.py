"""Benchmark results as text: the JSON of `unmask bench --save`, which `--compare` reads.

`load(dump(results)) == results`, and equal results give equal text (`unmask.dialects.records` says
how values are written). What each program has printed is in it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from unmask.dialects import saved_text
from unmask.dialects.records import WrongValueError, codec
from unmask.dialects.saved_text import Form
from unmask.errors import InputError
from unmask.model.bench import BenchResult

SCHEMA = "unmask.bench-results"
VERSION = 1
FASTEST = 1e15
"""Bytes a second that nothing does."""
LIMIT = 64 * 1024 * 1024
"""Characters of text that are looked at: some hundreds of machines."""
FORM = Form(
    schema=SCHEMA,
    version=VERSION,
    limit=LIMIT,
    what="a file with results of a benchmark",
    no="not saved by unmask bench",
    has="these results have",
    it="them",
)


@dataclass(frozen=True, slots=True)
class _Results:
    results: tuple[BenchResult, ...]


def dump(results: tuple[BenchResult, ...]) -> str:
    """Return the results as ASCII JSON text that ends with a line break."""
    body = codec(_Results).dump(_Results(results))
    return saved_text.dump(FORM, body)


def load(text: str) -> tuple[BenchResult, ...]:
    """Return the results that `dump` wrote.

    Raises:
        InputError: It is not such a text; the message names the first wrong place as a path like
            `results[0].samples[3].rate`.
    """
    value = saved_text.load(FORM, text)
    try:
        body: _Results = codec(_Results).load(value)
    except WrongValueError as error:
        raise InputError(f"not valid results of a benchmark: {error}") from error
    _check_rates(body.results)
    counts = Counter((result.subject, result.method) for result in body.results)
    if counts and counts.most_common(1)[0][1] > 1:
        subject = counts.most_common(1)[0][0][0]
        raise InputError(f"not valid results of a benchmark: {subject[:80]!r} appears twice")
    return body.results


def _check_rates(results: tuple[BenchResult, ...]) -> None:
    for place, result in enumerate(results):
        for number, sample in enumerate(result.samples):
            if sample.rate is not None and not 0 <= sample.rate <= FASTEST:
                where = f"results[{place}].samples[{number}].rate"
                raise InputError(f"not valid results of a benchmark: {where} cannot be a rate")
