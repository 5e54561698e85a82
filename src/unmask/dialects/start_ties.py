"""What QEMU needs of a host to start there, whoever starts it: files, memory, raw arguments.

Neither Proxmox VE nor libvirt looks into raw arguments (`args`, `qemu:commandline`): QEMU refuses
to migrate with such a device, or does not start on the target.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from unmask.dialects.excerpt import excerpt
from unmask.model.reading import Missing
from unmask.model.tie import Tie, TieKind

LIMIT = 80

DEVICES = {
    "ivshmem-doorbell": TieKind.RESOURCE,
    "ivshmem-plain": TieKind.RESOURCE,
    "usb-host": TieKind.PASSTHROUGH,
    "vhost-user-fs-pci": TieKind.RESOURCE,
    "virtio-9p-pci": TieKind.RESOURCE,
}
"""Devices that stay with their host; vfio-... too."""

FILES = ("-bios", "-cdrom", "-drive", "-fsdev", "-hda", "-hdb", "-initrd", "-kernel", "-virtfs")
"""Options that can name files of the host."""

PATH = re.compile(r"(?:^|=)(?P<path>/[^,]+)")


def merged(now: Iterable[Tie], then: Iterable[Tie]) -> tuple[Tie, ...]:
    """Return what holds a guest with a change that its next start applies.

    Alive it has what it was started with; a move of the stopped guest starts it with the change.

    Args:
        now: What it has.
        then: What it has after that start.
    """
    alive, stopped = list(now), list(then)
    found = [
        tie if tie in stopped else replace(tie, cold=False)
        for tie in alive
        if tie in stopped or tie.live or not tie.cold
    ]
    new = (tie for tie in stopped if tie not in alive)
    return (*found, *(replace(tie, live=False) for tie in new if tie.cold or not tie.live))


def of_arguments(words: Sequence[str], where: str) -> Iterator[Tie]:
    """Yield what the arguments tie the guest to.

    Args:
        words: As QEMU gets them.
        where: How the configuration calls them, to begin each tie's name with.
    """
    for option, text in itertools.pairwise(words):
        name = "-" + option.lstrip("-")
        driver = text.partition(",")[0]
        if name == "-device":
            kind = TieKind.PASSTHROUGH if driver.startswith("vfio-") else DEVICES.get(driver)
            if kind is not None:
                yield Tie(kind, f"{where}: -device {excerpt(driver, LIMIT)}")
        elif name in FILES and (path := PATH.search(text)):
            yield of_file(f"{where}: {name} {excerpt(path['path'], LIMIT)}")


def of_file(what: str) -> Tie:
    """Return the tie to a file that QEMU needs where it starts."""
    reason = "whether the target has the same file is not known"
    return Tie(TieKind.LOCAL_FILE, what, unread=Missing(reason, "a look at the target's files"))


def of_pages(what: str) -> Tie:
    """Return the tie to huge pages, which QEMU takes when it starts."""
    reason = "whether the target has enough free huge pages is not known"
    needs = "`grep Huge /proc/meminfo` on the target"
    return Tie(TieKind.HUGEPAGES, what, unread=Missing(reason, needs))


def of_memory_nodes(what: str, nodes: str) -> Tie:
    """Return the tie to NUMA nodes of the host; every host has node 0."""
    if nodes == "0":
        return Tie(TieKind.AFFINITY, what, live=False, cold=False)
    reason = f"whether the target has the NUMA nodes {excerpt(nodes, 40)} is not known"
    return Tie(TieKind.AFFINITY, what, unread=Missing(reason, "`numactl --hardware` on the target"))
