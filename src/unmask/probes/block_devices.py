"""Block devices and how they are stacked: lsblk, with and without JSON."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from unmask.errors import InputError
from unmask.model.inside_storage import BlockDevice
from unmask.probes._probe import Probe
from unmask.probes._section import Section

COMMAND = """\
has lsblk || exit 127
part json
lsblk -J -o NAME,TYPE,FSTYPE,SIZE,MOUNTPOINTS || lsblk -J -o NAME,TYPE,FSTYPE,SIZE,MOUNTPOINT || {
    part tree
    lsblk
}
"""

DEPTH = 24
COUNT = 4000

_ROW = re.compile(r"^(?P<tree>[\s|`├└│─-]*)(?P<rest>\S.*)$")
_WORDS = re.compile(r"\S+")
_NUMBER = re.compile(r"\d+:\d+")
_MOUNT = re.compile(r"(?:/|\[SWAP\])")
_TYPES = frozenset({"disk", "part", "crypt", "lvm", "loop", "rom", "mpath", "md", "dm", "zram"})


def parse(section: Section) -> tuple[BlockDevice, ...]:
    """Return the devices, parents first.

    Raises:
        InputError: There is no lsblk in the guest, or it printed something else.
    """
    if section.first("json"):
        return parse_json(section.text("json"))
    if section.first("tree"):
        return parse_tree(section.text("tree"))
    raise InputError("lsblk is not installed in the guest, or it printed nothing")


def parse_json(text: str) -> tuple[BlockDevice, ...]:
    """Return the devices of `lsblk -J` with any columns.

    Raises:
        InputError: It is not JSON of that form.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError("lsblk printed no valid JSON, or it was cut off") from error
    top = value.get("blockdevices") if isinstance(value, dict) else None
    if not isinstance(top, list):
        raise InputError("lsblk's JSON has no blockdevices")
    devices: list[BlockDevice] = []
    waiting: list[tuple[Any, int | None, int]] = [(entry, None, 0) for entry in reversed(top)]
    while waiting and len(devices) < COUNT:
        entry, parent, depth = waiting.pop()
        if not isinstance(entry, dict):
            continue
        devices.append(_device(entry, parent))
        children = entry.get("children")
        if isinstance(children, list) and depth < DEPTH:
            index = len(devices) - 1
            waiting.extend((child, index, depth + 1) for child in reversed(children))
    return tuple(devices)


def _device(entry: dict[str, Any], parent: int | None) -> BlockDevice:
    mounts = entry.get("mountpoints")
    listed = mounts if isinstance(mounts, list) else [entry.get("mountpoint")]
    return BlockDevice(
        name=_word(entry.get("name")),
        kind=_word(entry.get("type")),
        filesystem=_word(entry.get("fstype")),
        mountpoints=tuple(dict.fromkeys(item for item in listed if item and isinstance(item, str))),
        parent=parent,
        size=_word(entry.get("size")),
    )


def _word(value: object) -> str:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def parse_tree(text: str) -> tuple[BlockDevice, ...]:
    """Return the devices of lsblk's tree with its columns NAME, TYPE and MOUNTPOINT(S).

    Raises:
        InputError: It has no such heading.
    """
    rows = [line for line in text.splitlines() if line.strip()]
    start = next((index for index, row in enumerate(rows) if row.lstrip().startswith("NAME")), None)
    if start is None or "TYPE" not in rows[start].split():
        raise InputError("lsblk's table has no columns NAME and TYPE")
    header = rows[start]
    devices: list[BlockDevice] = []
    above: list[tuple[int, int]] = []
    for row in rows[start + 1 : start + 1 + COUNT]:
        match = _ROW.match(row.rstrip())
        if not match:
            continue
        if _MOUNT.match(match["rest"]):
            _mount_again(devices, match["rest"])
            continue
        device = _tree_device(header, row, match["rest"])
        if not device.kind:
            continue
        depth = len(match["tree"])
        while above and above[-1][0] >= depth:
            above.pop()
        devices.append(replace(device, parent=above[-1][1] if above else None))
        above.append((depth, len(devices) - 1))
    return tuple(devices)


def _mount_again(devices: list[BlockDevice], place: str) -> None:
    """Take a further line that has a mount point only (util-linux 2.37 and later)."""
    if devices:
        last = devices[-1]
        devices[-1] = replace(last, mountpoints=(*last.mountpoints, place))


def _tree_device(header: str, row: str, rest: str) -> BlockDevice:
    places = list(_WORDS.finditer(rest))
    words = [place[0] for place in places]
    found = next((place for place in places[1:] if _kind_of_device(place[0])), None)
    after = rest[found.end() :].strip() if found else ""
    number = next((index for index, word in enumerate(words) if _NUMBER.fullmatch(word)), None)
    size = "".join(words[number + 2 : number + 3]) if number else ""  # NAME MAJ:MIN RM SIZE
    return BlockDevice(
        name=words[0],
        kind=found[0] if found else "",
        filesystem=_column(header, row, "FSTYPE"),
        mountpoints=(after,) if _MOUNT.match(after) else (),
        size=size,
    )


def _kind_of_device(word: str) -> bool:
    return word in _TYPES or re.fullmatch(r"raid\d+", word) is not None


def _column(header: str, row: str, name: str) -> str:
    """Return the word of a column that is printed under its heading, left-aligned."""
    place = header.find(name)
    if place < 0 or place >= len(row) or not row[place].strip():
        return ""
    return row[place:].split(maxsplit=1)[0]


PROBE = Probe("block_devices", COMMAND, parse, limit=256 * 1024)
