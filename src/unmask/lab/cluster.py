"""The state of the cluster: the files of /etc/pve, the running guests, the tasks, the logs."""

from __future__ import annotations

import copy
import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from unmask.dialects.proxmox import custom_models, section_file
from unmask.dialects.proxmox.cpu_option import CpuOption
from unmask.lab import accounts, guest_file
from unmask.lab.accounts import Accounts
from unmask.lab.answer import Refused
from unmask.lab.edition import Edition
from unmask.lab.guest_agent import GuestAgent
from unmask.lab.guest_file import GuestFile, Values
from unmask.lab.host import Host
from unmask.lab.membership import Member
from unmask.lab.tasks import Tasks

MODELS = "virtual-guest/cpu-models.conf"


@dataclass(slots=True)
class Process:
    """A running QEMU (or container)."""

    pid: int
    start: float
    """Unix time."""
    values: Values
    """The options that it was started with."""
    paused: bool = False


@dataclass(slots=True)
class Cluster:
    """Everything that the API answers from."""

    edition: Edition
    files: dict[str, str]
    """Text by path below /etc/pve."""
    hosts: Mapping[str, Host]
    members: tuple[Member, ...]
    name: str
    tasks: Tasks
    agents: dict[int, GuestAgent] = field(default_factory=dict)
    without_acpi: frozenset[int] = frozenset()
    """Guests that do not react to a request to power down."""
    running: dict[int, Process] = field(default_factory=dict)
    offline: set[str] = field(default_factory=set)
    entry_node: str = ""
    """The node whose pveproxy answers; "" for the first one that is there."""
    quorate: bool = True
    """Without quorum corosync sees the entry node only, while all of them can be reached."""
    fingerprint: str = ""
    """SHA-256 of the certificate, in pairs with colons; the lab has one for all nodes."""
    lock: threading.RLock = field(default_factory=threading.RLock)
    written: list[str] = field(default_factory=list)
    """Every change of a file or of a running guest, a sentence each."""
    started: float = field(default_factory=time.time)
    _parsed: dict[str, tuple[str, GuestFile]] = field(default_factory=dict)
    _accounts: tuple[str, Accounts] | None = None
    _models: tuple[str, Mapping[str, CpuOption]] | None = None
    _sections: dict[str, tuple[str, Mapping[str, Mapping[str, str]]]] = field(default_factory=dict)

    def entry(self) -> str:
        """Return the node whose pveproxy answers."""
        return self.entry_node or next(
            (member.name for member in self.members if member.name not in self.offline),
            self.members[0].name,
        )

    def absent(self, node: str) -> bool:
        """Return whether corosync does not see a node."""
        return node in self.offline or (not self.quorate and node != self.entry())

    def accounts(self) -> Accounts:
        """Return what user.cfg says now."""
        text = self.files.get("user.cfg", "")
        if self._accounts is None or self._accounts[0] != text:
            self._accounts = (text, accounts.parse(text, self.edition))
        return self._accounts[1]

    def models(self) -> Mapping[str, CpuOption]:
        """Return the custom CPU models, by name without their prefix."""
        text = self.files.get(MODELS, "")
        if self._models is None or self._models[0] != text:
            self._models = (text, custom_models.parse(text, self.edition.version).models)
        return self._models[1]

    def guests(self, kind: str = "qemu-server") -> dict[int, str]:
        """Return the node of every guest of a kind ("qemu-server" or "lxc"), by its id."""
        found = {}
        for path in self.files:
            match = re.fullmatch(rf"nodes/([^/]+)/{kind}/([0-9]+)\.conf", path)
            if match:
                found[int(match[2])] = match[1]
        return dict(sorted(found.items()))

    def path_of(self, node: str, vmid: int) -> str:
        """Return the path of a guest's file.

        Raises:
            Refused: It is not on that node.
        """
        path = f"nodes/{node}/qemu-server/{vmid}.conf"
        if path not in self.files:
            raise Refused(f"Configuration file '{path}' does not exist")
        return path

    def guest(self, node: str, vmid: int) -> GuestFile:
        """Return a guest's parsed file, to be looked at.

        One worker's cache is played: a file is parsed again when its text has changed.

        Raises:
            Refused: It is not on that node.
        """
        return self._read(self.path_of(node, vmid))

    def _read(self, path: str) -> GuestFile:
        text = self.files[path]
        cached = self._parsed.get(path)
        if cached is None or cached[0] != text:
            parsed = guest_file.read(text, self.models(), self.edition.version)
            cached = self._parsed[path] = (text, parsed)
        return cached[1]

    def forget_parsed(self) -> None:
        """Let every file be parsed again: what a worker does that has not read them yet."""
        self._parsed.clear()

    def opened(self, node: str, vmid: int) -> GuestFile:
        """Return a guest's file to be changed and then stored.

        What was dropped when it was parsed is gone for good with the next write, as for Proxmox.
        """
        return copy.deepcopy(self.guest(node, vmid))

    def digest(self, path: str) -> str:
        """Return the digest of a file, of "" if it is not there."""
        return guest_file.digest(self.files.get(path, ""))

    def store(self, path: str, text: str, why: str) -> None:
        """Write a file.

        Raises:
            Refused: There is no quorum, so that pmxcfs refuses.
        """
        if not self.quorate:
            number = 20000 + len(self.written)
            raise Refused(f"unable to open file '/etc/pve/{path}.tmp.{number}' - Permission denied")
        if self.files.get(path) != text:
            self.written.append(f"{why}: {path}")
        self.files[path] = text

    def remove(self, path: str, why: str) -> str:
        """Take a file away and return its text."""
        self.written.append(f"{why}: {path} is gone")
        self._parsed.pop(path, None)
        return self.files.pop(path)

    def need_quorum(self) -> None:
        """Refuse where the cluster has no majority."""
        if not self.quorate:
            raise Refused("cluster not ready - no quorum?")

    def process(self, vmid: int) -> Process | None:
        """Return the running guest, None if it is stopped."""
        return self.running.get(vmid)

    def began(self, vmid: int, values: Values) -> None:
        """Let a guest run."""
        self.written.append(f"guest {vmid} started")
        self.running[vmid] = Process(30000 + len(self.written) * 13, time.time(), dict(values))
        agent = self.agents.get(vmid)
        if agent:
            agent.restarted()

    def ended(self, vmid: int) -> None:
        """Let a guest stop."""
        self.written.append(f"guest {vmid} stopped")
        self.running.pop(vmid, None)

    def member(self, node: str) -> Member | None:
        """Return the node of that name."""
        return next((member for member in self.members if member.name == node), None)

    def section_file(self, path: str) -> Mapping[str, Mapping[str, str]]:
        """Return the sections of a configuration such as storage.cfg: "type: id" to its keys."""
        text = self.files.get(path, "")
        cached = self._sections.get(path)
        if cached is None or cached[0] != text:
            cached = self._sections[path] = (text, section_file.parse(text))
        return cached[1]
