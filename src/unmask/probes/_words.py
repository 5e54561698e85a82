"""Words, numbers and lists out of a guest's text."""

from __future__ import annotations

import re
from collections.abc import Iterable

from unmask.probes._section import Section

_NUMBER = re.compile(r"[0-9]{1,18}")
_CIPHER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:,()@+-]{0,79}")
_KEY = re.compile(r"[0-9A-Fa-f]{32,}|[A-Za-z0-9+/]{43}=")
_SETTING = re.compile(r"^\s*([A-Za-z0-9_.-]{1,60})(?:\s*[ \t=:]\s*(.*))?$")


def number(text: str) -> int | None:
    """Return the decimal number that `text` is; None for anything else."""
    text = text.strip()
    return int(text) if _NUMBER.fullmatch(text) else None


def cipher(text: str) -> str:
    """Return the name of an algorithm; "" for what cannot be one, above all a key."""
    text = text.strip()
    return text if _CIPHER.fullmatch(text) and not _KEY.search(text) else ""


def ciphers(text: str) -> tuple[str, ...]:
    """Return the algorithms of a list that is separated by commas, colons or spaces."""
    names = (cipher(word) for word in re.split(r"[,:\s]+", text[:4000]))
    return tuple(dict.fromkeys(name for name in names if name))


def hidden(text: str) -> str:
    """Return `text` with "(hidden)" for each word that looks like a key."""
    return _KEY.sub("(hidden)", text)


def setting(line: str) -> tuple[str, str]:
    """Return the lower-cased name and the value of a line of a configuration; ("", "") for none."""
    match = _SETTING.match(line[:2000])
    if not match:
        return "", ""
    return match[1].lower(), (match[2] or "").strip().removesuffix(";").strip().strip("\"'")


def switch(text: str) -> bool | None:
    """Return what a word that turns something on or off means; None for any other."""
    word = text.strip().strip("\"'").lower()
    if word in ("on", "yes", "true", "1", "enabled", "required"):
        return True
    return False if word in ("off", "no", "false", "0", "disabled") else None


def versions(section: Section, part: str = "packages") -> dict[str, str]:
    """Return the versions that `packages` printed, by name of the package."""
    pairs = (line.split() for line in section.lines(part))
    return {pair[0]: pair[1][:60] for pair in pairs if len(pair) == 2}


def unique(items: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct texts that are not empty, sorted."""
    return tuple(sorted({item for item in items if item}))
