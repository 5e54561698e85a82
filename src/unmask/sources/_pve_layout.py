"""Sort the files of /etc/pve by site, node and guest.

Layouts (pmxcfs, pve-docs): `nodes/NODE/qemu-server/VMID.conf`, `nodes/NODE/lxc/VMID.conf`,
`virtual-guest/cpu-models.conf`, `corosync.conf` and the files of `CLUSTER_FILES`;
`qemu-server/` without `nodes/` is one node's. `nodes/NODE/cpuinfo` is not Proxmox's: an operator
puts a copy of /proc/cpuinfo there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

CLUSTER_FILES = {
    "corosync.conf": "corosync",
    "virtual-guest/cpu-models.conf": "models",
    "ha/resources.cfg": "resources",
    "ha/rules.cfg": "rules",
    "ha/groups.cfg": "groups",
    "replication.cfg": "replication",
    "storage.cfg": "storage",
    "mapping/pci.cfg": "pci",
    "mapping/usb.cfg": "usb",
    "mapping/directory.cfg": "directory",
}
"""Files of a whole cluster, by the end of their path."""

WHAT = r"(?:(?P<kind>qemu-server|lxc)/[^/]+\.conf|(?P<cpu>cpuinfo)(?:\.txt)?)"
OF_NODE = re.compile(rf"(?P<root>(?:.*/)?)nodes/(?P<node>[^/]+)/{WHAT}")
OF_ONE_NODE = re.compile(rf"(?P<root>(?:.*?/)??)(?:local/)?{WHAT}")
VMID = re.compile(r"(?P<vmid>[1-9][0-9]{0,8})\.conf")


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """One guest's file."""

    path: str
    node: str
    """"" where the path does not tell it."""
    kind: str
    """"qemu-server" or "lxc"."""
    vmid: str
    content: bytes


@dataclass(slots=True)
class Site:
    """The files of one /etc/pve."""

    root: str
    """The path in front of them, with a slash at its end; "" at the top."""
    configs: list[ConfigFile] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)
    """Paths of configurations whose name is no VMID."""
    cpus: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    """Path and content of processor descriptions by node."""
    corosync: bytes | None = None
    models: bytes | None = None
    resources: bytes = b""
    """Of high availability, as are `rules` and `groups`."""
    rules: bytes = b""
    groups: bytes = b""
    replication: bytes = b""
    storage: bytes | None = None
    """Every /etc/pve has it: without it, this is a part of one."""
    pci: bytes = b""
    """Mapped devices, as are `usb`; directories are `directory`."""
    usb: bytes = b""
    directory: bytes = b""

    @property
    def empty(self) -> bool:
        """Return whether nothing in it tells of a guest, node or CPU model."""
        told = self.corosync is not None or self.models is not None
        return not (told or self.configs or self.strangers or self.cpus)

    def add(self, path: str, node: str, kind: str, content: bytes) -> None:
        """Take the configuration of a guest, or of something else that is named like one."""
        match = VMID.fullmatch(path.rpartition("/")[2])
        if match:
            self.configs.append(ConfigFile(path, node, kind, match["vmid"], content))
        else:
            self.strangers.append(path)


def wanted(path: str) -> bool:
    """Return whether a file of /etc/pve matters here."""
    return path.endswith(".conf") or placed(path) is not None or bool(_of_cluster(path))


def _of_cluster(path: str) -> str:
    """Return the end of the path of a file of a whole cluster, "" for any other."""
    return next((end for end in CLUSTER_FILES if f"/{path}".endswith(f"/{end}")), "")


def placed(path: str) -> re.Match[str] | None:
    """Return the site, kind and, where the path tells it, node of a file in a known folder."""
    return OF_NODE.fullmatch(path) or OF_ONE_NODE.fullmatch(path)


def sites(files: Mapping[str, bytes]) -> list[Site]:
    """Return the files by the /etc/pve that they belong to, in order of its path."""
    found: dict[str, Site] = {}
    loose = []

    def at(root: str) -> Site:
        return found.setdefault(root, Site(root))

    for path, content in sorted(files.items()):
        end = _of_cluster(path)
        match = placed(path)
        node = (match.groupdict().get("node") or "") if match else ""
        if end:
            setattr(at(path.removesuffix(end)), CLUSTER_FILES[end], content)
        elif match is None:
            loose.append(path)
        elif match["cpu"]:
            at(match["root"]).cpus[node] = (path, content)
        else:
            at(match["root"]).add(path, node, match["kind"], content)
    structured = any(site.configs or site.strangers for site in found.values())
    for path in loose:
        # /etc/pve has other files that end in .conf: beside its folders only a VMID is a guest.
        if path.rpartition("/")[2] == "cpu-models.conf":
            at("").models = files[path]
        elif not structured or VMID.fullmatch(path.rpartition("/")[2]):
            at("").add(path, "", "qemu-server", files[path])
    return [_without_links(found[root]) for root in sorted(found) if not found[root].empty]


def _without_links(site: Site) -> Site:
    """Leave out what `qemu-server` and `local`, links in /etc/pve, show a second time."""
    placed = {(config.kind, config.vmid, config.content) for config in site.configs if config.node}
    site.configs = [
        config
        for config in site.configs
        if config.node or (config.kind, config.vmid, config.content) not in placed
    ]
    return site
