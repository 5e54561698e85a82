"""A real libvirtd of our own, apart from any that the machine runs.

The daemon lives in a mount and a process namespace in which /run and libvirt's directories are
ours. It therefore knows no domain but the tests', no domain of the machine is ever touched, it runs
beside a system libvirtd without contending for its locks, and when its first process dies the
kernel ends every guest with it: nothing is left behind, not even after a crash of the tests.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from support import peers

START_SECONDS = 60
PREFIX = "unmask-test-"
"""How every domain's name begins."""

NAMESPACES = (
    *("unshare", "--mount", "--propagation=private", "--pid", "--fork", "--kill-child"),
    "--mount-proc",
)

# The last line is not `exec libvirtd`: the namespace's first process has to reap the guests.
_ENTER = """
set -e
mount --bind "$1/run" /run
for name in etc:/etc/libvirt lib:/var/lib/libvirt cache:/var/cache/libvirt log:/var/log/libvirt
do
    mkdir -p "${name#*:}"
    mount --bind "$1/${name%%:*}" "${name#*:}"
done
libvirtd & wait
"""

_DAEMON_SETTINGS = """
auth_unix_ro = "none"
auth_unix_rw = "none"
unix_sock_rw_perms = "0777"
log_outputs = "3:stderr"
"""

# Logs go to files, which spares virtlogd; confinement profiles are for paths of system guests.
# Guests run as root: where their user may not open /dev/kvm and the daemon may, libvirt takes what
# it knows of QEMU for outdated and probes it anew at every call.
_QEMU_SETTINGS = """
stdio_handler = "file"
security_driver = "none"
namespaces = []
dynamic_ownership = 0
remember_owner = 0
user = "+0"
group = "+0"
"""


@dataclass(frozen=True, slots=True)
class Libvirtd:
    """The running daemon."""

    directory: Path
    """Holds its state; guests' files may go into `directory / "guests"`."""
    init: int
    """The process id of the first process in its namespaces."""

    @property
    def socket(self) -> Path:
        return self.directory / "run" / "libvirt" / "libvirt-sock"

    @property
    def uri(self) -> str:
        """The daemon's address from outside its namespaces."""
        return f"qemu:///system?socket={self.socket}"

    def inside(self, *argv: str) -> list[str]:
        """Return the command line that runs `argv` where `qemu:///system` is this daemon."""
        enter = ("nsenter", f"--target={self.init}", "--mount", "--pid", "--root")
        # Where the tests run in a chroot, entering leaves the working directory outside of it.
        return peers.as_root(*enter, "env", f"--chdir={Path.cwd()}", *argv)

    def virsh(self, *argv: str, stdin: str = "", timeout: float = 120) -> str:
        return peers.run(
            ["virsh", "-q", "-c", self.uri, *argv], stdin=stdin, timeout=timeout
        ).stdout

    def define(self, *xml: str) -> None:
        """Define one domain for each document, all in one go."""
        with tempfile.TemporaryDirectory(prefix="unmask-define-") as directory:
            commands = []
            for number, document in enumerate(xml):
                path = Path(directory) / f"{number}.xml"
                path.write_text(document)
                commands.append(f"define {path}")
            self.virsh(stdin="\n".join([*commands, ""]))

    def remove_domains(self) -> None:
        """Stop and forget every domain of this daemon, all of which are the tests'."""
        for name in self.virsh("list", "--name").split():
            self.virsh("destroy", name)
        names = self.virsh("list", "--all", "--name").split()
        self.virsh(stdin="".join(f"undefine --managed-save {name}\n" for name in names))


def _first_shell(parent: int, deadline: float) -> int:
    """Return the namespace's first process, a `sh` below `parent`.

    sudo and unshare may stand between. The whole line is walked again at every look, since the
    shell carries its parent's name until it has been executed.
    """
    while time.monotonic() < deadline:
        child = _child(parent)
        while child:
            try:
                name = Path(f"/proc/{child}/comm").read_text().strip()
            except OSError:
                break
            if name == "sh":
                return child
            child = _child(child)
        time.sleep(0.05)
    raise AssertionError("the namespace's first process does not appear")


def _child(parent: int) -> int:
    """Return the first child of a process, 0 where it has none."""
    try:
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    except OSError:
        return 0
    return int(children[0]) if children else 0


def _prepare(directory: Path) -> None:
    for name in ("run", "etc", "lib", "cache", "log", "guests"):
        (directory / name).mkdir()
    (directory / "etc" / "libvirtd.conf").write_text(_DAEMON_SETTINGS)
    (directory / "etc" / "qemu.conf").write_text(_QEMU_SETTINGS)


def _wait(daemon: Libvirtd, process: subprocess.Popen[bytes], deadline: float) -> None:
    while time.monotonic() < deadline and process.poll() is None:
        answer = peers.run(["virsh", "-c", daemon.uri, "version"], check=False)
        if answer.returncode == 0:
            return
        time.sleep(0.2)
    log = (daemon.directory / "libvirtd.log").read_text()
    raise AssertionError(f"libvirtd did not answer within {START_SECONDS} s:\n{log}")


def _require() -> None:
    for name in ("libvirtd", "virsh", "qemu-system-x86_64", "nsenter", "setpriv"):
        peers.program(name)
    trial = peers.run(peers.as_root(*NAMESPACES, "true"), check=False)
    if trial.returncode != 0:
        peers.missing(
            f"the right to make mount and process namespaces: {trial.stderr.strip()} (in a "
            "chroot: its root must be a mount point)"
        )


@contextmanager
def private_libvirtd() -> Iterator[Libvirtd]:
    """Run a libvirtd with the QEMU driver and no domains for as long as the context lasts."""
    _require()
    directory = Path(tempfile.mkdtemp(prefix="unmask-"))
    directory.chmod(0o755)
    _prepare(directory)
    enter = [*NAMESPACES, "sh", "-c", _ENTER, "sh", str(directory)]
    deadline = time.monotonic() + START_SECONDS
    with (directory / "libvirtd.log").open("wb") as log:
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig=KILL", *peers.as_root(*enter)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=peers.environment(),
        )
    init = 0
    try:
        init = _first_shell(process.pid, deadline)
        daemon = Libvirtd(directory, init)
        _wait(daemon, process, deadline)
        yield daemon
    finally:
        if init:
            peers.run(peers.as_root("sh", "-c", f"kill -KILL {init}"), check=False)
        else:
            process.kill()
        process.wait(timeout=30)
        peers.run(peers.as_root("rm", "-rf", str(directory)), check=False)
        shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture(scope="session")
def libvirtd() -> Iterator[Libvirtd]:
    """A private libvirtd that all tests of the session share."""
    with private_libvirtd() as daemon:
        yield daemon


@pytest.fixture
def empty_libvirtd(libvirtd: Libvirtd) -> Iterator[Libvirtd]:
    """The private libvirtd; what a test defines or starts in it is gone afterwards."""
    yield libvirtd
    libvirtd.remove_domains()
