"""A guest's configuration file under /etc/pve, read with Proxmox's own rules.

Sources: parse_vm_config and check_type of PVE/QemuServer.pm (qemu-server 9.2.6). There are no
inline comments, only lines that begin with `#`, which are the percent-encoded description. A line
that does not validate is dropped, so that the last valid one of a key counts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from unmask.dialects.excerpt import excerpt
from unmask.dialects.proxmox import cpu_option
from unmask.dialects.proxmox.release import NEWEST
from unmask.errors import InputError

LIMIT = 512 * 1024
"""Bytes; no file in /etc/pve may be larger."""

PENDING = re.compile(r"\[PENDING\]\s*", re.ASCII | re.IGNORECASE)
SPECIAL = re.compile(r"\[special:(?P<name>\S+)\]\s*", re.ASCII | re.IGNORECASE)
SNAPSHOT = re.compile(r"\[(?P<name>[a-z][a-z0-9_-]+)\]\s*", re.ASCII | re.IGNORECASE)
SETTING = re.compile(r"(?P<key>[a-z][a-z_-]*[0-9]*):(?P<rest>.+)", re.ASCII)
RAW = ("description", "args", "delete")
BLANKS = " \t\n\r\f\v"
LOOSE_CPU = re.compile(r"\W*cpu\s*[:=\s]\s*(?P<value>.*)", re.IGNORECASE)
"""What an operator may have meant as a `cpu` line, where Proxmox sees none."""
COMMENT = re.compile(r"\s#", re.ASCII)

BOOLEAN = (
    "acpi", "allow-ksm", "autostart", "ciupgrade", "freeze", "keephugepages", "kvm", "localtime",
    "numa", "onboot", "protection", "reboot", "tablet", "tdf", "template",
)  # fmt: skip
INTEGER = (
    "balloon", "cores", "cpuunits", "migrate_speed", "shares", "smp", "snaptime", "sockets",
    "vcpus",
)  # fmt: skip
HOST_NAME = re.compile(
    r"([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]*[a-z0-9])?", re.ASCII | re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Dropped:
    """A line of the file that Proxmox drops."""

    line: int
    """From 1."""
    key: str
    """"cpu" also for a line that only looks like one; "" where the line has no key."""
    value: str
    reason: str
    """As Proxmox logs it."""


@dataclass(frozen=True, slots=True)
class Section:
    """The main part of the file, `[PENDING]`, or a snapshot."""

    values: Mapping[str, str] = field(default_factory=dict)
    """As Proxmox keeps them; booleans are "0" or "1", and `description` is decoded."""
    dropped: tuple[Dropped, ...] = ()
    deletes: tuple[str, ...] = ()
    """Keys that a pending `delete:` takes away."""
    commented: tuple[str, ...] = ()
    """Keys whose value has what looks like an inline comment, which Proxmox takes as value."""


@dataclass(frozen=True, slots=True)
class GuestConfig:
    """One configuration file."""

    main: Section
    pending: Section | None = None
    snapshots: Mapping[str, Section] = field(default_factory=dict)


@dataclass(slots=True)
class _Part:
    """A section in the making."""

    values: dict[str, str] = field(default_factory=dict)
    dropped: list[Dropped] = field(default_factory=list)
    deletes: tuple[str, ...] = ()
    commented: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """The lines of the description, decoded."""

    def finished(self) -> Section:
        """Return it as it is."""
        values = self.values
        if self.notes:
            values = {**values, "description": "\n".join(self.notes)}
        return Section(values, tuple(self.dropped), self.deletes, tuple(self.commented))


@dataclass(slots=True)
class _Reader:
    """Reads one file line by line."""

    models: Collection[str] | None
    version: str
    main: _Part = field(default_factory=_Part)
    pending: _Part | None = None
    snapshots: dict[str, _Part] = field(default_factory=dict)
    current: _Part | None = field(init=False)
    """Where lines go; None in a `[special:...]` section, which holds no options of the guest."""

    def __post_init__(self) -> None:
        self.current = self.main

    def line(self, number: int, line: str) -> None:
        """Take one line."""
        if not line.strip() or self.section(line):
            return
        part = self.current
        if part is None:
            return
        if line.startswith("#"):
            part.notes.append(unquote(line[1:], errors="replace"))
            return
        match = SETTING.fullmatch(line)
        if match is None:
            loose = LOOSE_CPU.match(line)
            key, value = ("cpu", loose["value"]) if loose else ("", line)
            part.dropped.append(Dropped(number, key, value.strip(), "unable to parse config"))
            return
        # Blanks alone are a value of one blank, which is what Proxmox's pattern leaves of them.
        value = match["rest"].strip(BLANKS)
        if value and match["key"] in RAW:
            self.raw(number, part, match["key"], value)
        else:
            self.setting(number, part, match["key"], value or match["rest"][-1])

    def section(self, line: str) -> bool:
        """Begin a section where `line` is the head of one."""
        if PENDING.fullmatch(line):
            self.pending = self.current = _Part()
        elif SPECIAL.fullmatch(line):
            self.current = None
        elif match := SNAPSHOT.fullmatch(line):
            self.current = self.snapshots[match["name"]] = _Part()
        else:
            return False
        return True

    def raw(self, number: int, part: _Part, key: str, value: str) -> None:
        """Take a value that Proxmox keeps as it stands."""
        if key == "args":
            part.values[key] = value
        elif key == "description":  # its form before Proxmox VE wrote comments instead
            part.notes = [unquote(value, errors="replace")]
        elif key == "delete" and part is self.pending:
            words = re.split(r"[,;\s]+", value)
            part.deletes += tuple(word.removeprefix("!") for word in words if word)
        elif key == "delete":
            said = "property 'delete' is only allowed in [PENDING]"
            part.dropped.append(Dropped(number, key, value, said))

    def setting(self, number: int, part: _Part, key: str, value: str) -> None:
        """Take a value if it validates."""
        try:
            part.values[key] = self.checked(key, value)
        except InputError as error:
            part.dropped.append(Dropped(number, key, value, str(error)))
            return
        if COMMENT.search(value) and key != "name":
            part.commented.append(key)

    def checked(self, key: str, value: str) -> str:
        """Return the value as Proxmox keeps it.

        Raises:
            InputError: Proxmox drops it; the text is the reason that it logs.
        """
        if key == "cpu":
            cpu_option.parse(value, self.models, self.version)
        elif key in BOOLEAN:
            if cpu_option.TRUE.fullmatch(value):
                return "1"
            if not cpu_option.FALSE.fullmatch(value):
                raise InputError(f"type check ('boolean') failed - got '{excerpt(value)}'")
            return "0"
        elif key in INTEGER and not re.fullmatch("[0-9]+", value):
            raise InputError(f"type check ('integer') failed - got '{excerpt(value)}'")
        elif key == "name" and not HOST_NAME.fullmatch(value):
            raise InputError("invalid format - value does not look like a valid DNS name")
        return value


def parse(text: str, models: Collection[str] | None = (), version: str = NEWEST) -> GuestConfig:
    """Return the configuration that Proxmox reads out of `text`.

    Args:
        text: The file. A byte order mark is a part of the first line, as it is for Proxmox.
        models: Names of the custom models that exist, without `custom-`; None where they are not
            known, which lets every name pass.
        version: Of Proxmox VE.

    Raises:
        InputError: The text is larger than /etc/pve allows, or binary.
    """
    if len(text) > LIMIT:
        raise InputError("the guest's configuration is larger than the 512 KiB that Proxmox allows")
    if "\0" in text:
        raise InputError("the guest's configuration is binary, not text")
    reader = _Reader(models, version)
    for number, line in enumerate(text.split("\n"), 1):
        reader.line(number, line)
    return GuestConfig(
        main=reader.main.finished(),
        pending=reader.pending.finished() if reader.pending else None,
        snapshots={name: part.finished() for name, part in reader.snapshots.items()},
    )


def without_comment(value: str) -> str:
    """Return `value` without what an operator meant as a comment: " # ..." to the end."""
    match = COMMENT.search(value)
    return value[: match.start()].rstrip(BLANKS) if match else value
