"""Headers of LUKS and BitLocker volumes, open or not: cryptsetup luksDump and bitlkDump."""

from __future__ import annotations

import re

from unmask.errors import InputError
from unmask.model.inside_storage import LuksHeader, VolumeKind
from unmask.probes._probe import Probe
from unmask.probes._section import Section
from unmask.probes._words import cipher, unique

# Salts and digests are no keys, but nobody needs them. Locks would be files in /run, and with them
# cryptsetup would mend a damaged header. Versions before 2.0 know no locks and mend nothing.
COMMAND = r"""
if ! has cryptsetup || ! has blkid; then
    exit 127
fi
part devices
locks=
if cryptsetup --help | grep -q -e --disable-locks; then
    locks=--disable-locks
fi
dump() {
    cryptsetup $locks "$1" "$2"
}
found=$(signatures)
devices() {
    printf '%s\n' "$found" | sed -n "s|^\(/[^: ]*\): .*TYPE=\"$1\".*|\1|p" | head -n "$2"
}
for device in $(devices crypto_LUKS 32); do
    part "luks $device"
    dump luksDump "$device" |
        grep -v -i -E '^[[:space:]]*(([0-9a-f]{2} )+|.*(salt|digest|material).*)$'
done
for device in $(devices BitLocker 8); do
    part "bitlocker $device"
    dump bitlkDump "$device" | grep -E '^(Version|Sector size|Cipher)'
done
"""

_FIELD = re.compile(r"([A-Za-z][A-Za-z ]{1,30}?):\s*(\S.*)$")


def parse(section: Section) -> tuple[LuksHeader, ...]:
    """Return the headers, by device.

    Raises:
        InputError: There is no cryptsetup (or blkid) in the guest.
    """
    if "devices" not in section:
        raise InputError("cryptsetup and blkid are not both installed in the guest")
    return tuple(
        parse_dump(section.text(part), part.partition(" ")[2])
        for part in (*section.below("luks "), *section.below("bitlocker "))
        if section.first(part)
    )


def parse_dump(text: str, device: str) -> LuksHeader:
    """Return what a dump of LUKS1, LUKS2 or BitLocker says of how the data is encrypted."""
    fields: dict[str, list[str]] = {}
    for line in text.splitlines():
        if match := _FIELD.match(line.strip()):
            fields.setdefault(match[1].lower(), []).append(match[2])
    mode = _first(fields, "cipher mode")
    name = _first(fields, "cipher name")
    whole = f"{name}-{mode}" if name and mode else name or _first(fields, "cipher")
    return LuksHeader(
        device=device,
        kind=_kind(text, fields),
        cipher=cipher(whole),
        key_bits=_count(_first(fields, "mk bits") or _first(fields, "cipher key")),
        sector_size=_count(_first(fields, "sector") or _first(fields, "sector size")),
        integrity=cipher(_first(fields, "integrity")),
        pbkdf=unique(cipher(item) for item in fields.get("pbkdf", [])),
    )


def _first(fields: dict[str, list[str]], name: str) -> str:
    return fields.get(name, [""])[0]


def _count(text: str) -> int | None:
    match = re.match(r"(\d{1,6})(?: |$)", text)
    return int(match[1]) if match else None


def _kind(text: str, fields: dict[str, list[str]]) -> VolumeKind:
    if "BITLK" in text[:200] or ("cipher key" in fields and "cipher name" in fields):
        return VolumeKind.BITLOCKER
    version = _first(fields, "version")
    kinds = {"1": VolumeKind.LUKS1, "2": VolumeKind.LUKS2}
    return kinds.get(version, VolumeKind.LUKS)


PROBE = Probe("luks_headers", COMMAND, parse, needs_root=True, seconds=8)
