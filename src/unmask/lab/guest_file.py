"""A guest's configuration file as Proxmox rewrites it, so that digests are the real ones.

Sources: parse_vm_config and write_vm_config of PVE/QemuServer.pm, encode_text of PVE/Tools.pm. The
digest is the SHA-1 of the whole text.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from unmask.dialects.proxmox import conf
from unmask.lab.answer import Json

PLAIN = "".join(chr(code) for code in range(0x20, 0x7F) if chr(code) != ":" and chr(code) != "%")
"""Characters that a description keeps; the others are percent-encoded."""

NOT_WRITTEN = ("description", "digest")
NUMBERS = frozenset(conf.BOOLEAN + conf.INTEGER)

Values = dict[str, str]


@dataclass(slots=True)
class GuestFile:
    """The parts of one file; `description` is a value like the others."""

    main: Values = field(default_factory=dict)
    pending: Values = field(default_factory=dict)
    """`delete` holds the keys that go, comma separated, `!` before those that are forced."""
    snapshots: dict[str, Values] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    """What Proxmox logs about `cpu` lines that it drops."""

    def deletes(self) -> dict[str, bool]:
        """Return the keys that are to go, and whether by force."""
        words = re.split(r"[,;\s]+", self.pending.get("delete", ""))
        return {word.removeprefix("!"): word.startswith("!") for word in words if word}

    def set_deletes(self, deletes: Mapping[str, bool]) -> None:
        """Write the keys that are to go."""
        self.pending.pop("delete", None)
        if deletes:
            words = (f"!{key}" if deletes[key] else key for key in sorted(deletes))
            self.pending["delete"] = ",".join(words)

    def upcoming(self) -> Values:
        """Return what the next start will use."""
        found = {key: value for key, value in self.main.items() if key not in self.deletes()}
        return found | {key: value for key, value in self.pending.items() if key != "delete"}

    def text(self) -> str:
        """Return the file as Proxmox writes it."""
        parts = [_written(self.main)]
        if self.pending:
            parts.append("\n[PENDING]\n" + _written(self.pending, pending=True))
        for name in sorted(self.snapshots):
            parts.append(f"\n[{name}]\n" + _written(self.snapshots[name]))  # noqa: PERF401
        return "".join(parts)


def digest(text: str) -> str:
    """Return the digest of a file of /etc/pve."""
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def read(text: str, models: Collection[str], version: str) -> GuestFile:
    """Return what Proxmox makes of a file; values that do not validate are gone."""
    parsed = conf.parse(text, models, version)
    loose = _loose(text)
    pending: Values = {}
    if parsed.pending:
        pending = dict(parsed.pending.values) | loose.get("[PENDING]", {})
    lost = [line for line in parsed.main.dropped if line.key == "cpu"]
    return GuestFile(
        main=dict(parsed.main.values) | loose.get("", {}),
        pending=pending,
        snapshots={
            name: dict(part.values) | loose.get(name, {}) for name, part in parsed.snapshots.items()
        },
        dropped=tuple(f"unable to parse value of 'cpu' - {line.reason}" for line in lost),
    )


def _loose(text: str) -> dict[str, Values]:
    """Return descriptions and pending deletes, which are no settings, by section."""
    found: dict[str, Values] = {}
    section = ""
    for line in text.split("\n"):
        if conf.PENDING.fullmatch(line):
            section = "[PENDING]"
        elif match := conf.SNAPSHOT.fullmatch(line):
            section = match["name"]
        elif line.startswith("#"):
            part = found.setdefault(section, {})
            part["description"] = part.get("description", "") + unquote(line[1:]) + "\n"
        elif section == "[PENDING]" and line.startswith("delete:"):
            found.setdefault(section, {})["delete"] = line.partition(":")[2].strip()
    for part in found.values():
        if "description" in part:
            part["description"] = part["description"].rstrip()
    return found


def _written(values: Values, *, pending: bool = False) -> str:
    lines = []
    description = values.get("description")
    if description:
        lines += [f"#{quote(line, safe=PLAIN)}\n" for line in description.split("\n")]
    elif description is not None and pending:
        lines.append("#\n")
    lines += [f"{key}: {values[key]}\n" for key in sorted(values) if key not in NOT_WRITTEN]
    return "".join(lines)


def typed(key: str, value: str, *, old_memory: bool = False) -> Json:
    """Return a value as the API has it: a number where the schema says so, else a string.

    Args:
        key: The option's name.
        value: As the file has it.
        old_memory: `memory` is an integer (7.x).
    """
    number = key in NUMBERS or (old_memory and key == "memory")
    return int(value) if number and re.fullmatch(r"-?[0-9]+", value) else value
