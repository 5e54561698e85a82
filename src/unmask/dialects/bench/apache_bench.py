"""`ab`: requests a second, and bytes a second, of a web server.

Formats: httpd's support/ab.c, 1.3 to 2.4. "Kbytes" are 1024 bytes. Failures for length alone are
answers of another size than the first one, as dynamic pages have; everything else that failed, and
every answer that is not 2xx, was another kind of work than the one to be measured.
"""

from __future__ import annotations

import re

from unmask.dialects.bench import _screen
from unmask.dialects.bench._output import Output
from unmask.dialects.bench._quantity import NUMBER, decimal
from unmask.model.bench import PLAIN, Sample, Tool

REQUESTS = "requests"
TRANSFER = "transfer"
FAILING = 0.01
"""Share of requests that may fail."""

_BLOCK = re.compile(r"^Complete requests:", re.MULTILINE)
_RATE = re.compile(rf"^Requests per second: +(?P<rate>{NUMBER}|inf|nan|-nan)", re.MULTILINE)
_TRANSFER = re.compile(
    rf"^Transfer rate: +(?P<rate>{NUMBER}|inf|nan|-nan) (?:\[Kbytes/sec\]|kb/s)", re.MULTILINE
)
_SECONDS = re.compile(rf"^Time taken for tests: +(?P<seconds>{NUMBER}) seconds", re.MULTILINE)
_COUNTS = {
    name: re.compile(rf"^{words}: +(?P<count>\d{{1,12}})", re.MULTILINE)
    for name, words in (
        ("complete", "Complete requests"),
        ("failed", "Failed requests"),
        ("other", "Non-2xx responses"),
    )
}
_DOCUMENT = re.compile(r"^Document Length: +(?P<bytes>\d{1,12}) bytes", re.MULTILINE)
_TLS_FAILED = re.compile(r"SSL (?:read|handshake) failed \(\d")
_LENGTH = re.compile(r"\(Connect: \d+, (?:Receive: \d+, )?Length: (?P<count>\d{1,12}), Exc")
_PROTOCOL = re.compile(r"^SSL/TLS Protocol: +(?P<protocol>[^\n]{1,80})$", re.MULTILINE)
_ERROR = re.compile(
    r"^(?:apr_\w{2,40}(?:\(\))?: [^\n]{1,160}|SSL (?:read|handshake) failed[^\n]{0,120}"
    r"|ab: [^\n]{1,160}|Test aborted[^\n]{0,120})",
    re.MULTILINE,
)


def parse(
    text: str, setting: str = PLAIN, status: int | None = None, algorithm: str = REQUESTS
) -> tuple[Sample, ...]:
    """Return "requests" (a second) and "transfer" (bytes a second); never none at all.

    Args:
        text: Standard output and error output.
        setting: The setting of both samples.
        status: How it ended, see `_ending.by_status`.
        algorithm: What was asked for, where nothing was measured.
    """
    text = _screen.readable(text)
    output = Output(Tool.TLS, "ab", text, setting, status)
    rate, transfer = _RATE.search(text), _TRANSFER.search(text)
    if not rate or not _BLOCK.search(text):
        error = _ERROR.search(text)
        return (output.nothing(algorithm, error[0] if error else ""),)
    seconds = _SECONDS.search(text)
    wrong = _failing(text)
    found = [(REQUESTS, _number(rate["rate"]))]
    if transfer:
        found.append((TRANSFER, 1024 * _number(transfer["rate"])))
    return tuple(
        output.measured(
            name,
            value,
            seconds=decimal(seconds["seconds"]) if seconds else None,
            note=_note(text),
            wrong=wrong,
        )
        for name, value in found
    )


def _number(text: str) -> float:
    return decimal(text) if text[:1].isdigit() else float(text)


def _count(name: str, text: str) -> int:
    match = _COUNTS[name].search(text)
    return int(match["count"]) if match else 0


def _failing(text: str) -> str:
    """Return why the requests were not those that should be measured; "" where they were."""
    complete = _count("complete", text)
    length = _LENGTH.search(text)
    failed = _count("failed", text) - (int(length["count"]) if length else 0)
    if not complete:
        return "no request came to its end"
    counts = (
        (len(_TLS_FAILED.findall(text)), "failed in TLS"),
        (failed, "failed"),
        (_count("other", text), "were answered with errors"),
    )
    for count, words in counts:
        if count > FAILING * complete:
            return f"{count} of {complete} requests {words}"
    return ""


def _note(text: str) -> str:
    """Return what was asked for: two figures are of the same work only where this is the same."""
    document, protocol = _DOCUMENT.search(text), _PROTOCOL.search(text)
    parts = [f"answers of {document['bytes']} bytes"] if document else []
    return ", ".join([*parts, *([protocol["protocol"].strip()] if protocol else [])])
