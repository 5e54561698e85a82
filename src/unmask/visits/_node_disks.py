"""The disks of a guest of Proxmox VE, read on its node over SSH, whether it runs or not."""

from __future__ import annotations

import posixpath
import re
import secrets
import time
from dataclasses import replace

from unmask.connect.ssh_session import Limit, Session
from unmask.dialects import framed
from unmask.dialects.proxmox import conf
from unmask.dialects.proxmox import disks as guest_disks
from unmask.dialects.proxmox.disks import GuestDisk
from unmask.errors import InputError, UnreadError
from unmask.model.disk import Disk
from unmask.model.inventory import Guest
from unmask.model.reading import Known, Missing, Reading
from unmask.visits import _node_script
from unmask.visits._disks import Bytes, looked_at
from unmask.visits._node_files import Ask, NodeFiles

LIMIT = Limit(stdout=64 * 1024 * 1024, stderr=64 * 1024)
"""Bytes of a round's pages, four times that where qemu-io prints them as text."""
VMID = re.compile(r"\d{1,9}", re.ASCII)
PROTOCOL = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
VOLUME = re.compile(r"[A-Za-z][A-Za-z0-9._-]*:.+|/.+")
"""STORAGE:NAME or a path (PVE/Storage/Plugin.pm, parse_volume_id), which is never an option."""
LATE = UnreadError("the time for this guest was used up", "a longer --guest-timeout")


def disks(session: Session, guest: Guest, seconds: float) -> Reading[tuple[Disk, ...]]:
    """Return a guest's disks, each with what its first sectors say or why they were not read.

    Args:
        session: On the node that the guest is on.
        guest: Its `ident` is the VMID.
        seconds: That all of it may take.

    Raises:
        UnreadError: The node does not show its configuration, or the time is used up.
        TargetError: The node does not answer.
    """
    end = time.monotonic() + seconds

    def ask(script: str) -> bytes:
        left = end - time.monotonic()
        if left <= 0:
            raise LATE
        return session.run(_node_script.COMMAND, script.encode(), left, LIMIT).stdout

    found = _configured(ask, guest)
    node = guest.host.rpartition("/")[2]
    files = NodeFiles(ask, node)
    return Known(files.told(lambda: tuple(_disk(files, each) for each in found)))


def _configured(ask: Ask, guest: Guest) -> tuple[GuestDisk, ...]:
    if not VMID.fullmatch(guest.ident):
        raise UnreadError("it has no VMID")
    mark = secrets.token_hex(16)
    output = ask(_node_script.configuration(mark, guest.ident))
    text = dict(framed.parts(output, mark)).get("conf", b"").decode("utf-8", errors="replace")
    if not text.strip():
        raise UnreadError("its node does not show its configuration", "root on the node")
    return guest_disks.read(conf.parse(text, None).main.values)


def _disk(files: NodeFiles, found: GuestDisk) -> Disk:
    if not VOLUME.fullmatch(found.volume):
        nonsense = Missing("what its configuration names is no volume")
        return Disk(found.key, found.volume, found.format, found.size, nonsense)
    disk = Disk(
        name=found.key,
        source=found.volume,
        format=found.format,
        size=found.size,
        encryption=files.encryption(found.volume),
    )
    try:
        source = files.volume(found.volume)
    except UnreadError as error:
        return replace(disk, parts=Missing(error.reason, error.needs))
    return looked_at(disk, source, lambda image, name: _below(files, image, name))


def _below(files: NodeFiles, image: str, name: str) -> Bytes:
    """Open a backing file at the word of an image's header: one beside it, or of another guest.

    Proxmox VE bases the image of a linked clone on ../BASE/base-BASE-disk-N.qcow2 in the same
    storage, and a snapshot's on a volume beside it. No other file of the node is opened.
    """
    if PROTOCOL.match(name) or not name.isprintable() or not image.startswith("/"):
        raise InputError("it is no file")
    folder = posixpath.dirname(image)
    path = posixpath.normpath(posixpath.join(folder, name))
    there, images = posixpath.dirname(path), posixpath.dirname(folder)
    shared = posixpath.basename(images) == "images" and posixpath.dirname(there) == images
    if there != folder and not shared:
        raise InputError("it lies outside the storage")
    return files.backing(path)
