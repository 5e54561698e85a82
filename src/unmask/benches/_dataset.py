"""How reads and writes on a dataset of ZFS are measured: what runs, and what was seen of it.

Opt-in, and the one case in which something is written in a guest: a directory of its own in the
dataset, with a name that nobody can guess, which is removed whatever happens. The data do not
compress. Writes end with fsync, so that what waits in memory is counted. A file that fits into the
ARC is not read back: that would measure memory.

`fio` is taken where it is there, else `dd` copies what was made of /dev/urandom before.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from unmask.benches._effort import Effort
from unmask.benches._plan import FILE_SECONDS, Dataset
from unmask.model.bench import PLAIN

UNENCRYPTED = "unencrypted"
"""The setting of the dataset beside it, which shows what the pool does without encryption."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:\- ]*(?:/[A-Za-z0-9][A-Za-z0-9_.:\- ]*)*")
"""How OpenZFS lets datasets be called (zcommon/zfs_namecheck.c)."""
MEBIBYTES = {Effort.QUICK: 512, Effort.STANDARD: 2048, Effort.THOROUGH: 8192}
NEEDED = 64
"""Mebibytes below which nothing is measured."""

FUNCTIONS = """\
place() {
    unmask_point=$(zfs get -H -o value mountpoint "$1")
    unmask_folder=
    case $unmask_point in
        /*) unmask_folder=${unmask_point%/}/.unmask-$UNMASK_TOKEN ;;
    esac
}
tidy() {
    place "$1"
    if [ "$unmask_folder" ] && [ -d "$unmask_folder" ]; then
        rm -f "$unmask_folder/file.$UNMASK_TOKEN" "$unmask_folder/seed.$UNMASK_TOKEN"
        rmdir "$unmask_folder"
    fi
}
"""
"""`tidy DATASET` removes what was made in it; the shell that outlives all others calls it too."""

_MEASURE = """\
arc() {
    awk '$1 == "c_max" { print int($3 / 1048576) }' /proc/spl/kstat/zfs/arcstats ||
        echo $(($(sysctl -n kstat.zfs.misc.arcstats.c_max) / 1048576))
}
dataset() {
    say dataset "$1"
    zfs get -H -p -o property,value \\
        encryption,keystatus,mounted,mountpoint,available,compression,sync,recordsize "$1"
    place "$1"
    if [ -z "$unmask_folder" ] || [ "$(zfs get -H -o value mounted "$1")" != yes ]; then
        return 1
    fi
    unmask_mib=$2
    unmask_free=$(($(zfs get -H -p -o value available "$1") / 4194304))
    if [ "$unmask_free" -lt "$unmask_mib" ]; then
        unmask_mib=$unmask_free
    fi
    if ! command -v fio >/dev/null && [ "$unmask_mib" -gt 512 ]; then
        unmask_mib=512
    fi
    if [ "$unmask_mib" -lt 64 ]; then
        say no room
        return 1
    fi
    # Whoever may write in the dataset could put another directory in its place.
    if ! mkdir -m 700 "$unmask_folder" || ! cd "$unmask_folder" || [ "$(ls -A .)" ] ||
        [ "$(pwd -P)" != "$(cd "$unmask_point" && pwd -P)/.unmask-$UNMASK_TOKEN" ]; then
        cd /
        say no folder
        return 1
    fi
    if command -v fio >/dev/null; then
        unmask_fio write "$3" --end_fsync=1
    else
        dd if=/dev/urandom of="seed.$UNMASK_TOKEN" bs=1048576 count="$unmask_mib"
        run "$3" 0 0 {seconds} dd if="seed.$UNMASK_TOKEN" of="file.$UNMASK_TOKEN" \\
            bs=1048576 conv=fsync
    fi
    unmask_arc=$(arc)
    say arc "${unmask_arc:-0}" "$unmask_mib"
    if [ "${unmask_arc:-0}" -gt 0 ] && [ "$unmask_mib" -gt "$((unmask_arc * 5 / 4))" ]; then
        if command -v fio >/dev/null; then
            unmask_fio read "$4"
        else
            run "$4" 0 0 {seconds} dd if="file.$UNMASK_TOKEN" of=/dev/null bs=1048576
        fi
    fi
    cd /
}
unmask_fio() {
    unmask_way=$1
    unmask_run=$2
    shift 2
    run "$unmask_run" 0 0 {seconds} fio --name=unmask --filename="file.$UNMASK_TOKEN" \\
        --rw="$unmask_way" --bs=1M --size="${unmask_mib}M" --ioengine=psync --thread \\
        --refill_buffers --eta=never --output-format=json "$@"
}
"""


def line(dataset: Dataset, write: int, read: int) -> str:
    """Return shell that measures a dataset, where there is ZFS."""
    name = shlex.quote(dataset.name)
    return (
        "if command -v zfs >/dev/null; then\n"
        f"dataset {name} {dataset.mebibytes} {write} {read}\ntidy {name}\n"
        f"else\nsay dataset {name}\nfi"
    )


def functions() -> str:
    """Return the shell functions that measure a dataset: `dataset NAME MIB WRITE READ`."""
    return _MEASURE.replace("{seconds}", str(FILE_SECONDS))


@dataclass(slots=True)
class Seen:
    """What was seen of one dataset."""

    name: str
    properties: dict[str, str]
    arc: int | None = None
    """Mebibytes that the ARC may take; 0 where it does not tell."""
    mebibytes: int = 0
    failed: str = ""
    """"room" or "folder"."""


def seen(name: str, text: str) -> Seen:
    """Return what `zfs get` printed of a dataset."""
    pairs = (line.partition("\t") for line in text.splitlines())
    return Seen(name, {key: value.strip() for key, tab, value in pairs if tab})


def note(found: Seen, word: str, rest: str) -> None:
    """Take what the program says beside: "no room", "no folder", or "arc" with two numbers."""
    if word == "no":
        found.failed = rest
        return
    numbers = [int(part) for part in rest.split() if part.isdigit() and len(part) < 12]
    if len(numbers) == 2:
        found.arc, found.mebibytes = numbers


def problems(found: Seen, setting: str) -> Iterator[str]:
    """Yield what could not be measured of a dataset, and what its figures do not mean."""
    name, told = found.name, found.properties
    if not told:
        yield f"{name}: zfs is not there, or knows no such dataset."
        return
    if told.get("mounted") != "yes":
        locked = ": its key is not loaded" if told.get("keystatus") == "unavailable" else ""
        yield f"{name} is not mounted{locked}: nothing was written to it."
        return
    if setting == PLAIN and told.get("encryption", "off") == "off":
        yield f"{name} is not encrypted: its figures say nothing of encryption."
    if setting == UNENCRYPTED and told.get("encryption", "off") != "off":
        yield f"{name} is encrypted too: it is no measure of the pool without encryption."
    if found.failed == "room":
        yield f"{name} has less than {4 * NEEDED} MiB free: nothing was written to it."
    elif found.failed == "folder":
        yield f"{name}: nothing could be written to it by this user."
    if told.get("sync") == "always":
        yield f"{name} has sync=always: each write waits for the pool's log, not for the processor."
    if found.arc is not None and found.mebibytes <= found.arc * 5 // 4:
        limit = f"may take {found.arc} MiB" if found.arc else "does not tell its size"
        yield (
            f"{name} was not read: the ARC {limit}, and a file of {found.mebibytes} MiB would have "
            "come out of memory."
        )
