"""Everything that `make package` builds, built once for all tests that look at it."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from unmask import __version__

ROOT = Path(__file__).parents[2]
VERSION = __version__


@dataclass(frozen=True, slots=True)
class Packages:
    """The folder of what was built; nothing in it may be changed."""

    folder: Path

    @property
    def wheel(self) -> Path:
        return self.folder / f"unmask-{VERSION}-py3-none-any.whl"

    @property
    def sdist(self) -> Path:
        return self.folder / f"unmask-{VERSION}.tar.gz"

    @property
    def pyz(self) -> Path:
        return self.folder / "unmask.pyz"

    @property
    def deb(self) -> Path:
        return self.folder / f"unmask_{VERSION}_all.deb"


def build(folder: Path, root: Path = ROOT) -> Packages:
    """Build all packages of this checkout, or of a copy of it, into a folder."""
    subprocess.run(
        [sys.executable, "-m", "tools.packages", str(folder)],
        cwd=root,
        check=True,
        capture_output=True,
        env=os.environ | {"SOURCE_DATE_EPOCH": "1750000000"},
    )
    return Packages(folder)


def names(archive: Path) -> set[str]:
    """Return the paths of all files in a wheel, a zipapp or a tar."""
    if archive.suffix == ".gz":
        with tarfile.open(archive) as tar:
            return {member.name for member in tar if member.isfile()}
    with zipfile.ZipFile(archive) as opened:
        return {name for name in opened.namelist() if not name.endswith("/")}


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Packages:
    """All packages; processes that test side by side share them."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder = shared / "built-packages"
    with (shared / "built-packages.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            partial = shared / "built-packages.partial"
            build(partial)
            partial.rename(folder)
    return Packages(folder)
