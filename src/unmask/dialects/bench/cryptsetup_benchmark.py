"""`cryptsetup benchmark`: the kernel's ciphers, each in both directions.

A row gives two samples: "aes-xts-512-encrypt" and "aes-xts-512-decrypt" (cipher and mode as the
table names them, the key's bits, the direction). XTS halves its key: 512 is AES-256. The PBKDF and
Argon2 lines measure no bulk cipher and give none. Formats: cryptsetup 1.6 to 2.7, src/cryptsetup.c,
action_benchmark. Rates have the language's decimal comma; the headings are translated, so rows are
known by their own form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from unmask.dialects.bench import _screen
from unmask.dialects.bench._output import SAMPLES, Output
from unmask.dialects.bench._quantity import NUMBER, scaled
from unmask.model.bench import PLAIN, Ended, Sample, Tool

DIRECTIONS = ("encrypt", "decrypt")
NOT_AVAILABLE = "the kernel does not offer this cipher (N/A)"

_ROW = re.compile(
    r"^[ ]*(?P<cipher>[a-z0-9_]{2,20}(?:,[a-z0-9_]{2,20})?-[a-z0-9_]{2,20})"
    r"[ ]+(?P<bits>\d{2,4}) ?b(?P<rates>(?:[ ][^\n]{0,120})?)$",
    re.MULTILINE,
)
_RATE = re.compile(rf"(?<![\d.,])({NUMBER})[ ]?([KMGT]i?)B/s", re.IGNORECASE)
_UNKNOWN = re.compile(r"Cipher (?P<cipher>[\w,:()-]{2,60}) \(with (?P<bits>\d{2,4}) bits key\) is")
_NO_INTERFACE = re.compile(r"kernel crypto interface not available|algif_skcipher")
_UNRELIABLE = re.compile(r"[Rr]esult of benchmark is not reliable")
_COMPLAINT = re.compile(
    r"^.{0,60}(?:Unknown action|No known cipher specification|Benchmark interrupted"
    r"|Unknown argument|[Pp]ermission denied|Missing argument).{0,80}$",
    re.MULTILINE,
)
_OWN = re.compile(r"^# |^PBKDF2-|^argon2id? ", re.MULTILINE)
_FRAMED = re.compile(r"^<(?:LAVA_SIGNAL_)?TEST_?CASE", re.MULTILINE)


def parse(
    text: str, setting: str = PLAIN, status: int | None = None, algorithm: str = ""
) -> tuple[Sample, ...]:
    """Return a sample for each cipher, key size and direction of the table; never none at all.

    "N/A" gives a sample that is UNSUPPORTED, a row that is cut off an INVALID one.

    Args:
        text: Standard output and error output, in either order.
        setting: The setting of every sample.
        status: How it ended, see `_ending.by_status`.
        algorithm: What was asked for ("aes-xts-512"), for runs that fail before they name it.
    """
    text = _screen.readable(text)
    output = Output(Tool.CRYPTSETUP, "cryptsetup benchmark", text, setting, status)
    samples = (sample for match in _ROW.finditer(text) for sample in _row(match, output))
    return tuple(islice(samples, SAMPLES)) or tuple(_none(output, algorithm))


def _row(match: re.Match[str], output: Output) -> Iterator[Sample]:
    """Yield the two samples of a row."""
    name = f"{match['cipher']}-{match['bits']}"
    rates = [scaled(rate[1] + rate[2]) for rate in _RATE.finditer(match["rates"])]
    missing = match["rates"].strip() and not re.search(r"\d", match["rates"])
    for index, direction in enumerate(DIRECTIONS):
        algorithm = f"{name}-{direction}"
        if index < len(rates):
            yield output.measured(algorithm, rates[index])
            continue
        ended, note = Ended.INVALID, "its row is cut off"
        if missing:
            ended, note = Ended.UNSUPPORTED, NOT_AVAILABLE
        yield output.unmeasured(algorithm, ended, note)


def _none(output: Output, algorithm: str) -> Iterator[Sample]:
    """Yield the samples of output without a row."""
    unknown = _UNKNOWN.search(output.text)
    if unknown:
        algorithm = f"{unknown['cipher'].lower()}-{unknown['bits']}"
    refusal = _refusal(output.text, unknown=bool(unknown))
    complaint = _COMPLAINT.search(output.text)
    words = complaint[0] if complaint else ""
    if not words and _OWN.search(output.text):
        words = "its table has no row"
    for name in [f"{algorithm}-{direction}" for direction in DIRECTIONS] if algorithm else [""]:
        yield output.unmeasured(name, *refusal) if refusal else output.nothing(name, words)


def _refusal(text: str, *, unknown: bool) -> tuple[Ended, str] | None:
    """Return what the program says that it cannot do; None where it says nothing of the kind."""
    if _UNRELIABLE.search(text):
        return Ended.INVALID, "cryptsetup itself says that its result is not reliable"
    if _NO_INTERFACE.search(text):
        note = "the kernel offers programs no ciphers (AF_ALG, module algif_skcipher)"
        return Ended.UNSUPPORTED, note
    if unknown:
        return Ended.UNSUPPORTED, NOT_AVAILABLE
    if _FRAMED.search(text):
        note = "these are a test framework's lines, not the output of `cryptsetup benchmark`"
        return Ended.INVALID, note
    return None
