"""What a simulated guest answers to the program that looks into it.

The program does not run: its mark and the sections that it asks for are found in its text, and each
section is answered from a table that says what such a guest prints. What follows from the CPU that
the guest sees is made from that CPU, so that another model gives other answers after a restart.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unmask.dialects import cpuinfo
from unmask.errors import InputError
from unmask.lab import cpuid
from unmask.model.cpu import HostCpu
from unmask.probes import _script

SHELL = tuple(_script.COMMAND.split())
POWERSHELL = "powershell.exe"
MARK = re.compile(r"^(?:UNMASK_MARK=|\$mark = ')(?P<mark>[A-Za-z0-9]{16,})'?$", re.MULTILINE)
ASKED = re.compile(r"^(?: {4}section |section ')(?P<name>[a-z_]+)'? \d+ ", re.MULTILINE)

CONTENT = ""
"""Stands in a section for what is printed before its first part."""
STATUS = "="
"""Stands in a section for the exit status of its command."""
MADE = "$"
"""Begins the name of a text that is made from the CPU."""


@dataclass(frozen=True, slots=True)
class Inside:
    """What one guest prints, by the name of the section."""

    sections: Mapping[str, Any]
    """Parts of each section with their text. A text is a string, a list of lines, or depends on
    the CPU: {"if": "aes avx", "then": text, "else": text}, which a whole section may do as well."""
    system: str = "posix"
    """"posix" or "windows": whose program it answers."""
    user: int = 0

    def answers(self, argv: Sequence[str], typed: bytes) -> str | None:
        """Return the program that a command line is; None where it is none for this guest."""
        if self.system == "windows":
            return _encoded(argv) if argv[0] == POWERSHELL else None
        return typed.decode("latin-1") if tuple(argv) == SHELL else None

    def told(self, program: str, cpu_text: str) -> bytes:
        """Return what the program prints in a guest with this /proc/cpuinfo."""
        mark = MARK.search(program)
        if mark is None:
            return b""
        makers = _makers(cpu_text)
        flags = _parsed(cpu_text).flags
        pieces = [_line(mark["mark"], "user"), f"{self.user}\n"]
        for asked in ASKED.finditer(program):
            section = _chosen(self.sections.get(asked["name"], {}), flags)
            pieces.append(_line(mark["mark"], asked["name"]))
            for part, value in section.items():
                if part != STATUS:
                    pieces += [_line(mark["mark"], f".{part}")] if part != CONTENT else []
                    pieces.append("".join(_texts(value, flags, makers)))
            pieces.append(_line(mark["mark"], f"= {section.get(STATUS, 0)}"))
        return "".join([*pieces, _line(mark["mark"], "end")]).encode()


def parse(table: Mapping[str, Any], profiles: Mapping[str, Mapping[str, Any]]) -> Inside:
    """Return what a table of the lab's data describes.

    Args:
        table: With `sections`; `like` names the profile that has all that they lack.
        profiles: Tables by name.
    """
    base = profiles.get(table.get("like", ""), {})
    merged = {**base, **table}
    return Inside(
        sections={**base.get("sections", {}), **table.get("sections", {})},
        system=merged.get("system", "posix"),
        user=int(merged.get("user", 0)),
    )


def _line(mark: str, text: str) -> str:
    return f"\n{mark} {text}\n"


def _encoded(argv: Sequence[str]) -> str | None:
    try:
        return base64.b64decode(argv[-1], validate=True).decode("utf-16-le")
    except (binascii.Error, UnicodeDecodeError):
        return None


def _chosen(value: Any, flags: Collection[str]) -> Any:
    """Return what a value is for a CPU with these flags."""
    while isinstance(value, Mapping) and "if" in value:
        fits = set(value["if"].split()) <= set(flags)
        value = value.get("then" if fits else "else", {})
    return value


def _texts(
    value: Any, flags: Collection[str], makers: Mapping[str, Callable[[], str]]
) -> Iterator[str]:
    value = _chosen(value, flags)
    if isinstance(value, list):
        for line in value:
            for text in _texts(line, flags, makers):
                yield text if text.endswith("\n") else f"{text}\n"
    elif isinstance(value, str) and value.startswith(MADE):
        yield makers[value]()
    elif isinstance(value, str):
        yield value


def _parsed(text: str) -> HostCpu:
    try:
        return cpuinfo.parse(text, "x86_64")
    except InputError:
        return HostCpu("x86_64", frozenset(), complete=False)


def _makers(text: str) -> Mapping[str, Callable[[], str]]:
    """Return what is made from the CPU, by the name that stands for it in a table."""
    cpu = _parsed(text)
    family = f"Family {cpu.family or 0} Model {cpu.model or 0} Stepping {cpu.stepping or 0}"
    intel = cpu.vendor == "GenuineIntel"
    return {
        "$cpuinfo": lambda: text.partition("\n\n")[0] + "\n",
        "$freebsd": lambda: cpuid.freebsd(cpu.model_name, cpu.vendor, cpu.flags),
        "$capabilities": lambda: cpuid.capabilities(cpu.flags),
        "$windows": lambda: (
            json.dumps(
                {
                    "name": cpu.model_name,
                    "vendor": cpu.vendor,
                    "identifier": f"{'Intel64' if intel else 'AMD64'} {family}",
                    "told": False,
                    "flags": [],
                }
            )
            + "\n"
        ),
    }
