"""Open dm-crypt mappings: dmsetup table (never its keys) and /sys."""

from __future__ import annotations

import re

from unmask.errors import InputError
from unmask.model.inside_storage import DmCrypt, VolumeKind
from unmask.probes._probe import Probe
from unmask.probes._section import Section
from unmask.probes._words import cipher, number

# dmsetup would load the device mapper; it is asked only where that is loaded. It shows zeros for a
# key unless told otherwise; awk makes sure of it. The key's length is needed.
COMMAND = r"""
part uuids
for directory in sys/block/dm-*/dm; do
    if read -r name <"$directory/name" && read -r uuid <"$directory/uuid"; then
        printf '%s\t%s\n' "$name" "$uuid"
    fi
done
part table
if has dmsetup && grep -q device-mapper proc/misc; then
    dmsetup table --target crypt | awk '{
        for (i = 1; i <= NF; i++)
            if (length($i) >= 16 && $i ~ /^[0-9A-Fa-f]+$/) gsub(/[^0]/, "0", $i)
        print
    }'
    part info
    dmsetup info -c --noheadings --separator ' ' -o uuid,name
fi
"""

_UUID = re.compile(r"CRYPT-([A-Z0-9]+)-")
_KINDS = {
    "LUKS1": VolumeKind.LUKS1,
    "LUKS2": VolumeKind.LUKS2,
    "PLAIN": VolumeKind.PLAIN,
    "BITLK": VolumeKind.BITLOCKER,
    "TCRYPT": VolumeKind.VERACRYPT,
    "FVAULT2": VolumeKind.FILEVAULT,
}
"""What cryptsetup writes into the UUID of a mapping (lib/utils_devpath.c and the formats')."""
_TABLE = re.compile(
    r"^(?:(?P<name>[^:]{1,200}): )?\d+ \d+ crypt (?P<cipher>\S+)(?: (?P<key>\S+))?(?P<rest>.*)$"
)
_KEYRING = re.compile(r":(\d{1,4}):(?:logon|user|encrypted|trusted):")
_SECTOR = re.compile(r"\bsector_size:(\d{3,6})\b")
_VERACRYPT = re.compile(r"(?:vera|true)crypt\d+(?:_\d+)?")


def parse(section: Section) -> tuple[DmCrypt, ...]:
    """Return the mappings, sorted by name; without root those that /sys names, without cipher."""
    uuids = dict(_pairs(section))
    found = {mapping.name: mapping for mapping in parse_table(section.text("table"), uuids)}
    for name, uuid in uuids.items():
        match = _UUID.match(uuid)
        if name not in found and match and match[1] in _KINDS:
            found[name] = DmCrypt(name, _KINDS[match[1]])
    if section.end.value == "done" and "uuids" not in section:
        raise InputError("neither /sys/block nor dmsetup tells of device mappings")
    return tuple(found[name] for name in sorted(found))


def _pairs(section: Section) -> list[tuple[str, str]]:
    """Return name and UUID of each mapping, from /sys or `dmsetup info -c -o uuid,name`."""
    pairs = [line.partition("\t") for line in section.lines("uuids")]
    named = [line.strip().partition(" ") for line in section.lines("info")]
    return [*((name, uuid) for name, _, uuid in pairs), *((name, uuid) for uuid, _, name in named)]


def parse_table(text: str, uuids: dict[str, str] | None = None) -> tuple[DmCrypt, ...]:
    """Return the crypt targets of `dmsetup table`, for one device or all, keys left out."""
    matches = (_TABLE.match(line.strip()) for line in text.splitlines())
    return tuple(_mapping(match, uuids or {}) for match in matches if match)


def _mapping(match: re.Match[str], uuids: dict[str, str]) -> DmCrypt:
    name, key = match["name"] or "", match["key"] or ""
    ring = _KEYRING.match(key)
    rest = match["rest"].split()
    # start of the ciphertext, device and offset follow the key and the start of the IV
    device = next((word for word in rest[:3] if re.fullmatch(r"\d+:\d+|/\S+", word)), "")
    sector = _SECTOR.search(match["rest"])
    return DmCrypt(
        name=name,
        kind=_kind(name, key, uuids),
        cipher=cipher(match["cipher"]),
        key_bits=_bits(key, ring),
        keyring=bool(ring),
        device=device,
        sector_size=number(sector[1]) if sector else None,
        authenticated="integrity:" in match["rest"],
    )


def _kind(name: str, key: str, uuids: dict[str, str]) -> VolumeKind:
    uuid = _UUID.match(uuids.get(name, ""))
    if uuid and uuid[1] in _KINDS:
        return _KINDS[uuid[1]]
    if ":logon:cryptsetup:" in key:
        return VolumeKind.LUKS2  # only LUKS2 names its keys like that (lib/luks2/luks2_keyslot.c)
    return VolumeKind.VERACRYPT if _VERACRYPT.fullmatch(name) else VolumeKind.UNKNOWN


def _bits(key: str, ring: re.Match[str] | None) -> int | None:
    if ring:
        return int(ring[1]) * 8
    return len(key) * 4 if re.fullmatch(r"[0-9A-Fa-f]{16,512}", key) else None


PROBE = Probe("dm_crypt", COMMAND, parse, needs_root="the ciphers of open mappings")
