"""The Debian guest that tests boot: built once by tools/guest_image.sh, kept in a cache.

The cache is `$XDG_CACHE_HOME/unmask` (`~/.cache/unmask`). An image's key is the content of the
script that built it. `python tests/support/guest_image.py` builds it ahead of the tests.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from support import peers

SCRIPT = Path(__file__).parents[2] / "tools" / "guest_image.sh"
BUILD_SECONDS = 1500


@dataclass(frozen=True, slots=True)
class GuestImage:
    """The files of one image; none of them may be written to."""

    directory: Path

    @property
    def disk(self) -> Path:
        """The root file system, raw, to be used below an overlay."""
        return self.directory / "root.ext4"

    @property
    def kernel(self) -> Path:
        return self.directory / "vmlinuz"

    @property
    def initrd(self) -> Path:
        """The initramfs that boots `disk`."""
        return self.directory / "initrd.img"

    @property
    def probe(self) -> Path:
        """The initramfs that prints /proc/cpuinfo to the second serial port and powers off."""
        return self.directory / "probe.img"

    @property
    def luks(self) -> Path:
        """A LUKS2 volume, raw: as its second disk, the guest opens it at boot as "secret"."""
        return self.directory / "luks.raw"

    @property
    def key(self) -> Path:
        """The private key that lets root and `auditor` in over SSH."""
        return self.directory / "id_ed25519"


def cache_directory() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "unmask"


def build() -> GuestImage:
    """Return the image, building it if the cache has none; one builder at a time."""
    key = hashlib.sha256(SCRIPT.read_bytes()).hexdigest()[:16]
    cache = cache_directory()
    cache.mkdir(parents=True, exist_ok=True)
    final = cache / f"guest-{key}"
    with (cache / f"guest-{key}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not final.is_dir():
            _build_into(final)
    return GuestImage(final)


def _build_into(final: Path) -> None:
    for name in ("debootstrap", "mkfs.ext4", "ssh-keygen"):
        peers.program(name)
    partial = Path(tempfile.mkdtemp(prefix=f"{final.name}.", dir=final.parent))
    log = final.with_suffix(".log")
    try:
        with log.open("wb") as output:
            done = subprocess.run(
                peers.as_root("sh", str(SCRIPT), str(partial), str(os.getuid())),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                timeout=BUILD_SECONDS,
                check=False,
                env=peers.environment(),
            )
        if done.returncode != 0:
            tail = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
            raise AssertionError(f"building the guest image failed, {log} says:\n{tail}")
        partial.rename(final)
    finally:
        if partial.exists():
            peers.run(peers.as_root("rm", "-rf", str(partial)), check=False)
            shutil.rmtree(partial, ignore_errors=True)


@pytest.fixture(scope="session")
def guest_image() -> GuestImage:
    """The Debian guest image."""
    return build()
