"""Copies of /etc/pve to read, as directories and archives."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

from unmask.model.inventory import Guest, Inventory
from unmask.model.source import CollectOptions
from unmask.sources.proxmox_files import SOURCE

CPUINFO = (
    "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: Test CPU\n"
    "flags\t\t: fpu sse2 lm aes pclmulqdq svm\n\n"
)
COROSYNC = "totem {\n  cluster_name: yard\n}\nnodelist {\n  node {\n    name: elm\n  }\n}\n"
WHOLE = {
    "corosync.conf": COROSYNC,
    "virtual-guest/cpu-models.conf": "cpu-model: seal\n    flags +aes\n    reported-model EPYC\n",
    "nodes/elm/cpuinfo": CPUINFO,
    "nodes/elm/qemu-server/101.conf": "name: web\ncpu: custom-seal,flags=+nested-virt\n",
    "nodes/elm/lxc/201.conf": "arch: amd64\nhostname: dns\n",
    "nodes/oak/qemu-server/102.conf": "name: db\ncpu: custom-gone\n",
    "storage.cfg": "dir: local\n",
    "ceph.conf": "[global]\n",
}


def write(root: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def archive(path: Path, files: Mapping[str, str | bytes], mode: str = "w") -> Path:
    with tarfile.open(path, mode) as tar:  # type: ignore[call-overload]
        for name, content in files.items():
            data = content if isinstance(content, bytes) else content.encode()
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return path


def collect(target: Path) -> Inventory:
    return SOURCE.collect(str(target), CollectOptions())


def guests(inventory: Inventory) -> dict[str, Guest]:
    return {guest.subject: guest for guest in inventory.guests}


GOOD = {"qemu-server/101.conf": "cpu: EPYC\n"}
"""The smallest copy with a guest in it."""
