"""What booted guests printed, as the probes would have read it, where the recordings are present.

The recordings were made with other commands than the probes': each is laid into the part of the
section that the probe's own command would have filled. `ldd` stands for /proc/PID/maps where that
was not recorded.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.visited import inside, parsed
from unmask.dialects import cpuinfo
from unmask.model.inside import Inside, System
from unmask.model.reading import Missing

FOLDER = Path(__file__).parents[3] / "shared" / "guests"
DENIED = Missing("only root may read it", "root in the guest")
_LOADED = re.compile(r"\b(?:lib\S+\.so\S*)")


class Recording:
    """The outputs of one booted guest."""

    def __init__(self, system: str, cpu: str) -> None:
        self.folder = FOLDER / system / cpu
        if not self.folder.is_dir():
            pytest.skip("the recordings of booted guests are not here")

    def text(self, name: str) -> str:
        """Return one output; "" where it was not recorded."""
        path = self.folder / f"{name}.txt"
        return path.read_text(encoding="utf-8") if path.is_file() else ""

    def inside(self) -> Inside:
        """Return what root would have read."""
        return inside(
            system=System("Linux", kernel=self.text("uname_a").split()[2], machine="x86_64"),
            cpu=cpuinfo.parse(self.text("cpuinfo")),
            crypto_drivers=parsed(
                "crypto_drivers", **{"/proc/crypto": self.text("proc_crypto_instantiated")}
            ),
            openssl=parsed("openssl", version=self.text("openssl_version_a")),
            listeners=parsed("listeners", sockets=self.text("ss_lntup")),
            tls_processes=parsed("tls_processes", processes=self._processes()),
            tls_services=self._services(),
            openvpn=parsed(
                "openvpn",
                version=self.text("openvpn_version"),
                **{"/etc/openvpn/server/server.conf": self.text("openvpn_config")},
            ),
            ipsec=parsed(
                "ipsec",
                xfrm=self.text("ip_xfrm_state"),
                version="strongSwan swanctl 5.9.8\n",
                stats=self.text("swanctl_stats"),
                connections=self.text("swanctl_list_conns"),
            ),
            wireguard=parsed("wireguard", interfaces="wg0\n", ports="wg0\t51820\n", peers="wg0\n"),
            ssh=parsed("ssh", version="OpenSSH_9.2p1\n", effective=self.text("sshd_T")),
            samba=parsed("samba", version="Version 4.17.12\n", settings=self.text("testparm")),
            backups=parsed(
                "backups",
                packages=self.text("dpkg_versions"),
                schedules="restic\t/etc/cron.d/backup\nborg\t/etc/cron.d/backup\n",
            ),
            databases=(),
        )

    def as_nobody(self) -> Inside:
        """Return what a user without rights would have read of its sockets and programs."""
        return inside(
            system=System("Linux", kernel=self.text("uname_a").split()[2], machine="x86_64"),
            cpu=cpuinfo.parse(self.text("cpuinfo")),
            openssl=parsed("openssl", version=self.text("openssl_version_a")),
            listeners=parsed("listeners", sockets=self.text("ss_lntup_nobody")),
            tls_processes=DENIED,
            tls_services=self._services(),
            openvpn=(),
            ipsec=parsed("ipsec"),
            wireguard=parsed("wireguard", interfaces="wg0\n"),
            ssh=parsed("ssh", version="OpenSSH_9.2p1\n"),
        )

    def _services(self) -> object:
        lines = self.text("nginx_T_tls").splitlines()
        text = "\n".join(line.partition(":\t")[2] or line.partition(":")[2] for line in lines)
        return parsed("tls_services", **{"/etc/nginx/nginx.conf": text})

    def _processes(self) -> str:
        """Return the probe's lines: pid, name, executable, libraries."""
        libraries = self._mapped() or self._linked()
        rows = []
        for row in self.text("ps_daemons").splitlines()[1:]:
            pid, _, name = row.split()[:3]
            loaded = libraries.get(name, [])
            if name == "caddy":
                loaded = ["Gobuildinf!"]
            rows.append(f"{pid}\t{name}\t/usr/sbin/{name}\t{' '.join(loaded)}\n")
        return "".join(rows)

    def _mapped(self) -> dict[str, list[str]]:
        """Return the libraries that each program has mapped; none where that was not recorded."""
        rows = (line.split() for line in self.text("proc_maps_tls").splitlines())
        return {row[0]: [path.rpartition("/")[2] for path in row[1:]] for row in rows if row}

    def _linked(self) -> dict[str, list[str]]:
        """Return the libraries that each program is linked with."""
        libraries: dict[str, list[str]] = {}
        program = ""
        for line in self.text("ldd").splitlines():
            if line.startswith("/"):
                program = line.rstrip(":").rpartition("/")[2]
            elif found := _LOADED.search(line):
                libraries.setdefault(program, []).append(found[0])
        return libraries
