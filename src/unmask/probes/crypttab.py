"""Volumes that are opened at boot: /etc/crypttab, without its key files."""

from __future__ import annotations

import re

from unmask.errors import InputError
from unmask.model.inside_storage import CrypttabEntry, VolumeKind
from unmask.probes._probe import Probe
from unmask.probes._section import Section
from unmask.probes._words import cipher, number

# The third field names the key's file, or holds a reference to it: it stays in the guest.
COMMAND = r"""
file=etc/crypttab
if [ -f "$file" ] && [ ! -r "$file" ]; then
    part '!/etc/crypttab'
elif [ -f "$file" ]; then
    part /etc/crypttab
    take 262144 <"$file" | awk '!/^[ \t]*#/ && NF > 1 { print $1, $2, "-", $4 }'
fi
"""

_SOURCE = re.compile(r"/|(?:PART)?(?:UUID|LABEL)=|ID=")
_ESCAPE = re.compile(r"\\x([0-9A-Fa-f]{2})|\\([0-3][0-7]{2})")
_OPTIONS = {
    "bitlk": VolumeKind.BITLOCKER,
    "tcrypt": VolumeKind.VERACRYPT,
    "tcrypt-veracrypt": VolumeKind.VERACRYPT,
    "veracrypt": VolumeKind.VERACRYPT,
    "plain": VolumeKind.PLAIN,
    "swap": VolumeKind.PLAIN,
    "tmp": VolumeKind.PLAIN,
    "luks": VolumeKind.LUKS,
    "fvault2": VolumeKind.FILEVAULT,
}
_NAMES = {
    "bitlk-": VolumeKind.BITLOCKER,
    "tcrypt-": VolumeKind.VERACRYPT,
    "luks-": VolumeKind.LUKS,
}
"""How udisks names what it opens."""


def parse(section: Section) -> tuple[CrypttabEntry, ...]:
    """Return the volumes; none where there is no such file.

    Raises:
        InputError: The user may not read it.
    """
    if "/etc/crypttab" in section.unreadable:
        raise InputError("the user may not read /etc/crypttab in the guest")
    return parse_text(section.text("/etc/crypttab"))


def parse_text(text: str) -> tuple[CrypttabEntry, ...]:
    """Return the volumes of a crypttab; a name that is repeated is one volume."""
    found: dict[str, CrypttabEntry] = {}
    for line in text.splitlines():
        fields = line.split()
        if len(fields) < 2 or not _SOURCE.match(fields[1]):
            continue
        entry = _entry(fields)
        known = found.get(entry.name)
        if known is None:
            found[entry.name] = entry
        elif entry.sources[0] not in known.sources:
            sources = (*known.sources, *entry.sources)
            found[entry.name] = CrypttabEntry(
                known.name, known.kind, sources, known.cipher, known.key_bits, known.automatic
            )
    return tuple(found.values())


def _entry(fields: list[str]) -> CrypttabEntry:
    options = fields[3].split(",") if len(fields) > 3 else []
    values = dict(option.partition("=")[::2] for option in options)
    name = _unescaped(fields[0])
    return CrypttabEntry(
        name=name,
        kind=_kind(name, options, values),
        sources=(_unescaped(fields[1]),),
        cipher=cipher(values.get("cipher", "")),
        key_bits=number(values.get("size", "")),
        automatic="noauto" not in options,
    )


def _kind(name: str, options: list[str], values: dict[str, str]) -> VolumeKind:
    for option in options:
        if option in _OPTIONS:
            return _OPTIONS[option]
    for prefix, kind in _NAMES.items():
        if name.startswith(prefix):
            return kind
    # systemd and cryptsetup take what is not said to be plain for LUKS.
    return VolumeKind.PLAIN if "cipher" in values else VolumeKind.LUKS


def _unescaped(text: str) -> str:
    r"""Resolve what udev and fstab write for spaces and slashes: "\x20", "\040"."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16) if match[1] else int(match[2], 8)), text)


PROBE = Probe("crypttab", COMMAND, parse, limit=256 * 1024)
