"""The program that runs on a Proxmox VE node, and the form of what it prints.

POSIX sh, for dash, bash and busybox. It reads and changes nothing, starts no Perl where it can be
avoided, and copes with files that vanish while it reads them. Each part of its output begins with a
line of a mark that nobody could guess beforehand, so that no name or configuration can imitate one,
and whatever a login prints before is passed over.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from unmask.dialects import framed
from unmask.sources._pve_layout import CLUSTER_FILES

COMMAND = "/bin/sh -s"
"""Reads the script from its input, so that it does not matter which shell the user has."""

# All of it is one function: a connection that breaks off cannot leave half of it running, and
# nothing in it can read the rest of the script as its input.
_HEAD = """\
root={root}
mark={mark}
LC_ALL=C
PATH=$PATH:/usr/sbin:/sbin
export LC_ALL PATH
part() {{
    printf '\\n%s %s\\n' "$mark" "$1"
}}
show() {{
    if [ -r "$2" ]; then
        part "$1"
        cat "$2" 2>/dev/null
    fi
}}
"""

_FACTS = """\
facts() {
    part node
    if link=$(readlink "$root/etc/pve/local" 2>/dev/null); then
        printf '%s' "${link##*/}"
    else
        uname -n
    fi
    part user
    id -un
    part pve
    if [ ! -d "$root/etc/pve" ]; then
        echo absent
    elif [ ! -r "$root/etc/pve" ] || [ ! -x "$root/etc/pve" ]; then
        echo denied
    elif [ ! -d "$root/etc/pve/nodes" ]; then
        echo unmounted
    else
        echo mounted
    fi
    part connection
    printf '%s' "$SSH_CONNECTION"
    part kernel
    uname -r
    part packages
    if ! dpkg-query -W pve-manager qemu-server 2>/dev/null; then
        part pveversion
        pveversion 2>/dev/null
    fi
    part qemu
    kvm --version 2>/dev/null || qemu-system-x86_64 --version 2>/dev/null
    show cpuinfo "$root/proc/cpuinfo"
    for file in "$root"/sys/module/kvm*/parameters/*; do
        if read -r value; then
            module=${file%/parameters/*}
            part "parameter ${module##*/}.${file##*/}"
            printf '%s' "$value"
        fi 2>/dev/null <"$file"
    done
    part processes
    if [ -r "$root/proc/1/cmdline" ]; then
        echo listed
        set -- "$root"/proc/[0-9]*/cmdline
        for file in $(grep -l -e kvm -e qemu-system -e lxc-start "$@" 2>/dev/null); do
            part process
            cat "$file" 2>/dev/null
        done
    fi
}
"""

_TREE = """\
tree() {
    cd "$root/etc/pve" 2>/dev/null || return
    show members .members
    show known_hosts "$root/etc/ssh/ssh_known_hosts"
    cluster="CLUSTER_FILES"
    set --
    for path in nodes/*/qemu-server nodes/*/lxc nodes/*/ssh_known_hosts $cluster; do
        if [ -e "$path" ]; then
            set -- "$@" "$path"
        fi
    done
    if command -v tar >/dev/null 2>&1; then
        part tree
        if command -v gzip >/dev/null 2>&1; then
            tar -cf - "$@" | gzip -1
        else
            tar -cf - "$@"
        fi
        return
    fi
    for path in nodes/*/qemu-server/*.conf nodes/*/lxc/*.conf nodes/*/ssh_known_hosts $cluster; do
        if [ -f "$path" ]; then
            part "file $path"
            cat "$path"
        fi
    done
}
"""


def script(mark: str, *, tree: bool, root: str = "") -> str:
    """Return the program.

    Args:
        mark: Unguessable letters and digits.
        tree: Whether to send the cluster's files as well as the node's own facts.
        root: The directory that "/" means, without a slash at its end; another one in tests.
    """
    head = _HEAD.format(root=shlex.quote(root), mark=framed.checked(mark))
    body = _FACTS + (_TREE.replace("CLUSTER_FILES", " ".join(CLUSTER_FILES)) if tree else "")
    calls = "\n".join(["facts", *["tree"] * tree, "part end"])
    return f"{head}{body}main() {{\n{calls}\n}}\nmain </dev/null\n"


@dataclass(frozen=True, slots=True)
class Output:
    """The parts of what it printed."""

    parts: Mapping[str, bytes]
    """By name, without "process" and "file"."""
    command_lines: tuple[bytes, ...]
    """/proc/PID/cmdline of what may be guests."""
    files: Mapping[str, bytes]
    """Content by path below /etc/pve, where the node has no tar."""
    whole: bool
    """It came to its end."""


def split(output: bytes, mark: str) -> Output:
    """Return the parts of an output."""
    parts: dict[str, bytes] = {}
    lines: list[bytes] = []
    files: dict[str, bytes] = {}
    for name, content in framed.parts(output, mark):
        if name == "process":
            lines.append(content)
        elif name.startswith("file "):
            files[name.removeprefix("file ")] = content
        else:
            parts[name] = content
    return Output(parts, tuple(lines), files, whole="end" in parts)
