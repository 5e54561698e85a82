"""A copy of a Proxmox VE cluster's /etc/pve: a directory, a tar archive, or one configuration."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from unmask.errors import InputError
from unmask.model.inventory import Gap, Inventory
from unmask.model.source import CollectOptions, Source
from unmask.sources import _file_tree, _pve_tree
from unmask.sources._pve_layout import VMID, wanted

ARCHIVES = (".tar", ".tgz", ".txz", ".tbz2", ".tar.gz", ".tar.xz", ".tar.bz2", ".tar.zst", ".tzst")

PMXCFS = Path("/etc/pve")
CPUINFO = Path("/proc/cpuinfo")

SYSTEM_FOLDERS = ("etc", "pve")
"""Directories on the way to /etc/pve, after which nobody names a cluster."""


def fits(target: str) -> bool:
    """Return whether `target` is a local path that may be a copy of /etc/pve."""
    path = Path(target)
    try:
        if path.is_dir():
            return True
        return path.is_file() and (path.name.endswith((*ARCHIVES, ".conf")))
    except OSError:
        return False


def collect(target: str, options: CollectOptions) -> Inventory:
    """Read a copy of /etc/pve; nothing is known of what runs.

    Raises:
        InputError: There is nothing of Proxmox in it, or it cannot be read at all.
    """
    del options  # local files are read in no time that would need a limit
    path = Path(target)
    if path.is_dir():
        tree = _file_tree.read_directory(target, wanted)
        tree.files.update(_own_cpu(path, tree))
    elif path.name.endswith(ARCHIVES):
        tree = _file_tree.read_archive(target, wanted)
    else:
        tree = _file_tree.read_file(target)
        return _single(target, tree)
    found = _pve_tree.inventory(tree.files, _cluster_name(path), target, tree.gaps)
    if found.guests or any(host.cpu.known for host in found.hosts):
        return found
    if found.gaps:
        first = found.gaps[0]
        raise InputError(f"nothing in {target} can be read: {_within(target, first)}")
    if not found.hosts:
        raise InputError(
            f"there is nothing in {target} that unmask can read: no nodes/, qemu-server/ or"
            " VMID.conf of Proxmox VE"
        )
    return found


def _own_cpu(path: Path, tree: _file_tree.FileTree) -> dict[str, bytes]:
    """Return this machine's CPU as its node's, where `path` is this machine's own /etc/pve.

    There, and in no copy, `local` leads to the directory of the node itself (pmxcfs(8)).
    """
    local = path / "local"
    if path.resolve() != PMXCFS or not local.is_symlink():
        return {}
    place = f"nodes/{local.resolve().name}/cpuinfo"
    if place in tree.files:
        return {}
    try:
        return {place: CPUINFO.read_bytes()}
    except OSError:
        return {}  # the report says that this node's CPU is not known


def _within(target: str, gap: Gap) -> str:
    """Return a gap's subject and reason, without the target, which is named already."""
    subject = gap.subject.removeprefix(target).lstrip(":/ ")
    return f"{subject}: {gap.reason}" if subject else gap.reason


def _single(target: str, tree: _file_tree.FileTree) -> Inventory:
    """Return the one guest of a file that was named on its own, whatever the file is called."""
    path = Path(target)
    name = path.name
    if not VMID.fullmatch(name):
        raise InputError(
            f"{target} is no guest's configuration: its name is not a VMID like 101.conf"
        )
    folder = str(path.parent)
    found = _pve_tree.inventory(tree.files, _cluster_name(path.parent), folder, tree.gaps)
    if not found.guests:
        reason = found.gaps[0].reason if found.gaps else "it holds nothing"
        raise InputError(f"{target} holds no guest: {reason}")
    return replace(found, targets=(target,))


def _cluster_name(path: Path) -> str:
    """Return what to call a cluster that does not say it: the copy's own name."""
    parts = [part for part in path.resolve().parts[1:] if part not in SYSTEM_FOLDERS]
    name = parts[-1] if parts else "proxmox"
    for ending in ARCHIVES:
        name = name.removesuffix(ending)
    return name


SOURCE = Source(
    name="proxmox_files",
    summary="a directory, tar archive or VMID.conf: a copy of /etc/pve",
    fits=fits,
    collect=collect,
    order=70,
    live=False,
)
