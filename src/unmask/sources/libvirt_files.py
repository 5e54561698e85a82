"""libvirt's XML on disk: a directory of domains and capabilities, or one file."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

from unmask.errors import InputError
from unmask.model.inventory import Inventory
from unmask.model.source import CollectOptions, Source
from unmask.sources import _file_tree, _libvirt_tree

SYSTEM_FOLDERS = frozenset({"etc", "libvirt", "qemu", "run", "var", "lib"})
"""Directories on the way to /etc/libvirt/qemu, after which nobody names a host."""

PROXMOX = ("corosync.conf", "nodes", "qemu-server")
"""What tells a copy of /etc/pve, which is another source's."""

LOOKED_AT = 5000
"""Entries of a directory that are looked at to tell what it is."""


def fits(target: str) -> bool:
    """Return whether `target` is an XML file, or a directory with XML and nothing of Proxmox."""
    path = Path(target)
    try:
        if path.is_file():
            return path.suffix.lower() == ".xml"
        return path.is_dir() and not _is_proxmox(path) and any(_xml_below(path))
    except OSError:
        return False


def _is_proxmox(path: Path) -> bool:
    return any((path / name).exists() for name in PROXMOX)


def _xml_below(path: Path) -> Iterator[Path]:
    """Yield XML files in the directory and up to two below it."""
    for pattern in ("*", "*/*", "*/*/*"):
        entries = itertools.islice(path.glob(pattern), LOOKED_AT)
        yield from (entry for entry in entries if entry.suffix.lower() == ".xml")


def collect(target: str, options: CollectOptions) -> Inventory:
    """Read the files; a live dump (`<domain id=...>`) is a guest that runs.

    Raises:
        InputError: There is nothing of libvirt's in them, or they cannot be read at all.
    """
    del options  # local files are read in no time that would need a limit
    path = Path(target)
    single = not path.is_dir()
    tree = (
        _file_tree.read_file(target)
        if single
        else _file_tree.read_directory(target, _libvirt_tree.wanted)
    )
    name = _host_name(path.parent if single else path)
    found = _libvirt_tree.inventory(tree.files, name, target, tree.gaps)
    if found.hosts:
        return found
    if not found.gaps:
        raise InputError(f"there is no domain or capabilities XML of libvirt's in {target}")
    first = found.gaps[0]
    where = "" if single else f"{first.subject}: "
    raise InputError(f"nothing in {target} can be used: {where}{first.reason}")


def _host_name(path: Path) -> str:
    """Return what to call the host, which the files do not name: the directory's own name."""
    parts = [part for part in path.resolve().parts[1:] if part not in SYSTEM_FOLDERS]
    return parts[-1] if parts else "libvirt"


SOURCE = Source(
    name="libvirt_files",
    summary="a directory of libvirt's domain XML and capabilities, or one XML file",
    fits=fits,
    collect=collect,
    order=60,
    live=False,
)
