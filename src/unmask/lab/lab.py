"""The lab: a cluster behind an HTTPS server, for tests and for trying things out.

    with Lab() as lab:
        requests.get(f"{lab.url}/api2/json/nodes", headers=lab.header("audit"), verify=lab.ca_file)

All state is in memory; certificates and the ready-made configuration lie in a temporary folder
that goes when the lab ends.
"""

from __future__ import annotations

import tempfile
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from unmask.errors import UsageError
from unmask.lab import faults, guest_cpu, handout
from unmask.lab.api import Api
from unmask.lab.assembly import assemble
from unmask.lab.certificates import Certificates, make
from unmask.lab.cluster import Cluster
from unmask.lab.edition import Edition
from unmask.lab.faults import Faults
from unmask.lab.server import Desk, LabServer, Seen
from unmask.lab.sessions import Sessions
from unmask.lab.site import Site, packaged

PACE = 0.05
"""Lab seconds per second that Proxmox would take: a refused login takes 0.15 s instead of 3."""

NOT_STARTED = "the lab has not been started"


class Lab:
    """One lab; start it by entering its context."""

    def __init__(
        self,
        site: Site | None = None,
        version: str = "9.2",
        *,
        faults: Sequence[str] = (),
        address: str = "127.0.0.1",
        port: int = 0,
        pace: float = PACE,
        beside: Lab | None = None,
    ) -> None:
        """Prepare a lab.

        Args:
            site: What it starts with; None for the cluster that comes with the program.
            version: Of Proxmox VE: "7.4", "8.4" or "9.2".
            faults: As `unmask.lab.faults` writes them.
            address: Where it listens.
            port: 0 for a free one.
            pace: Lab seconds per second that Proxmox takes for logins refused, tasks and so on;
                1 is as slow as the real one, 0 does everything before it answers.
            beside: A running lab, as another entry to whose cluster this one serves; it takes
                over all but faults, address and port.

        Raises:
            UsageError: There is no such version or fault.
        """
        self.site: Site = beside.site if beside else site or packaged()
        self.cluster: Cluster = (
            beside.cluster if beside else assemble(self.site, Edition(version), pace)
        )
        self.sessions: Sessions = (
            beside.sessions
            if beside
            else Sessions(dict(self.site.secrets), dict(self.site.passwords))
        )
        self._beside = beside
        self.desk = Desk(Api(self.cluster, self.sessions), Faults(), pace)
        self._listens = (address, port)
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._server: LabServer | None = None
        self._thread: threading.Thread | None = None
        self.certificates: Certificates | None = None
        for written in faults:
            self.set_fault(written)

    def __enter__(self) -> Self:
        """Serve."""
        self._folder = tempfile.TemporaryDirectory(prefix="unmask-lab-")
        self.certificates = self._certified()
        self.cluster.fingerprint = self.certificates.fingerprint
        try:
            self._server = LabServer(self._listens, self.certificates.context(), self.desk)
        except OSError:
            self._folder.cleanup()
            raise
        handout.write(self.folder, self.address, self.ca_file, self.tokens)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True
        )
        self._thread.start()
        return self

    def _certified(self) -> Certificates:
        if self._beside and self._beside.certificates:
            return self._beside.certificates
        names = ["localhost", "127.0.0.1", "::1", self._listens[0]]
        names += [word for member in self.cluster.members for word in (member.name, member.address)]
        return make(self.folder, list(dict.fromkeys(names)))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End it and take its folder away."""
        if self._beside is None:
            self.cluster.tasks.stop()
        if self._server and self._thread:
            self._server.shutdown()
            self._server.hang_up()
            self._thread.join()
            self._server.server_close()
        if self._folder:
            self._folder.cleanup()

    @property
    def folder(self) -> Path:
        """Return the temporary folder."""
        if self._folder is None:
            raise RuntimeError(NOT_STARTED)
        return Path(self._folder.name)

    @property
    def port(self) -> int:
        """Return the port on which it listens."""
        if self._server is None:
            raise RuntimeError(NOT_STARTED)
        return int(self._server.server_address[1])

    @property
    def address(self) -> str:
        """Return address and port, such as "127.0.0.1:8006"."""
        host = self._listens[0]
        return f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """Return where it is, such as "https://127.0.0.1:8006"."""
        return f"https://{self.address}"

    @property
    def ca_file(self) -> Path:
        """Return the certificate of the CA that clients should trust."""
        if self.certificates is None:
            raise RuntimeError(NOT_STARTED)
        return self.certificates.ca

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 of the server's certificate, in pairs with colons."""
        return self.cluster.fingerprint

    @property
    def tokens(self) -> Mapping[str, str]:
        """Return the API tokens, "user@realm!id=secret", by what the lab calls them."""
        secrets = self.sessions.secrets
        return {name: f"{token}={secrets[token]}" for name, token in self.site.logins.items()}

    @property
    def passwords(self) -> Mapping[str, str]:
        """Return the passwords, by user."""
        return self.sessions.passwords

    @property
    def config_file(self) -> Path:
        """Return a configuration of unmask with this lab as target `lab`."""
        return self.folder / handout.CONFIG

    def header(self, name: str) -> dict[str, str]:
        """Return the header with which a token logs in."""
        return {"Authorization": f"PVEAPIToken={self.tokens[name]}"}

    def set_fault(self, written: str) -> None:
        """Put a fault in force.

        Raises:
            UsageError: There is no such fault.
        """
        fault = faults.parse(written)
        nodes = [member.name for member in self.cluster.members]
        if fault.kind == "node-down":
            if fault.value > len(nodes):
                raise UsageError(f"The lab has {len(nodes)} nodes, {written!r} names another.")
            self.cluster.offline = {nodes[int(fault.value) - 1]}
        self.desk.faults.set(fault)
        if fault.kind == "no-quorum":
            self.cluster.quorate = False

    def clear_faults(self) -> None:
        """Take all faults away."""
        self.desk.faults.clear()
        self.cluster.offline = set()
        self.cluster.quorate = True
        self.sessions.revoked = False

    def expire_tickets(self) -> None:
        """Let every ticket be as old as it may get, so that a client has to log in again."""
        self.sessions.tickets.clear()

    @property
    def seen(self) -> Sequence[Seen]:
        """Return the requests that were answered, in order."""
        return tuple(self.desk.seen)

    def counts(self) -> Counter[str]:
        """Return how often each route was asked, by "METHOD template"."""
        return Counter(f"{seen.method} {seen.route}" for seen in self.desk.seen)

    @property
    def written(self) -> Sequence[str]:
        """Return every change of the cluster since it started, a sentence each."""
        return tuple(self.cluster.written)

    def described(self) -> Mapping[str, object]:
        """Return what `unmask lab --ready-file` writes."""
        return {
            "url": self.url,
            "ca": str(self.ca_file),
            "fingerprint": self.fingerprint,
            "tokens": dict(self.tokens),
            "passwords": dict(self.passwords),
            "config": str(self.config_file),
            "version": self.cluster.edition.version,
        }

    def tree(self) -> Mapping[str, str]:
        """Return the files of /etc/pve as they are now."""
        with self.cluster.lock:
            return dict(self.cluster.files)

    def cpu_argument(self, vmid: int) -> str:
        """Return the value of -cpu in a running guest's command line, "" if it is stopped."""
        process = self.cluster.process(vmid)
        return guest_cpu.argument(self.cluster, process.values) if process else ""

    def write_tree(self, folder: Path, *, cpuinfo: bool = False) -> None:
        """Write the files of /etc/pve as they are now below `folder`.

        Args:
            folder: Is there already.
            cpuinfo: Also write each node's /proc/cpuinfo to nodes/NODE/cpuinfo, where unmask looks
                for a copy of it.
        """
        files = dict(self.tree())
        if cpuinfo:
            for name, host in self.cluster.hosts.items():
                files[f"nodes/{name}/cpuinfo"] = host.proc_cpuinfo()
        for path, text in files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
