"""The OpenSSL programs that can be run here: the system's, and others that were unpacked.

`tools/openssl_versions.sh` unpacks Debian's packages of other releases into
~/.cache/unmask/openssl, one folder each, with the C library that they want.
"""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

UNPACKED = Path.home() / ".cache/unmask/openssl"


@dataclass(frozen=True, slots=True)
class OpenSsl:
    """One openssl program."""

    version: str
    """"3.0.19"."""
    command: tuple[str, ...]
    libraries: str = ""

    def run(self, *arguments: str, mask: str = "") -> str:
        """Return what it prints, with OPENSSL_ia32cap set to `mask` unless that is empty."""
        environment = {**os.environ, "LC_ALL": "C", "OPENSSL_CONF": "/dev/null"}
        environment.pop("OPENSSL_ia32cap", None)
        if mask:
            environment["OPENSSL_ia32cap"] = mask
        if self.libraries:
            environment["LD_LIBRARY_PATH"] = self.libraries
        command = [*self.command, *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True,
                              timeout=60).stdout  # fmt: skip


def programs() -> list[OpenSsl]:
    """Return every OpenSSL program that runs here, the system's own first."""
    own = shutil.which("openssl")
    commands: list[tuple[tuple[str, ...], str]] = [((own,), "")] if own else []
    for folder in sorted(UNPACKED.glob("*/usr/lib/*-linux-gnu")):
        program = str(folder.parents[1] / "bin/openssl")
        loader = next(folder.glob("ld-linux*"), None)
        if not Path(program).exists():
            continue
        if loader:
            commands.append(((str(loader), "--library-path", str(folder), program), ""))
        else:
            commands.append(((program,), str(folder)))
    return [_program(command, libraries) for command, libraries in commands]


def printing() -> list[OpenSsl]:
    """Return those that tell which capabilities they see: 3.0 and newer."""
    return [program for program in programs() if int(program.version.split(".")[0]) >= 3]


def _program(command: tuple[str, ...], libraries: str) -> OpenSsl:
    said = OpenSsl("", command, libraries).run("version")
    return OpenSsl(said.split()[1], command, libraries)
