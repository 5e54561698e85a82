"""Proxmox VE nodes that are directories: what they would have in /etc/pve, /proc and /sys."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from support import sshd
from support.sshd import Client, Sshd

EXAMPLE = Path(__file__).parents[2] / "examples" / "homelab"

_ENTER = """\
#!/bin/sh
# What sshd runs instead of the command: the same, with this directory as "/" of unmask's script.
PATH={root}/bin:$PATH
export PATH
echo "$PPID $SSH_ORIGINAL_COMMAND" >>{root}/commands
sed "s,^root=''\\$,root='{root}'," | /bin/sh -c "$SSH_ORIGINAL_COMMAND"
"""

_PROGRAMS = {
    "kvm": "echo 'QEMU emulator version 10.1.2 (pve-qemu-kvm_10.1.2-3)'",
    "dpkg-query": r"printf 'pve-manager\t9.1.4\nqemu-server\t9.1.3\n'",
}


@dataclass(frozen=True, slots=True)
class Node:
    """A node's directory, which is "/" to the script."""

    root: Path
    name: str

    @property
    def etc_pve(self) -> Path:
        return self.root / "etc/pve"

    def runs(self, number: int, *words: str) -> None:
        """Let a process run."""
        path = self.root / f"proc/{number}/cmdline"
        path.parent.mkdir(parents=True)
        path.write_bytes("".join(f"{word}\0" for word in words).encode())

    def runs_guest(self, vmid: str, cpu: str, *more: str, program: str = "/usr/bin/kvm") -> None:
        """Let a guest run with a `-cpu`."""
        words = ("-id", vmid, "-name", f"vm{vmid},debug-threads=on", "-cpu", cpu, "-m", "512")
        self.runs(100_000 + int(vmid), program, *words, *more)

    @property
    def commands(self) -> list[str]:
        """What it was asked to run by SSH."""
        path = self.root / "commands"
        lines = path.read_text().splitlines() if path.exists() else []
        return [line.partition(" ")[2] for line in lines]

    def has(self, program: str, script: str) -> None:
        path = self.root / "bin" / program
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def write(self, path: str, content: str) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content)


def node(root: Path, name: str, etc_pve: Path = EXAMPLE) -> Node:
    """Make a node with a copy of `etc_pve`, in which its cpuinfo lies where the copy has it."""
    made = Node(root, name)
    shutil.copytree(etc_pve, made.etc_pve)
    (made.etc_pve / "local").symlink_to(f"nodes/{name}")
    for path in made.etc_pve.glob("nodes/*/cpuinfo"):
        if path.parent.name == name:
            made.write("proc/cpuinfo", path.read_text())
        path.unlink()
    (root / "bin").mkdir()
    for program, script in _PROGRAMS.items():
        made.has(program, script)
    made.runs(1, "/sbin/init")
    made.write("sys/module/kvm_amd/parameters/nested", "1\n")
    made.write("sys/module/kvm/parameters/ignore_msrs", "N\n")
    return made


def force_command(made: Node) -> str:
    """Return the setting with which an sshd is that node."""
    path = made.root / "enter"
    path.write_text(_ENTER.format(root=made.root))
    path.chmod(0o755)
    return f"ForceCommand {path}"


@contextlib.contextmanager
def serving(
    made: Node, user: Client, *, address: str = "127.0.0.1", port: int = 0, settings: str = ""
) -> Iterator[Sshd]:
    """Serve a node by SSH."""
    with sshd.running(
        made.root.with_name(f"{made.root.name}-sshd"),
        user,
        address=address,
        port=port,
        settings=f"{force_command(made)}\n{settings}",
    ) as server:
        yield server


def corosync(cluster: str, nodes: Mapping[str, Sequence[str]]) -> str:
    """Return a corosync.conf with these nodes and their addresses."""
    members = "".join(
        f"  node {{\n    name: {name}\n"
        + "".join(f"    ring{at}_addr: {address}\n" for at, address in enumerate(addresses))
        + "  }\n"
        for name, addresses in nodes.items()
    )
    return f"totem {{\n  cluster_name: {cluster}\n}}\nnodelist {{\n{members}}}\n"
