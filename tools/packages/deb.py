"""unmask_VERSION_all.deb: for Debian 12 and 13, and so for Proxmox VE 8 and 9.

Its Python packages lie in /usr/share/unmask: Debian has no release of some of them that is new
enough, and what lies there is in nobody's way. The files beside this in packaging/deb are in it as
they are, `control` with its fields filled in.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
from email.utils import formatdate
from pathlib import Path

from tools.packages import notices
from tools.packages.distributions import ROOT

PARTS = ROOT / "packaging" / "deb"
MAINTAINER = "The unmask authors <unmask@localhost>"
PRIVATE = "usr/share/unmask"
DOCUMENTS = "usr/share/doc/unmask"
SCRIPTS = ("postinst", "prerm")
SHARED = ("bash-completion", "fish", "man")
"""Folders of the wheel's share/ that Debian has at the same place."""


def build(tree: Path, out: Path, work: Path, epoch: int) -> Path:
    """Build the package of a tree of `bundle.tree` into a folder and return its path.

    Args:
        tree: What `bundle.tree` made.
        out: The folder for the package.
        work: A path where nothing is yet, for the package's own tree.
        epoch: Seconds since 1970 of every file in it.
    """
    if shutil.which("dpkg-deb") is None:
        sys.exit("a Debian package needs dpkg-deb: install dpkg, or name the other kinds only")
    version = debian_version(notices.version(tree / "lib"))
    shutil.copytree(tree / "lib", work / PRIVATE)
    _start(work)
    _documents(tree, work, version, epoch)
    _shared(tree / "share", work)
    _control(work, version)
    _settle(work, epoch)
    path = out / f"unmask_{version}_all.deb"
    subprocess.run(
        ["dpkg-deb", "--root-owner-group", "-Zxz", "--build", str(work), str(path)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return path


def debian_version(version: str) -> str:
    """Return a version of PEP 440 as Debian sorts it: 0.2.0.dev1 and 0.2.0rc1 come before 0.2.0."""
    return re.sub(r"\.?(dev|rc|a|b)(\d+)$", r"~\1\2", version)


def _start(work: Path) -> None:
    program = work / "usr/bin/unmask"
    program.parent.mkdir(parents=True)
    shutil.copyfile(PARTS / "unmask", program)


def _documents(tree: Path, work: Path, version: str, epoch: int) -> None:
    folder = work / DOCUMENTS
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("*.1"))
    shutil.copytree(ROOT / "examples", folder / "examples")
    for name in ("README.md", "CHANGELOG.md"):
        shutil.copyfile(ROOT / name, folder / name)
    (folder / "copyright").write_text(notices.copyright(tree / "lib", PRIVATE), encoding="utf-8")
    entry = (
        f"unmask ({version}) unstable; urgency=medium\n\n"
        f"  * CHANGELOG.md beside this file says what is new.\n\n"
        f" -- {MAINTAINER}  {formatdate(epoch)}\n"
    )
    _zipped(folder / "changelog.gz", entry.encode())
    overrides = work / "usr/share/lintian/overrides/unmask"
    overrides.parent.mkdir(parents=True)
    shutil.copyfile(PARTS / "lintian-overrides", overrides)


def _shared(share: Path, work: Path) -> None:
    """Add the man page and the completions, where Debian's shells look for them."""
    for name in SHARED:
        if (share / name).is_dir():
            shutil.copytree(share / name, work / "usr/share" / name)
    for page in sorted(work.glob("usr/share/man/man*/*")):
        _zipped(page.with_name(f"{page.name}.gz"), page.read_bytes())
        page.unlink()
    functions = share / "zsh/site-functions"
    if functions.is_dir():
        shutil.copytree(functions, work / "usr/share/zsh/vendor-completions")


def _control(work: Path, version: str) -> None:
    files = [path for path in sorted(work.rglob("*")) if path.is_file()]
    folder = work / "DEBIAN"
    folder.mkdir()
    text = (PARTS / "control").read_text(encoding="utf-8")
    size = sum(-(-path.stat().st_size // 1024) for path in files)
    fields = {"version": version, "maintainer": MAINTAINER, "size": str(size)}
    (folder / "control").write_text(text.format_map(fields), encoding="utf-8")
    sums = (
        f"{hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()}  "
        f"{path.relative_to(work)}\n"
        for path in files
    )
    (folder / "md5sums").write_text("".join(sums), encoding="utf-8")
    for name in SCRIPTS:
        shutil.copyfile(PARTS / name, folder / name)


def _settle(work: Path, epoch: int) -> None:
    """Give everything the mode and the time that it has on every machine that builds."""
    programs = {work / "usr/bin/unmask", *(work / "DEBIAN" / name for name in SCRIPTS)}
    for path in (*work.rglob("*"), work):
        path.chmod(0o755 if path.is_dir() or path in programs else 0o644)
        os.utime(path, (epoch, epoch))


def _zipped(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content, compresslevel=9, mtime=0))
