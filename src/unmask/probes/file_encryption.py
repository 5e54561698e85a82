"""File-level encryption that is mounted or set up: gocryptfs, ecryptfs, fscrypt and others."""

from __future__ import annotations

import re

from unmask.model.inside_storage import FileEncryption
from unmask.probes._probe import Probe
from unmask.probes._section import Section
from unmask.probes._words import cipher, number

COMMAND = r"""
part mounts
grep -E ' (ecryptfs|fuse\.(gocryptfs|encfs|cryfs|securefs|rclone|veracrypt)|encfs|cryfs) ' \
    proc/mounts | awk '{
        count = split($4, options, ",")
        kept = "-"
        for (i = 1; i <= count; i++)
            if (options[i] ~ /^ecryptfs_(cipher|key_bytes)=/) kept = kept "," options[i]
        print $1, $2, $3, kept
    }'
part fscrypt
awk '$3 == "ext4" || $3 == "f2fs" || $3 == "ubifs" || $3 == "btrfs" { print $2 }' \
    proc/mounts | sort -u | while read -r place; do
    if [ -d ".${place%/}/.fscrypt" ]; then
        printf '%s\n' "$place"
    fi
done
"""

_ESCAPE = re.compile(r"\\([0-3][0-7]{2})")


def parse(section: Section) -> tuple[FileEncryption, ...]:
    """Return what is mounted, then the file systems that are set up for fscrypt."""
    mounted = parse_mounts(section.text("mounts"))
    places = (line.strip() for line in section.lines("fscrypt"))
    return (
        *mounted,
        *(FileEncryption("fscrypt", _unescaped(place)) for place in places if place[0] == "/"),
    )


def parse_mounts(text: str) -> tuple[FileEncryption, ...]:
    """Return the encrypting file systems among the lines of /proc/mounts."""
    found = []
    for line in text.splitlines():
        fields = line.split()
        if len(fields) < 4:
            continue
        kind = fields[2].removeprefix("fuse.")
        if kind not in (
            "ecryptfs",
            "gocryptfs",
            "encfs",
            "cryfs",
            "securefs",
            "rclone",
            "veracrypt",
        ):
            continue
        options = dict(option.partition("=")[::2] for option in fields[3].split(","))
        size = number(options.get("ecryptfs_key_bytes", ""))
        found.append(
            FileEncryption(
                kind=kind,
                mountpoint=_unescaped(fields[1]),
                source=_unescaped(fields[0]),
                cipher=cipher(options.get("ecryptfs_cipher", "")),
                key_bits=None if size is None else size * 8,
            )
        )
    return tuple(found)


def _unescaped(text: str) -> str:
    r"""Resolve what the kernel writes for white space in a path: "\040"."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 8)), text)


PROBE = Probe("file_encryption", COMMAND, parse)
