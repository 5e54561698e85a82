"""What this machine is, from directories that stand for it."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from unmask.checks import machine
from unmask.checks._check import Surroundings
from unmask.config.settings import Settings
from unmask.model.access import Trust
from unmask.model.source import CollectOptions


def around(root: Path) -> Surroundings:
    return Surroundings(
        environment={},
        config=None,
        settings=Settings(),
        fault="",
        targets=(),
        options_for=lambda _: CollectOptions(),
        trust_for=lambda _: Trust(),
        seconds=1,
        progress=lambda _: None,
        root=root,
    )


def said(root: Path) -> list[str]:
    return [f"{item.status} {item.subject}: {item.what}" for item in machine.run(around(root))]


def test_no_hypervisor(tmp_path: Path) -> None:
    assert said(tmp_path) == [
        "ok hypervisor: this machine is none: name a target (unmask audit --help)"
    ]


def test_a_proxmox_node(tmp_path: Path) -> None:
    (tmp_path / "etc/pve").mkdir(parents=True)
    assert "note Proxmox VE" in said(tmp_path)[0]
    assert "is not mounted" in said(tmp_path)[0]
    (tmp_path / "etc/pve/nodes/alder").mkdir(parents=True)
    assert "ok Proxmox VE" in said(tmp_path)[0]


def test_libvirt_by_its_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "var/run/libvirt"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)  # for a path that is short enough
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("libvirt-sock-ro")
        assert "no more than a read-only connection" in said(tmp_path)[0]
        with socket.socket(socket.AF_UNIX) as whole:
            whole.bind("libvirt-sock")
            assert "ok libvirt" in said(tmp_path)[0]


def test_a_cpu_that_could_do_more(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cpuinfo").write_text("flags\t\t: fpu vmx aes\n")
    assert "guests here are emulated" in said(tmp_path)[0]
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/kvm").write_text("")
    assert said(tmp_path)[0].startswith("ok KVM")


def test_a_folder_of_sockets_that_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.exists

    def closed(self: Path) -> bool:
        if "libvirt" in self.parts:
            raise PermissionError(13, "Permission denied", str(self))
        return real(self)

    monkeypatch.setattr(Path, "exists", closed)
    assert said(tmp_path)[0].startswith("note libvirt: ")
    assert "is closed to this user" in said(tmp_path)[0]
