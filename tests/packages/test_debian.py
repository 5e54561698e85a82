"""The Debian package and the zipapp on bare systems: those of Proxmox VE 8 and 9.

Each test goes on where the one before it ended, as an administrator would.
"""

from __future__ import annotations

import re
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import debian_chroot, peers
from support.built_packages import ROOT, VERSION, Packages
from support.debian_chroot import Debian

APT = "apt-get install --yes --quiet --no-install-recommends"
PLACES = ("/usr", "/etc", "/var")
SUITES = {"bookworm": "3.11", "trixie": "3.13"}
"""Of Debian, and the Python that each one has."""

pytestmark = [pytest.mark.peer, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module", params=SUITES)
def debian(
    request: pytest.FixtureRequest, packages: Packages, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Debian]:
    """A Debian with Python and nothing else, a copy of /etc/pve, and the packages in /opt."""
    peers.program("debootstrap")
    system = debian_chroot.unpacked(request.param, tmp_path_factory.mktemp(request.param) / "root")
    try:
        shutil.copytree(ROOT / "examples/homelab", system.root / "etc/pve")
        for package in (packages.pyz, packages.deb):
            shutil.copy(package, system.root / "opt")
        system.said(f"apt-get update --quiet && {APT} python3")
        version = system.said("python3 -c 'import sys; print(*sys.version_info[:2], sep=chr(46))'")
        assert version.strip() == SUITES[request.param]
        yield system
    finally:
        debian_chroot.removed(system)


@pytest.fixture(scope="module")
def before(debian: Debian) -> set[str]:
    """What the system had before unmask was installed."""
    return debian.files(*PLACES)


def test_the_zipapp_reads_a_node_with_nothing_but_python(debian: Debian) -> None:
    said = debian.said("/opt/unmask.pyz audit --fail-on never")
    assert "CLU002" in said
    assert "22 guests on 3 hosts" in said
    assert (
        "<!doctype html>"
        in debian.said("/opt/unmask.pyz audit /etc/pve --fail-on never --format html").lower()
    )


@pytest.mark.parametrize(
    ("target", "package"),
    [
        ("ssh://nobody@127.0.0.1:1", "python3-paramiko"),
        ("qemu:///system", "python3-libvirt"),
    ],
)
def test_the_zipapp_names_debians_package_for_what_it_cannot_do(
    debian: Debian, target: str, package: str
) -> None:
    done = debian.run(f"/opt/unmask.pyz audit {target}")
    assert done.returncode == 3
    assert done.stderr.endswith(f"which is not installed: run apt install {package}\n")
    assert done.stderr.count("\n") == 1


def test_the_package_installs_and_audits_a_node(debian: Debian, before: set[str]) -> None:
    debian.said(f"{APT} /opt/unmask_{VERSION}_all.deb")
    added = debian.files(*PLACES) - before
    assert "/usr/bin/unmask" in added
    assert any(name.startswith("/usr/share/unmask/unmask/__pycache__/") for name in added)
    assert debian.said("unmask --version") == f"unmask {VERSION}\n"
    assert debian.said("unmask audit --fail-on never") == debian.said(
        "/opt/unmask.pyz audit --fail-on never"
    )
    assert f"version {VERSION}" in debian.said("unmask doctor")


def test_with_debians_compiled_packages_it_speaks_ssh_and_libvirt(debian: Debian) -> None:
    debian.said(f"{APT} python3-paramiko python3-libvirt openssh-server")
    assert "test" in debian.said("unmask audit test:///default --fail-on never")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    said = debian.said(f"""
        set -e
        mkdir -p /run/sshd /root/.ssh
        chmod 700 /root/.ssh
        [ -e /root/.ssh/id_ed25519 ] || ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_ed25519
        cp /root/.ssh/id_ed25519.pub /root/.ssh/authorized_keys
        /usr/sbin/sshd -o ListenAddress=127.0.0.1:{port} -o PidFile=none
        unmask audit ssh://root@127.0.0.1:{port} --accept-new-host-key --fail-on never
    """)
    assert "1 guest" in said or "machine" in said


def test_the_emulated_cluster_starts_with_debians_cryptography(debian: Debian) -> None:
    said = debian.said("""
        set -e
        unmask lab --port 0 --for 60 --ready-file /tmp/ready.json >/dev/null 2>&1 &
        until [ -s /tmp/ready.json ]; do sleep 0.1; done
        config=$(python3 -c 'import json; print(json.load(open("/tmp/ready.json"))["config"])')
        unmask audit --config "$config" --fail-on never inside
        kill $!
    """)
    assert "101 truenas" in said


def test_removing_it_leaves_nothing(debian: Debian, before: set[str]) -> None:
    debian.said("apt-get purge --yes --quiet unmask")
    left = {name for name in debian.files(*PLACES) - before if "unmask" in name}
    assert left == set()


def test_the_packages_that_the_page_on_installing_names_are_there(debian: Debian) -> None:
    page = (ROOT / "docs/install.md").read_text(encoding="utf-8")
    named = re.findall(r"apt install ([a-z0-9 .-]+?)(?: +#|`|\n)", page)
    packages = sorted({name for line in named for name in line.split() if name[0] not in ".-"})
    assert {"python3-paramiko", "libvirt-dev", "pipx"} <= set(packages)
    debian.said(f"apt-cache show {' '.join(packages)} >/dev/null")


def test_the_shells_find_the_completions(debian: Debian, packages: Packages) -> None:
    """bash-completion loads the file when Tab is pressed after the name; zsh as a function."""
    debian.said(f"{APT} /opt/{packages.deb.name} bash-completion zsh")
    offered = debian.said("""bash -c '
        . /usr/share/bash-completion/bash_completion
        _completion_loader unmask
        COMP_WORDS=(unmask aud) COMP_CWORD=1 COMP_LINE="unmask aud" COMP_POINT=10
        _unmask_completion unmask aud unmask
        printf "%s\\n" "${COMPREPLY[@]}"
    '""")
    assert offered.split() == ["audit"]
    loaded = debian.said("""zsh -fc '
        autoload -U compinit && compinit -u -D && print -r -- $_comps[unmask]
    '""")
    assert loaded.strip() == "_unmask"


def test_nothing_stays_mounted(debian: Debian) -> None:
    mounts = Path("/proc/mounts").read_text(encoding="utf-8")
    assert str(debian.root) not in mounts
