"""How long one command over SSH takes to bring a cluster's configurations, by a real sshd."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.figure import Figure
from support import pve_node, sshd
from support.sshd import Client, Sshd
from unmask.connect import ssh, ssh_address
from unmask.connect.ssh_login import Secrets
from unmask.model.source import CollectOptions
from unmask.sources import _pve_node, proxmox_ssh

GUESTS = 10_000
NODES = 16
ROUNDS = 3
SECONDS = 3.0
WAIT = 120.0

CPUS = ("", "cpu: host\n", "cpu: x86-64-v2-AES\n", "cpu: kvm64,flags=+aes\n", "cpu: Haswell\n")

CONFIG = """\
agent: 1
boot: order=scsi0;net0
cores: 4
{cpu}memory: 8192
meta: creation-qemu=9.0.2,ctime=17305{vmid}
name: guest-{vmid}
net0: virtio=BC:24:11:{vmid},bridge=vmbr0,firewall=1,tag=20
numa: 0
onboot: 1
ostype: l26
scsi0: local-zfs:vm-{vmid}-disk-0,discard=on,iothread=1,size=32G,ssd=1
scsihw: virtio-scsi-single
smbios1: uuid=5e1f0000-0000-4000-8000-0000000{vmid}
sockets: 1
vmgenid: 5e1f0000-0000-4000-9000-0000000{vmid}
"""


def measure(guests: int = GUESTS, rounds: int = ROUNDS) -> list[Figure]:
    """Return the time of the command and of the whole collection; without sshd one that says so."""
    what = f"log in by SSH and bring {guests} configurations in one command, median of {rounds}"
    target = f"within {SECONDS:g} s"
    try:
        with tempfile.TemporaryDirectory(prefix="unmask-") as directory:
            user = sshd.client(Path(directory, "client"))
            made = pve_node.node(Path(directory, "node00"), "node00", _tree(directory, guests))
            with pve_node.serving(made, user) as server:
                user.knows(server)
                command = _median(lambda: _bring(server, user, guests), rounds)
                everything = _median(lambda: _collect(server, user, guests), 1)
    except pytest.skip.Exception as reason:
        return [Figure(what, str(reason), target)]
    return [
        Figure(what, f"{command:.2f} s", target, command < SECONDS),
        Figure("the same, and an inventory made of it", f"{everything:.2f} s", ""),
    ]


def _tree(directory: str, guests: int) -> Path:
    """Write an /etc/pve with so many guests on several nodes."""
    root = Path(directory, "pve")
    for number in range(NODES):
        (root / f"nodes/node{number:02}/qemu-server").mkdir(parents=True)
    for number in range(guests):
        vmid = 10_000 + number
        path = root / f"nodes/node{number % NODES:02}/qemu-server/{vmid}.conf"
        path.write_text(CONFIG.format(vmid=vmid, cpu=CPUS[number % len(CPUS)]))
    return root


def _median(job: Callable[[], None], rounds: int) -> float:
    seconds = []
    for _ in range(rounds):
        began = time.perf_counter()
        job()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds)


def _bring(server: Sshd, user: Client, guests: int) -> None:
    address = ssh_address.parse(server.place)
    with ssh.connect(address, user.options(), Secrets(), WAIT) as session:
        cluster = _pve_node.read_cluster(session, WAIT)
    found = [path for path in cluster.tree.files if "/qemu-server/" in path]
    assert len(found) == guests, f"{len(found)} of {guests} configurations"


def _collect(server: Sshd, user: Client, guests: int) -> None:
    options = CollectOptions(timeout=WAIT, ssh=user.options())
    found = proxmox_ssh.collect(f"pve+ssh://{server.place}", options)
    assert len(found.guests) == guests
