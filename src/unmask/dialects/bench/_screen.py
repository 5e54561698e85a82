"""What was printed, bounded and without anything that a terminal obeys."""

from __future__ import annotations

import re

LIMIT = 256 * 1024
"""Characters of output that are looked at: its first and last half where there is more."""
RAW_LIMIT = 8000
"""Characters of output that a sample keeps; all of `openssl speed` is some 7,000."""

_SEQUENCE = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]{0,40}[ -/]{0,8}[@-~]?"  # colours, movements
    "|\x1b[\\]PX^_][^\x07\x1b\n]{0,400}(?:\x07|\x1b\\\\)?"  # titles, clipboards
    "|\x1b[ -/]{0,8}[0-~]?"
)
_BREAK = re.compile("\r\n?|[\v\f\x85\u2028\u2029]")
_BLANK = re.compile("[\t\u00a0\u2007\u202f]")
_UNSAFE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ue000-\uf8ff\ufeff\ufff0-\uffff\U000e0000-\U0010ffff]"
)
_QUOTES = re.compile("[\u2018\u2019\u02bc`\u00b4]")


def readable(text: str) -> str:
    """Return `text` with line feeds as its only control characters, of at most about `LIMIT`.

    Carriage returns become line feeds, since progress is printed with them; typographic quotes,
    which web pages make of the tools' own, become plain ones.
    """
    if len(text) > LIMIT:
        text = f"{text[: LIMIT // 2]}\n{text[-LIMIT // 2 :]}"
    if text.isascii() and text.replace("\n", "").isprintable():
        return _QUOTES.sub("'", text)
    text = _BREAK.sub("\n", _SEQUENCE.sub("", text))
    return _QUOTES.sub("'", _UNSAFE.sub("?", _BLANK.sub(" ", text)))


def quoted(text: str, limit: int = RAW_LIMIT) -> str:
    """Return readable text for `Sample.raw`: its beginning and its end where it is long."""
    text = text.strip("\n")
    if len(text) <= limit:
        return text
    cut = "\n[...]\n"
    half = (limit - len(cut)) // 2
    return text[:half] + cut + text[-half:]


def sentence(text: str, limit: int = 160) -> str:
    """Return the first line of readable text that is not blank, for a note."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= limit else line[: limit - 3].rstrip() + "..."
