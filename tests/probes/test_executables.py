"""Whose cryptography is built into a listening program, by the words in its executable."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support import peers, probe_shell
from support.probe_shell import MARK
from unmask.model.inside_programs import Library, TlsProcess
from unmask.probes import _reading


@contextmanager
def listening(executable: Path) -> Iterator[None]:
    """Run a program that holds a socket; it has been made before, so that nothing is awaited."""
    with (
        socket.create_server(("127.0.0.1", 0)) as held,
        subprocess.Popen([str(executable), "sleep", "600"], pass_fds=[held.fileno()]) as process,
    ):
        try:
            yield
        finally:
            process.kill()


def processes(place: Path, shell: str) -> dict[str, TlsProcess]:
    argv, path = probe_shell.shell(shell, place)
    probes = tuple(probe for probe in _reading.probes() if probe.name == "tls_processes")
    inside = _reading.read(probe_shell.run(probes, argv, path), MARK, probes)
    return {Path(process.executable).name: process for process in inside.tls_processes.value}


@pytest.mark.parametrize("shell", probe_shell.SHELLS)
@pytest.mark.parametrize(
    ("words", "libraries"),
    [
        ("Go buildinf:", (Library.GO,)),
        ("rustls", (Library.RUSTLS,)),
        ("BoringSSL", (Library.BORINGSSL,)),
        ("OpenSSL 1.1.1w", (Library.OPENSSL,)),
        ("rustls OpenSSL 3.0.20", (Library.OPENSSL, Library.RUSTLS)),
        ("Go buildinf: BoringSSL", (Library.GO,)),
        ("nothing of that kind", ()),
    ],
)
def test_words_in_an_executable(
    tmp_path: Path, shell: str, words: str, libraries: tuple[Library, ...]
) -> None:
    probe_shell.need_root()
    peers.program("ss")
    executable = tmp_path / "busybox"  # it is linked statically, and goes by its name
    shutil.copy(os.path.realpath(peers.program("busybox")), executable)
    with executable.open("ab") as file:
        file.write(b"\0" * 100 + words.encode() + b"\0")
    with listening(executable):
        assert processes(tmp_path / "bin", shell)["busybox"].libraries == libraries
