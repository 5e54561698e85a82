"""A libvirt host that cannot be read: one sentence, exit code 3, and the other targets go on."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from support import peers
from support.domain_xml import document
from support.libvirtd import PREFIX, Libvirtd
from support.unmask_command import Answer, audit


def said_once(answer: Answer, *words: str) -> None:
    assert answer.code == 3
    assert answer.output == ""
    assert len(answer.errors.splitlines()) == 1, answer.errors
    for word in words:
        assert word in answer.errors


@pytest.fixture
def address(tmp_path: Path) -> Path:
    """A path short enough for a socket."""
    return Path(os.path.relpath(tmp_path / "socket")) if len(str(tmp_path)) > 90 else tmp_path / "s"


def uri(path: Path) -> str:
    return f"qemu:///system?socket={path}"


def test_no_libvirtd(address: Path) -> None:
    said_once(audit(uri(address)), str(address), "libvirtd")


def test_libvirtd_has_died(address: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(address))
    said_once(audit(uri(address)), str(address))


def test_socket_is_not_ours(address: Path) -> None:
    """Root may do anything, so root gives up the right to; its children cannot get it back."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(address))
        listener.listen()
        through: tuple[str, ...] = ()
        if os.geteuid() == 0:
            os.chown(address, 65534, 65534)
            program = peers.program("setpriv")
            through = (program, "--bounding-set=-dac_override,-dac_read_search")
        address.chmod(0o600 if os.geteuid() == 0 else 0)
        said_once(audit(uri(address), through=through), str(address), "may not open")


def test_the_other_target_is_audited(empty_libvirtd: Libvirtd, address: Path) -> None:
    empty_libvirtd.define(document(PREFIX + "there"))
    answer = audit(uri(address), empty_libvirtd.uri)
    assert answer.code == 3
    assert set(answer.guests) == {PREFIX + "there"}
    assert [gap["subject"] for gap in answer.report["gaps"]] == [uri(address)]
    assert len(answer.errors.splitlines()) == 1
