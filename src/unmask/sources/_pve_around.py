"""What the files of /etc/pve tell of where a cluster's guests can be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from unmask.dialects.proxmox import ha, mapping, storage
from unmask.dialects.proxmox.ha import Rules
from unmask.dialects.proxmox.surroundings import Surroundings
from unmask.model.inventory import Guest
from unmask.model.reading import Known, Missing, Reading
from unmask.sources._pve_layout import Site


def surroundings(
    site: Site, nodes: Iterable[str], replicas: Mapping[str, frozenset[str]]
) -> Surroundings:
    """Return what there is around the guests of one site.

    Args:
        site: Its files.
        nodes: Names of all its nodes.
        replicas: Names of the nodes that the disks of each guest are replicated to, by VMID.
    """
    files = {"pci": site.pci, "usb": site.usb, "dir": site.directory}
    return Surroundings(
        nodes=tuple(sorted(nodes)),
        storages=_missing("storage.cfg")
        if site.storage is None
        else Known(storage.parse(_text(site.storage))),
        mappings={
            kind: Known(mapping.parse(_text(content)))
            if content or site.storage is not None
            else _missing(mapping.FILES[kind])
            for kind, content in files.items()
        },
        replicas=replicas,
    )


def rules(site: Site) -> Reading[Rules]:
    """Return the rules of high availability; a whole copy without such a file has none."""
    files = (site.rules, site.resources, site.groups)
    if site.storage is None and not any(files):
        return _missing("ha/rules.cfg or ha/groups.cfg")
    return Known(ha.parse(*(_text(content) for content in files)))


def confined(guest: Guest, found: Reading[Rules], cluster: str) -> Guest:
    """Return the guest with what confines it."""
    if isinstance(found, Missing):
        return replace(guest, confined=found)
    return replace(guest, confined=Known(found.value.of(guest.ident, cluster)))


def _missing(path: str) -> Missing:
    return Missing(f"the copy of /etc/pve holds no {path}", f"{path} of the cluster")


def _text(content: bytes) -> str:
    return content.decode("utf-8", errors="replace")
