"""What a node tells about itself."""

from __future__ import annotations

import pytest

from unmask.dialects.proxmox.node import Member, facts, members
from unmask.model.inventory import Software


def test_everything_that_a_node_tells() -> None:
    found = facts(
        {
            "node": b"pve1\n",
            "kernel": b"6.14.11-4-pve\n",
            "packages": b"pve-manager\t9.1.4\nqemu-server\t9.1.3\n",
            "qemu": b"QEMU emulator version 10.1.2 (pve-qemu-kvm_10.1.2-3)\nCopyright\n",
            "cpuinfo": b"flags : aes\n",
            "parameter kvm_intel.nested": b"Y",
            "parameter kvm.ignore_msrs": b"N",
            "parameter loop.max_loop": b"8",
            "processes": b"listed\n",
        },
        [b"/usr/bin/kvm\0-id\x00101\0-cpu\0host\0", b"grep\0kvm\0"],
    )
    assert found.name == "pve1"
    assert found.software == Software("Proxmox VE 9.1.4", "10.1.2", "6.14.11-4-pve")
    assert found.version == "9.1.3"
    assert found.parameters == (("kvm.ignore_msrs", "N"), ("kvm_intel.nested", "Y"))
    assert found.processes is not None
    assert [process.vmid for process in found.processes] == ["101"]
    assert found.cpuinfo == b"flags : aes\n"


def test_version_without_the_package_manager() -> None:
    text = b"pve-manager/7.4-3/9002ab8a (running kernel: 5.15.102-1-pve)\n"
    found = facts({"pveversion": text}, [])
    assert found.version == "7.4"
    assert found.software.hypervisor == "Proxmox VE 7.4"


def test_node_that_tells_nothing() -> None:
    found = facts({}, [])
    assert (found.name, found.version, found.cpuinfo) == ("", "9", b"")
    assert found.software == Software("Proxmox VE")
    assert found.processes is None


def test_long_texts_are_cut() -> None:
    found = facts({"kernel": b"k" * 1_000_000, "node": b"\xff\xfe"}, [])
    assert len(found.software.kernel) <= 600
    assert found.name == ""


def test_members_of_a_cluster() -> None:
    text = (
        b'{"nodename": "pve1", "version": 5, "cluster": {"name": "lab", "quorate": 1},'
        b'"nodelist": {"pve2": {"id": 2, "online": 0}, "pve1": {"id": 1, "online": 1, '
        b'"ip": "192.0.2.1"}}}'
    )
    assert members(text) == (
        Member("pve1", online=True, address="192.0.2.1"),
        Member("pve2", online=False, address=""),
    )


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"[]", b'{"nodelist": []}', b'{"nodelist": {"a": 1}}', b"\xff", b"[" * 100_000],
)
def test_members_that_make_no_sense_are_none(content: bytes) -> None:
    assert members(content) == ()
