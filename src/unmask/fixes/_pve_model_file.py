"""Add a section to cpu-models.conf on a node, by the rules of the cluster's file system.

Whoever changes a file of /etc/pve holds its lock, a directory that pmxcfs lets only one node make,
and replaces the file as a whole (PVE/Cluster.pm: cfs_lock_file; PVE/Tools.pm: file_set_contents).
A lock that was left behind is dropped by pmxcfs when it is asked to and two minutes old.
"""

from __future__ import annotations

import re
import shlex

from unmask.connect.proxmox_answer import ApiError
from unmask.connect.ssh_session import ExecResult
from unmask.errors import UsageError

PATH = "virtual-guest/cpu-models.conf"
COMMAND = "/bin/sh -s"
PLAIN = re.compile(r"[\t\n -~]*")
SECONDS = 30.0
TRIES = 10
"""Seconds for which the lock is waited for, as Proxmox VE does."""
BUSY, CHANGED, BROKEN = 75, 76, 77
REASONS = {
    BUSY: "the lock of cpu-models.conf was not to be had within {tries} s: {said}",
    CHANGED: "cpu-models.conf has changed in the meantime (checksum mismatch)",
    BROKEN: "cpu-models.conf cannot be written: {said}",
}

_READ = """\
show() {
    if [ -e "$root/etc/pve/virtual-guest/cpu-models.conf" ]; then
        cat "$root/etc/pve/virtual-guest/cpu-models.conf" || exit 77
    fi
}
show
"""
_ADD = """\
add() {{
    file=$root/etc/pve/virtual-guest/cpu-models.conf
    lock=$root/etc/pve/priv/lock/file-virtual-guest_cpu-models_conf
    fresh=$file.tmp.$$
    [ -d "$root/etc/pve/nodes" ] || {{ echo 'there is no /etc/pve' >&2; exit {broken}; }}
    mkdir -p "${{lock%/*}}" "${{file%/*}}" 2>/dev/null
    tries=0
    until said=$(mkdir "$lock" 2>&1); do
        tries=$((tries + 1))
        [ "$tries" -lt {tries} ] || {{ echo "$said" >&2; exit {busy}; }}
        touch -d @0 "$lock" 2>/dev/null
        sleep 1
    done
    trap 'rm -f "$fresh"; rmdir "$lock"' EXIT
    trap 'exit {broken}' HUP INT TERM
    found=
    [ ! -e "$file" ] || found=$(sha256sum <"$file") || exit {broken}
    [ "${{found%% *}}" = {expected} ] || exit {changed}
    {{
        [ ! -e "$file" ] || cat "$file"
        printf '%s' "$section"
    }} >"$fresh" && mv "$fresh" "$file" || exit {broken}
}}
section={section}
add
"""


def reading() -> bytes:
    """Return the script that prints the file, nothing where there is none."""
    return f"root=''\n{_READ}".encode()


def adding(text: str, expected: str, section: str) -> bytes:
    """Return the script that adds a section.

    Args:
        text: The file as it was read.
        expected: SHA-256 of its bytes, "" where there is no file.
        section: What is added; an empty line parts it from what is there.

    Raises:
        UsageError: The section has characters that do not belong there.
    """
    if not PLAIN.fullmatch(section):
        raise UsageError("the custom model has characters that do not belong into cpu-models.conf")
    apart = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
    filled = _ADD.format(
        busy=BUSY,
        broken=BROKEN,
        changed=CHANGED,
        tries=TRIES,
        expected=shlex.quote(expected),
        section=shlex.quote(f"{apart}{section}"),
    )
    return f"root=''\n{filled}".encode()


def judged(result: ExecResult) -> None:
    """Raise `ApiError` where a script has not done what it should."""
    if result.status == 0:
        return
    said = " ".join(result.stderr.decode("utf-8", errors="replace").split())[:200]
    reason = REASONS.get(result.status, "the command on the node ended with {status}: {said}")
    text = reason.format(said=said, status=result.status, tries=TRIES)
    raise ApiError(text, status=500 if result.status in REASONS else 0)
