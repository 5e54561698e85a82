"""The cluster's own CPU models: /etc/pve/virtual-guest/cpu-models.conf.

A section starts with `cpu-model: NAME` and holds indented `key value` lines up to an empty line.
Sources: PVE/SectionConfig.pm (parse_config) and PVE/QemuServer/CPUConfig.pm of qemu-server 9.2.6.
An attribute that does not validate is dropped, the model stays.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from unmask.dialects.excerpt import excerpt
from unmask.dialects.proxmox.cpu_option import CUSTOM, FALSE, CpuOption, build, fault
from unmask.dialects.proxmox.release import NEWEST
from unmask.errors import InputError

LIMIT = 512 * 1024
"""Characters; no file in /etc/pve may be larger."""

REPORTED_MODEL = "kvm64"
"""The QEMU model of a custom one that does not name another."""

HEADER = re.compile(r"(?P<type>\S+):\s*(?P<name>\S+)\s*", re.ASCII)
HEADER_LIMIT = 1000
"""Characters; the name of a model is short."""

ATTRIBUTE = re.compile(r"(?P<key>\S+)(\s+(?P<value>.+))?", re.ASCII)
BLANKS = " \t\r\f\v"


@dataclass(frozen=True, slots=True)
class CustomModels:
    """The models of one file."""

    models: Mapping[str, CpuOption] = field(default_factory=dict)
    """By name without `custom-`; `reported_model` is always set."""
    faults: tuple[tuple[str, str], ...] = ()
    """What Proxmox drops of the file: a model's name ("" outside of any) and a sentence."""


@dataclass(slots=True)
class _Reader:
    """Reads one file line by line."""

    version: str
    models: dict[str, CpuOption] = field(default_factory=dict)
    faults: list[tuple[str, str]] = field(default_factory=list)
    name: str = ""
    skipping: bool = False
    properties: dict[str, str] = field(default_factory=dict)

    def line(self, number: int, line: str) -> None:
        """Take one line."""
        if re.match(r"\s*#", line):
            return
        if not line:
            self.finish()
        elif self.name:
            self.attribute(number, line)
        elif not self.skipping:
            self.header(number, line)

    def header(self, number: int, line: str) -> None:
        match = HEADER.fullmatch(line[:HEADER_LIMIT])
        if match and match["type"] == "cpu-model":
            self.name = match["name"]
            self.properties = {"cputype": CUSTOM + match["name"]}
        elif match:
            self.skipping = True
            self.fault(number, f"there are no sections of type {excerpt(match['type'], 40)!r}")
        elif line.strip():
            self.fault(number, f"{excerpt(line.strip())!r} is outside of any section")

    def attribute(self, number: int, line: str) -> None:
        match = ATTRIBUTE.fullmatch(line.strip(BLANKS))
        if match is None:
            return
        if line[0] not in BLANKS:
            what = "is not an attribute; sections end with an empty line"
            self.fault(number, f"{excerpt(line.strip())!r} {what}")
            return
        key, value = match["key"], match["value"] or ""
        said = "duplicate attribute" if key in self.properties else fault(key, value, self.version)
        if said:
            self.fault(number, f"{excerpt(key, 40)} of model {excerpt(self.name, 40)!r}: {said}")
        else:
            self.properties[key] = value

    def finish(self) -> None:
        """End the section."""
        if self.name:
            # Proxmox copies true values only: `hidden 0` is the same as no `hidden`.
            given = {
                key: value
                for key, value in self.properties.items()
                if not (key == "hidden" and FALSE.fullmatch(value))
            }
            self.models[self.name] = build({"reported-model": REPORTED_MODEL} | given)
        self.name, self.skipping = "", False

    def fault(self, number: int, what: str) -> None:
        said = f"Proxmox drops line {number} of cpu-models.conf: {excerpt(what, 200)}."
        self.faults.append((self.name, said))


def parse(text: str, version: str = NEWEST) -> CustomModels:
    """Return the custom models that `text` defines.

    Raises:
        InputError: The text is too large or not text at all.
    """
    if len(text) > LIMIT or "\0" in text:
        raise InputError("cpu-models.conf is too large or binary: Proxmox allows 512 KiB of text")
    reader = _Reader(version)
    for number, line in enumerate(text.split("\n"), 1):
        reader.line(number, line)
    reader.finish()
    return CustomModels(reader.models, tuple(reader.faults))
