"""A folder with unmask and the pure-Python packages that it needs: any Python from 3.11 on runs it.

Packages that are compiled for one Python and one machine stay out. They are Debian's, or missing.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from tools.packages.distributions import ROOT

REQUIREMENTS = ROOT / "packaging" / "requirements.txt"
CACHE = ROOT / "build"

COMPILED = frozenset({"bcrypt", "cffi", "cryptography", "pycparser", "pynacl"})
"""What paramiko needs and Debian's python3-paramiko brings: nothing in them works uncompiled."""

ACCELERATED = frozenset({"markupsafe"})
"""Packages that do the same without their compiled parts, only slower."""

UNWANTED = ("*.pyi", "__pycache__", "bin", ".agents")
METADATA = frozenset({"METADATA", "licenses", "LICENSE", "LICENSE.txt", "LICENCE", "COPYING"})
"""What is kept of a package's .dist-info; the rest is about how pip installed it."""


def tree(wheel: Path, folder: Path) -> Path:
    """Fill a new folder with the wheel, its shared files and its packages, and return it.

    `folder/lib` holds Python's packages, `folder/share` the man page and the completions.
    """
    shutil.copytree(_packages(), folder / "lib")
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            top, _, rest = name.partition("/")
            if top.endswith(".data"):
                _extract(archive, name, folder / rest.removeprefix("data/"))
            else:
                _extract(archive, name, folder / "lib" / name)
    _clean(folder / "lib")
    return folder


def names() -> list[str]:
    """Return the requirements of the bundle, as pip reads them, with their hashes."""
    text = REQUIREMENTS.read_text(encoding="utf-8")
    blocks = re.findall(r"^[a-z].*(?:\n[ \t]+.*)*", text, re.MULTILINE)
    return [block for block in blocks if block.partition("==")[0] not in COMPILED]


def _packages() -> Path:
    """Return a folder with the pinned packages; they are installed once for each list of them."""
    wanted = "\n".join(names()) + "\n"
    final = CACHE / f"bundle-{hashlib.sha256(wanted.encode()).hexdigest()[:16]}"
    if final.is_dir():
        return final
    CACHE.mkdir(exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f"{final.name}.", dir=CACHE))
    listed = partial / "requirements.txt"
    listed.write_text(wanted, encoding="utf-8")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary=:all:", "--require-hashes", "--no-compile"]
    done = subprocess.run(
        [*command, "--target", str(partial), "--requirement", str(listed)], check=False
    )
    if done.returncode != 0:
        sys.exit("pip cannot fetch the packages of packaging/requirements.txt, see above")
    listed.unlink()
    _purify(partial)
    try:
        partial.rename(final)
    except OSError:  # somebody else was quicker
        if not final.is_dir():
            raise
        shutil.rmtree(partial)
    return final


def _purify(folder: Path) -> None:
    """Take out what is compiled, where that leaves a package that works."""
    for path in sorted(folder.rglob("*.so")):
        name = path.relative_to(folder).parts[0]
        if name not in ACCELERATED:
            sys.exit(f"{name} has compiled parts: name it in COMPILED or ACCELERATED of {__file__}")
        path.unlink()


def _clean(folder: Path) -> None:
    for pattern in UNWANTED:
        for path in sorted(folder.rglob(pattern)):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for info in sorted(folder.glob("*.dist-info")):
        for path in sorted(info.iterdir()):
            if path.name not in METADATA:
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def _extract(archive: zipfile.ZipFile, name: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(archive.read(name))
