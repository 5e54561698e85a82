"""The programs that run on a Proxmox VE node to read its guests' disks, and what they print.

POSIX sh, for dash, bash and busybox. They read and change nothing: a volume that is not active
stays so, devices are opened for reading only, and no program is let loose on an image's contents,
but for QEMU's own `qemu-io` on volumes that are no file of the node's (Ceph, iSCSI), which are raw.
Names that come from configurations are quoted, and are never a program or an option.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from unmask.dialects import framed
from unmask.dialects.disk.medium import PAGE
from unmask.model.disk import HostEncryption

COMMAND = "/bin/sh -s"
"""Reads the script from its input, so that it does not matter which shell the user has."""

_HEAD = """\
root={root}
mark={mark}
LC_ALL=C
PATH=$PATH:/usr/sbin:/sbin
export LC_ALL PATH
part() {{
    printf '\\n%s %s\\n' "$mark" "$1"
}}
say() {{
    part "$1"
    printf '%s' "$2" | head -c 4096
}}
"""

_CONFIGURATION = """\
configuration() {
    part conf
    cat "$root/etc/pve/qemu-server/$1.conf"
}
"""

_LOCATE = r"""
volume() {
    case $2 in
    /*) path=$2 ;;
    *)
        if ! path=$(pvesm path "$2" 2>&1); then
            say "problem $1" "$path"
            return
        fi
        path=$(printf '%s\n' "$path" | tail -n 1)
        ;;
    esac
    file "$1" "$path"
    below "$1" "$path"
}
file() {
    say "path $1" "$2"
    if [ -b "$2" ] || [ -f "$2" ]; then
        if [ ! -r "$2" ]; then
            say "denied $1" "$2"
        elif [ -b "$2" ]; then
            say "size $1" "$(blockdev --getsize64 "$2" 2>&1)"
        else
            say "size $1" "$(stat -L -c %s "$2" 2>&1)"
        fi
    elif [ -e "$2" ]; then
        say "problem $1" "$2 is neither a file nor a block device"
    else
        case $2 in
        [a-z]*:*) say "info $1" "$(qemu-img info -U -f raw --output=json "$2" 2>&1)" ;;
        *) say "absent $1" "$2" ;;
        esac
    fi
}
"""

# `dmsetup table` hides keys unless it is told to show them, and only the cipher's word is sent on.
_BELOW = r"""
below() {
    case $2 in
    /dev/zvol/*) dataset "$1" "${2#/dev/zvol/}" ;;
    /dev/*) device "$1" "$2" ;;
    /*)
        found=$(findmnt -n -r -o FSTYPE,SOURCE -T "$2" 2>/dev/null | tail -n 1)
        case $found in
        'zfs '*) dataset "$1" "${found#* }" ;;
        *' /dev/'*)
            found=${found#* }
            device "$1" "${found%%[[]*}"
            ;;
        esac
        ;;
    esac
}
dataset() {
    say "zfs $1" "$(zfs get -H -o value encryption "$2" 2>/dev/null) $2"
    for word in $(zpool list -v -H -P -L "${2%%/*}" 2>/dev/null); do
        case $word in
        /dev/*) device "$1" "$word" ;;
        esac
    done
}
device() {
    lsblk -s -n -r -o TYPE,NAME "$2" 2>/dev/null | while read -r type name; do
        if [ "$type" = crypt ]; then
            say "crypt $1" "$name $(dmsetup table -- "$name" 2>/dev/null | cipher)"
        fi
    done
}
cipher() {
    read -r _ _ target word _ && [ "$target" = crypt ] && printf '%s' "$word"
}
"""

_READ = r"""
pages() {
    part "data $1 $2 $3"
    case $4 in
    /*) dd if="$4" bs=4096 skip="$2" count="$3" 2>/dev/null ;;
    [a-z]*:*) qemu-io -r -U -f raw -c "read -v $(($2 * 4096)) $5" "$4" 2>/dev/null ;;
    esac
}
"""

LINE = re.compile(rb"^[0-9a-f]{8,}:  ((?:[0-9a-f]{2} ){1,16})", re.MULTILINE)
"""A line of qemu-io's `read -v`."""
ZFS = re.compile(r"([a-z0-9-]+) (\S.*)")
CRYPT = re.compile(r"(\S+) ([A-Za-z0-9()_:,.-]{0,64})")


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring pages of a file."""

    file: int
    """Number of the file."""
    first: int
    count: int
    path: str
    size: int
    """Bytes, of which the last page may lack some."""


def configuration(mark: str, vmid: str, root: str = "") -> str:
    """Return the program that prints a guest's configuration file."""
    return _program(mark, root, _CONFIGURATION, [f"configuration {shlex.quote(vmid)}"])


def locate(
    mark: str, volumes: Iterable[tuple[int, str]], files: Iterable[tuple[int, str]], root: str = ""
) -> str:
    """Return the program that tells where volumes are and what is below them.

    Args:
        mark: Unguessable letters and digits.
        volumes: Their numbers and names.
        files: The same of backing files, for which paths are known.
        root: The directory that "/" means for configurations.
    """
    calls = [f"volume {number} {shlex.quote(name)}" for number, name in volumes]
    calls += [f"file {number} {shlex.quote(path)}" for number, path in files]
    return _program(mark, root, _LOCATE + _BELOW, calls)


def beneath(mark: str, paths: Iterable[tuple[int, str]]) -> str:
    """Return the program that tells how what files and devices lie on is encrypted."""
    calls = [f"below {number} {shlex.quote(path)}" for number, path in paths]
    return _program(mark, "", _BELOW, calls)


def pages(mark: str, runs: Iterable[Run], root: str = "") -> str:
    """Return the program that prints pages of files."""
    calls = [
        f"pages {run.file} {run.first} {run.count} {shlex.quote(run.path)} {run.size}"
        for run in runs
    ]
    return _program(mark, root, _READ, calls)


def _program(mark: str, root: str, functions: str, calls: list[str]) -> str:
    """Return a program of which nothing runs unless all of it arrives."""
    head = _HEAD.format(root=shlex.quote(root), mark=framed.checked(mark))
    body = "\n".join([*calls, "part end"])
    return f"{head}{functions}main() {{\n{body}\n}}\nmain </dev/null\n"


def told(output: bytes, mark: str) -> dict[int, dict[str, list[str]]]:
    """Return what `locate` or `beneath` has printed: texts by word, by number of the file."""
    found: dict[int, dict[str, list[str]]] = {}
    for head, content in framed.parts(output, mark):
        word, _, number = head.partition(" ")
        if number.isdecimal():
            text = content.decode("utf-8", errors="replace")
            found.setdefault(int(number), {}).setdefault(word, []).append(text)
    return found


def encryption(said: Mapping[str, list[str]], host: str) -> tuple[HostEncryption, ...]:
    """Return how a file is encrypted below, as `told` has it, each layer once."""
    return tuple(dict.fromkeys(_layers(said, host)))


def _layers(said: Mapping[str, list[str]], host: str) -> Iterator[HostEncryption]:
    for text in said.get("zfs", ()):
        match = ZFS.fullmatch(text)
        if match and match[1] not in ("off", "-"):
            yield HostEncryption("zfs", match[1], f"the dataset {match[2][:200]} on {host}")
    for text in said.get("crypt", ()):
        match = CRYPT.fullmatch(text)
        if match:
            yield HostEncryption("luks", match[2], f"dm-crypt {match[1][:200]} on {host}")


def read_pages(output: bytes, mark: str, runs: Iterable[Run]) -> Iterator[tuple[Run, bytes]]:
    """Yield what was printed of each run of pages; less than asked for where it cannot be read."""
    asked = {f"data {run.file} {run.first} {run.count}": run for run in runs}
    for name, content in framed.parts(output, mark):
        run = asked.get(name)
        if run is not None and run.path.startswith("/"):
            yield run, content[: run.count * PAGE]
        elif run is not None:
            lines = b"".join(line[1] for line in LINE.finditer(content))
            yield run, bytes.fromhex(lines.decode("ascii"))[: run.count * PAGE]
