"""`iperf3`: what a link carries, from its JSON and its text.

The receiver's rate counts, since the sender's includes what was still on its way. "link" is what
the client sent, "link-reverse" what it received (-R, --bidir). Rates are bytes a second; iperf3
prints bits, in powers of 1000, and with -f K, M, G bytes, in powers of 1024.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from unmask.dialects.bench import _screen
from unmask.dialects.bench._document import below, document, figure
from unmask.dialects.bench._output import Output
from unmask.dialects.bench._quantity import NUMBER, scaled
from unmask.model.bench import PLAIN, Sample, Tool

LINK = "link"
REVERSE = "link-reverse"
SENT_ONLY = "the sender's figure: the receiver's is missing"

_LINE = re.compile(
    r"^\[ ?(?P<stream>SUM|[ \d]{1,4})\](?:\[(?P<role>[TR]X)-[CS]\])? +"
    rf"(?P<from>{NUMBER})- ?(?P<to>{NUMBER}) +sec +{NUMBER} [KMGT]?Bytes +"
    rf"(?P<rate>{NUMBER} [KMGT]?)(?P<unit>bits|Bytes)/sec[^\n]{{0,120}}?"
    r"(?P<side>sender|receiver)[ ]*$",
    re.MULTILINE,
)
_REVERSE = re.compile(r"^Reverse mode, remote host", re.MULTILINE)
_ERROR = re.compile(r"^iperf3: (?P<words>error - [^\n]{1,200}|interrupt[^\n]{1,120})", re.MULTILINE)


def parse(
    text: str, setting: str = PLAIN, status: int | None = None, algorithm: str = LINK
) -> tuple[Sample, ...]:
    """Return a sample for each direction; never none at all.

    Args:
        text: The client's output; JSON (-J) is taken where there is some.
        setting: The setting of every sample.
        status: How it ended, see `_ending.by_status`.
        algorithm: What was asked for, where nothing was measured.
    """
    text = _screen.readable(text)
    output = Output(Tool.NETWORK, "iperf3", text, setting, status)
    root = document(text)
    found = list(_from_json(root)) if root is not None else list(_from_text(text))
    if not found:
        return (output.nothing(algorithm, _complaint(root, text)),)
    return tuple(
        output.measured(way, rate, seconds=seconds or None, note=note)
        for way, rate, seconds, note in found
    )


def _complaint(root: object, text: str) -> str:
    """Return iperf3's own words of what went wrong; "" for none."""
    words = below(root, "error")
    if isinstance(words, str):
        return words
    match = _ERROR.search(text)
    return match["words"] if match else ""


def _from_json(root: object) -> Iterator[tuple[str, float, float, str]]:
    """Yield way, bytes a second, seconds and remark of each direction of a finished test."""
    if isinstance(below(root, "error"), str):
        return
    reverse = bool(below(root, "start", "test_start", "reverse"))
    ways = ((REVERSE if reverse else LINK, ""), (REVERSE, "_bidir_reverse"))
    for way, suffix in ways:
        for name, note in (("sum_received", ""), ("sum", ""), ("sum_sent", SENT_ONLY)):
            total = below(root, "end", name + suffix)
            rate = figure(below(total, "bits_per_second"))
            if rate is not None:
                yield way, rate / 8, figure(below(total, "seconds")) or 0.0, note
                break


def _from_text(text: str) -> Iterator[tuple[str, float, float, str]]:
    """Yield the same from the lines at the end, of all streams together where there are several."""
    reverse = bool(_REVERSE.search(text))
    best: dict[str, tuple[int, re.Match[str]]] = {}
    for match in _LINE.finditer(text):
        way = REVERSE if match["role"] == "RX" or (reverse and not match["role"]) else LINK
        weight = 2 * (match["stream"] == "SUM") + (match["side"] == "receiver")
        if weight >= best.get(way, (0, None))[0]:
            best[way] = weight, match
    for way, (weight, match) in best.items():
        per_second = scaled(match["rate"], binary=match["unit"] == "Bytes")
        seconds = float(match["to"].replace(",", ".")) - float(match["from"].replace(",", "."))
        rate = per_second / 8 if match["unit"] == "bits" else per_second
        yield way, rate, max(seconds, 0.0), "" if weight % 2 else SENT_ONLY
