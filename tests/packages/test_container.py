"""packaging/Containerfile, built by buildah without a daemon, on a Debian made here.

The base image that it names is in a registry that a test does not ask: what stands in for it is a
bare Debian of the same release.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from support import debian_chroot, peers
from support.built_packages import ROOT, VERSION

FILE = ROOT / "packaging" / "Containerfile"
SECONDS = 900

pytestmark = [pytest.mark.peer, pytest.mark.timeout(1200)]


@dataclass(frozen=True, slots=True)
class Buildah:
    """Images and containers in a folder of the test's own."""

    folder: Path

    def __call__(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        places = ("--root", str(self.folder / "store"), "--runroot", str(self.folder / "run"))
        argv = peers.as_root(peers.program("buildah"), *places, "--storage-driver", "vfs", *words)
        return peers.run(argv, timeout=SECONDS, check=check)


@pytest.fixture(scope="module")
def buildah(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Buildah]:
    """The image, built."""
    folder = tmp_path_factory.mktemp("buildah")
    run = Buildah(folder)
    try:
        base = run("from", "scratch").stdout.strip()
        run("add", base, str(debian_chroot.base("trixie")), "/")
        run("commit", base, "localhost/debian:base")
        options = ["--isolation=chroot", "--pull-never", f"--ignorefile={FILE}.dockerignore"]
        options += ["--build-arg=BASE=localhost/debian:base", f"--file={FILE}"]
        run("bud", *options, *authorities(folder), "--tag=localhost/unmask", str(ROOT))
        yield run
    finally:
        peers.run(peers.as_root("rm", "-rf", "--one-file-system", str(folder)))


def authorities(folder: Path) -> list[str]:
    """Return what makes pip trust in a build what PIP_CERT says outside it."""
    if "PIP_CERT" not in os.environ:
        return []
    shutil.copy(os.environ["PIP_CERT"], folder / "authorities.pem")
    (folder / "pip.conf").write_text("[global]\ncert = /run/authorities.pem\n", encoding="utf-8")
    return [
        f"--volume={folder}/authorities.pem:/run/authorities.pem:ro",
        f"--volume={folder}/pip.conf:/etc/pip.conf:ro",
    ]


@pytest.fixture(scope="module")
def container(buildah: Buildah) -> str:
    return buildah("from", "--pull-never", "localhost/unmask").stdout.strip()


def test_it_starts_unmask_as_a_user_without_rights(buildah: Buildah) -> None:
    told = json.loads(buildah("inspect", "--type", "image", "localhost/unmask").stdout)
    config = told["OCIv1"]["config"]
    assert config["Entrypoint"] == ["unmask"]
    assert config["User"] == "unmask"
    assert config["WorkingDir"] == "/data"
    assert not any("TOKEN" in line or "CERT" in line for line in config["Env"])


def test_it_audits_what_is_mounted_read_only(buildah: Buildah, container: str) -> None:
    mount = f"--volume={ROOT / 'examples/homelab'}:/data/pve:ro"
    options = ("run", "--isolation=chroot", mount, container, "--")
    assert buildah(*options, "id", "-u").stdout == "1000\n"
    assert buildah(*options, "unmask", "--version").stdout == f"unmask {VERSION}\n"
    said = buildah(*options, "unmask", "audit", "pve", "--fail-on", "never").stdout
    assert "22 guests on 3 hosts" in said
    written = ("audit", "pve", "--fail-on", "never", "--output", "/data/report.html")
    assert buildah(*options, "unmask", *written).stdout == ""
    assert buildah(*options, "touch", "/opt/unmask/x", check=False).returncode != 0


def test_it_has_what_libvirt_and_ssh_need(buildah: Buildah, container: str) -> None:
    options = ("run", "--isolation=chroot", container, "--")
    libvirt = ("audit", "test:///default", "--fail-on", "never")
    assert "1 guest on 1 host" in buildah(*options, "unmask", *libvirt).stdout
    refused = buildah(*options, "unmask", "audit", "ssh://nobody@127.0.0.1:1", check=False)
    assert "nothing listens there" in refused.stderr


def test_it_brings_no_build_tools_along(buildah: Buildah, container: str) -> None:
    options = ("run", "--isolation=chroot", container, "--", "sh", "-c")
    there = buildah(*options, "ls -d /build /opt/unmask/bin/pip; command -v gcc", check=False)
    assert there.stdout == ""
