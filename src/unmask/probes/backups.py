"""Programs for encrypted backups, and what starts them."""

from __future__ import annotations

import re

from unmask.model.inside_programs import BackupTool
from unmask.probes._probe import Probe
from unmask.probes._section import Section
from unmask.probes._words import unique, versions

# Of schedules only the tool's and the file's name are printed: command lines hold passwords. One
# grep reads them all, since a guest may have hundreds of units. borg is not started for its
# version: that takes Python half a second.
COMMAND = r"""
part tools
for tool in restic borg kopia rclone duplicity duplicacy rustic gocryptfs proxmox-backup-client; do
    if path=$(command -v "$tool"); then
        printf '%s\t%s\n' "$tool" "$path"
    fi
done
part packages
packages restic borgbackup borgbackup2 kopia rclone duplicity duplicacy rustic gocryptfs \
    proxmox-backup-client
for tool in restic kopia rclone; do
    if has "$tool" && [ ! "$(packages "$tool")" ]; then
        part "version $tool"
        case $tool in
            kopia) kopia --version ;;
            *) "$tool" version ;;
        esac | head -n 1
    fi
done
part schedules
set --
for file in etc/crontab etc/anacrontab etc/cron.d/* etc/cron.daily/* etc/cron.weekly/* \
    etc/cron.hourly/* etc/cron.monthly/* var/spool/cron/crontabs/* var/spool/cron/* \
    etc/crontabs/* etc/systemd/system/*.service etc/systemd/system/*.d/*.conf \
    usr/lib/systemd/system/*backup*.service usr/lib/systemd/system/*borg*.service \
    usr/lib/systemd/system/*restic*.service home/*/.config/systemd/user/*.service; do
    if [ -f "$file" ] && [ -r "$file" ]; then
        set -- "$@" "$file"
    fi
done
names='restic|borg|borgmatic|kopia|rclone|duplicity|duplicacy|rustic|autorestic'
grep -E "$names|proxmox-backup-client" "$@" /dev/null | awk -v names="$names" '
    {
        colon = index($0, ":")
        file = substr($0, 1, colon - 1)
        text = substr($0, colon + 1)
        if (!colon || text ~ /^[ \t]*#/) next
        if (index(text, "proxmox-backup-client")) print "proxmox-backup-client\t/" file
        count = split(text, words, /[^A-Za-z0-9_]+/)
        for (i = 1; i <= count; i++)
            if (words[i] ~ "^(" names ")$") print words[i] "\t/" file
    }' | sort -u
"""

_PACKAGES = {"borgbackup": "borg", "borgbackup2": "borg"}
_WRAPPERS = {"borgmatic": "borg", "autorestic": "restic"}
_NAMES = frozenset(
    {
        "restic",
        "borg",
        "kopia",
        "rclone",
        "duplicity",
        "duplicacy",
        "rustic",
        "gocryptfs",
        "proxmox-backup-client",
    }
)
_VERSION = re.compile(r"\bv?(\d+\.\d+[\w.+~-]{0,30})")


def parse(section: Section) -> tuple[BackupTool, ...]:
    """Return the tools that are installed or scheduled, sorted by name."""
    paths = _pairs(section.lines("tools"))
    schedules: dict[str, set[str]] = {}
    for line in section.lines("schedules"):
        tool, _, file = line.partition("\t")
        schedules.setdefault(_WRAPPERS.get(tool, tool), set()).add(file[:200])
    found = {_PACKAGES.get(name, name): version for name, version in versions(section).items()}
    for part in section.below("version "):
        match = _VERSION.search(section.first(part))
        if match:
            found.setdefault(part.removeprefix("version "), match[1])
    return tuple(
        BackupTool(
            name=name,
            version=found.get(name, ""),
            path=paths.get(name, ""),
            schedules=unique(schedules.get(name, ())),
        )
        for name in sorted((paths.keys() | found.keys() | schedules.keys()) & _NAMES)
    )


def _pairs(lines: list[str]) -> dict[str, str]:
    pairs = (line.partition("\t") for line in lines)
    return {name: path for name, tab, path in pairs if tab}


PROBE = Probe("backups", COMMAND, parse, needs_root="other users' schedules", seconds=8)
