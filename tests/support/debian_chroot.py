"""A bare Debian to install things into: a chroot with mounts and processes of its own."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from support import peers
from support.built_packages import ROOT

SCRIPT = ROOT / "tools" / "debian_chroot.sh"
SECONDS = 600


@dataclass(frozen=True, slots=True)
class Debian:
    """The root of the system."""

    root: Path

    def run(self, script: str) -> subprocess.CompletedProcess[str]:
        """Run a shell script in it as root, with the way to the network that this machine has."""
        return _run("run", str(self.root), "sh", "-c", script)

    def said(self, script: str) -> str:
        """Return what a script prints; it has to succeed."""
        done = self.run(script)
        assert done.returncode == 0, f"{script}: {done.stdout[-2000:]}{done.stderr[-4000:]}"
        return done.stdout

    def files(self, *places: str) -> set[str]:
        """Return every path below these folders, without those that differ from run to run."""
        listed = self.said(f"find {' '.join(places)} -xdev").splitlines()
        return {name for name in listed if not name.startswith("/var/lib/apt/lists/")}


def base(suite: str) -> Path:
    """Return a tar of a bare Debian, which is built where the cache has none yet."""
    for name in ("debootstrap", "unshare"):
        peers.program(name)
    done = _run("base", suite)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


def unpacked(suite: str, root: Path) -> Debian:
    """Make a directory a bare Debian."""
    base(suite)
    done = _run("unpack", suite, str(root))
    assert done.returncode == 0, done.stderr
    return Debian(root)


def removed(debian: Debian) -> None:
    """Remove it; nothing is mounted in it where no command runs."""
    peers.run(peers.as_root("rm", "-rf", "--one-file-system", str(debian.root)))


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    kept = [f"{name}={os.environ[name]}" for name in ("PIP_CERT",) if name in os.environ]
    home = f"XDG_CACHE_HOME={os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache'}"
    return subprocess.run(
        peers.as_root("env", home, *kept, "sh", str(SCRIPT), *words),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
        env=peers.environment(),
    )
