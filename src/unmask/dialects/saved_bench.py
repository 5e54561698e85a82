"""Benchmark results as text: the JSON of `unmask bench --save`, which `--compare` reads.

`load(dump(results)) == results`, and equal results give equal text (`unmask.dialects.records` says
how values are written). What each program has printed is in it.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

from unmask.dialects.records import WrongValueError, codec
from unmask.errors import InputError
from unmask.model.bench import BenchResult

SCHEMA = "unmask.bench-results"
VERSION = 1
FASTEST = 1e15
"""Bytes a second that nothing does."""
LIMIT = 64 * 1024 * 1024
"""Characters of text that are looked at: some hundreds of machines."""


@dataclass(frozen=True, slots=True)
class _Results:
    results: tuple[BenchResult, ...]


def dump(results: tuple[BenchResult, ...]) -> str:
    """Return the results as ASCII JSON text that ends with a line break."""
    body = codec(_Results).dump(_Results(results))
    return json.dumps({"schema": f"{SCHEMA}/{VERSION}", **body}, indent=1) + "\n"


def load(text: str) -> tuple[BenchResult, ...]:
    """Return the results that `dump` wrote.

    Raises:
        InputError: It is not such a text; the message names the first wrong place as a path like
            `results[0].samples[3].rate`.
    """
    value = _parsed(text)
    schema = value.pop("schema", None)
    name, _, version = schema.partition("/") if isinstance(schema, str) else ("", "", "")
    if name != SCHEMA:
        raise InputError(f'not saved by unmask bench: "schema" is not "{SCHEMA}/{VERSION}"')
    if version != str(VERSION):
        raise InputError(
            f"these results have version {version[:20]!r} and this unmask reads version {VERSION}: "
            "use the unmask that wrote them, or a newer one"
        )
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


def _parsed(text: str) -> dict[str, Any]:
    if len(text) > LIMIT:
        raise InputError(f"results of a benchmark of more than {LIMIT} characters are not read")
    try:
        value = json.loads(text, object_pairs_hook=_unique_keys)
    except RecursionError as error:
        raise InputError("not saved by unmask bench: the JSON is nested too deeply") from error
    except ValueError as error:
        raise InputError(f"not saved by unmask bench: {error}") from error
    if not isinstance(value, dict):
        raise InputError("not saved by unmask bench: the JSON is not an object")
    return value


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key {twice[:80]!r} appears twice in one object")
    return value
