"""A lab with a big cluster, in a process of its own: python -m benchmarks.big_cluster.

It prints one line of JSON when it serves, and another one for each line that it reads: how many
requests it has answered and how many seconds of processor time it has used so far. It ends with its
standard input.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unmask.lab.lab import Lab
from unmask.lab.site import Site, packaged

CPUS = ("x86-64-v2", "x86-64-v2-AES", "kvm64", "host", "x86-64-v3,flags=+aes", "")
TOKEN = "root@pam!bench"  # noqa: S105 - the name of a token
SECRET = "00000000-bench"  # noqa: S105 - of a lab that ends with the benchmark


def site(guests: int, nodes: int) -> Site:
    """Return a cluster with so many guests, one in ten of which has a pending change."""
    names = [f"node{number:02}" for number in range(1, nodes + 1)]
    base = packaged()
    host = base.hosts[min(base.hosts)]
    files = {"corosync.conf": _corosync(names), "user.cfg": _users()}
    for number in range(guests):
        path = f"nodes/{names[number % nodes]}/qemu-server/{1000 + number}.conf"
        files[path] = _guest(number)
    return Site(
        files=files,
        hosts=dict.fromkeys(names, host),
        running=frozenset(1000 + number for number in range(0, guests, 2)),
        logins={"bench": TOKEN},
        secrets={TOKEN: SECRET},
    )


def _guest(number: int) -> str:
    cpu = CPUS[number % len(CPUS)]
    lines = [f"name: guest-{number}", "memory: 2048", "cores: 2", "ostype: l26"]
    lines += [f"cpu: {cpu}"] if cpu else []
    lines += [f"net0: virtio=BC:24:11:00:{number // 256:02X}:{number % 256:02X},bridge=vmbr0"]
    lines += [f"scsi0: local-lvm:vm-{1000 + number}-disk-0,size=32G", "scsihw: virtio-scsi-single"]
    if number % 10 == 0:
        lines += ["[PENDING]", "cpu: host"]
    return "\n".join(lines) + "\n"


def _corosync(names: list[str]) -> str:
    nodes = "".join(
        f"  node {{\n    name: {name}\n    nodeid: {number}\n    ring0_addr: 10.0.0.{number}\n"
        "  }\n"
        for number, name in enumerate(names, 1)
    )
    return f"nodelist {{\n{nodes}}}\ntotem {{\n  cluster_name: big\n  version: 2\n}}\n"


def _users() -> str:
    return f"user:root@pam:1:0:::::\ntoken:{TOKEN}:0:0::\n"


@dataclass(frozen=True, slots=True)
class Served:
    """What the server says of itself."""

    requests: int
    seconds: float
    """Of processor time."""


class BigCluster:
    """The lab's process."""

    def __init__(self, process: subprocess.Popen[str], ready: Mapping[str, str]) -> None:
        self._process = process
        self.address = ready["address"]
        self.ca_file = ready["ca"]

    def served(self) -> Served:
        """Return what it has done so far."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write("\n")
        stdin.flush()
        told: dict[str, Any] = json.loads(stdout.readline())
        return Served(told["requests"], told["seconds"])


@contextmanager
def running(guests: int, nodes: int, latency: float) -> Iterator[BigCluster]:
    """Start it with so many seconds before every answer."""
    words = [sys.executable, "-m", "benchmarks.big_cluster", str(guests), str(nodes), str(latency)]
    root = Path(__file__).parents[1]
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root
    )
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        yield BigCluster(process, json.loads(process.stdout.readline()))
    finally:
        process.stdin.close()
        process.wait(timeout=20)
        process.stdout.close()


def serve(guests: int, nodes: int, latency: float) -> None:
    """Serve until standard input ends."""
    with Lab(site(guests, nodes), faults=[f"latency={latency}"]) as lab:
        _tell({"address": lab.address, "ca": str(lab.ca_file)})
        for _ in sys.stdin:
            _tell({"requests": len(lab.seen), "seconds": time.process_time()})


def _tell(facts: Mapping[str, object]) -> None:
    print(json.dumps(facts), flush=True)


if __name__ == "__main__":
    serve(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
