"""Which targets a run reads, and which source reads each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from unmask.config.settings import Settings, Target
from unmask.errors import InputError, TargetError, UnmaskError, UsageError
from unmask.model.source import Source

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
KINDS = (
    "a target is a saved inventory, a copy of /etc/pve, libvirt's XML, or a hypervisor's address "
    "such as pve://HOST or qemu:///system (unmask audit --help has all)"
)
"""The end of a sentence about something that is none."""
_SOCKETS = ("libvirt-sock", "libvirt-sock-ro", "virtqemud-sock", "virtqemud-sock-ro")


def choose(arguments: Sequence[str], settings: Settings, root: Path) -> tuple[Target, ...]:
    """Return the targets to read; `root` is the directory that "/" means (another one in tests).

    An argument that is the name of a configured target, or the address of just one, means that.
    Without arguments they are the configured ones, else the hypervisor that this machine is.

    Raises:
        UsageError: There is nothing to read, or an argument is empty.
    """
    if not all(item.strip() for item in arguments):
        raise UsageError(
            "the name of a target is empty: name one, or give none for the configured targets, "
            "else this hypervisor"
        )
    if arguments:
        return tuple(settings.named(item) or _bare(item, settings) for item in arguments)
    if settings.targets:
        return settings.targets
    address = local(root)
    if not address:
        raise UsageError(
            "no target was named, none is configured, and this machine is no Proxmox VE node and "
            "runs no libvirt: name one (unmask audit --help shows what a target can be)"
        )
    return (Target("", address),)


def _bare(address: str, settings: Settings) -> Target:
    """Return a target that no login is configured for, or more than one."""
    return Target("", address, beside=tuple(target.name for target in settings.at(address)))


def local(root: Path) -> str:
    """Return the target that this machine is: a Proxmox VE node, a libvirt host, or ""."""
    if _is_there(root / "etc/pve/nodes"):
        return str(root / "etc/pve")
    if any(_is_there(root / "var/run/libvirt" / name) for name in _SOCKETS):
        return "qemu:///system"
    return ""


def _is_there(path: Path) -> bool:
    """Return whether something is there; where this user may not look, reading it will say so."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        pass
    return True


def source_for(target: str, sources: Sequence[Source]) -> Source:
    """Return the source that reads `target`.

    Raises:
        UsageError: The target is a URI of a scheme that no source reads.
        TargetError: It is a path at which nothing is, or that may not be read.
        InputError: It is a path at which nothing lies that a source reads.
    """
    try:
        for source in sorted(sources, key=lambda source: (source.order, source.name)):
            if source.fits(target):
                return source
    except OSError as error:
        raise TargetError(f"cannot be read: {error.strerror}") from error
    scheme = _SCHEME.match(target)
    if scheme:
        web = scheme[1].lower() in ("http", "https")
        hint = " (write pve://HOST[:PORT] for the API of Proxmox VE)" if web else ""
        raise UsageError(f"{scheme[1]}:// is not a kind of target{hint}; {KINDS}")
    raise _refusal(Path(target))


def _refusal(path: Path) -> UnmaskError:
    """Return why no source reads what is at `path`."""
    try:
        if path.is_dir():
            empty = next(path.iterdir(), None) is None
            what = "an empty directory" if empty else "a directory with nothing that unmask reads"
        elif path.exists() and not path.is_file():
            what = "not a regular file but a pipe, socket or device"  # to open a pipe would wait
        else:
            path.open("rb").close()
            what = "not a file that unmask reads"
    except FileNotFoundError:
        return TargetError(
            "no such file, directory or configured target; for a host write pve://HOST, "
            "pve+ssh://HOST, qemu+ssh://HOST/system, or ssh://HOST for one machine"
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        return TargetError(f"cannot be read: {reason}")
    return InputError(f"{what}; {KINDS}")
