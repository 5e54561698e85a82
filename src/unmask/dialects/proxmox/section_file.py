"""Files of sections, as /etc/pve has them for most things but guests (PVE/SectionConfig.pm).

A section begins with `TYPE: NAME`; its keys follow in lines that begin with a blank, each with its
value behind it, or alone where it is a switch.
"""

from __future__ import annotations

from collections.abc import Mapping


def parse(text: str) -> Mapping[str, Mapping[str, str]]:
    """Return the keys of every section by "TYPE: NAME", in the file's order."""
    found: dict[str, dict[str, str]] = {}
    current: dict[str, str] = {}
    for line in text.splitlines():
        if line[:1].isspace():
            key, _, value = line.strip().partition(" ")
            current[key] = value.strip()
        elif line.strip() and not line.startswith("#"):
            current = found.setdefault(line.strip(), {})
    return found
