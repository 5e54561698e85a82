"""Guests that were booted under many CPU models: the same workloads, and the right verdicts."""

from __future__ import annotations

import pytest

from support.recorded_guest import Recording
from support.visited import case, guest
from unmask.model.cpu import Accelerator
from unmask.model.workload import JudgedWorkload, WorkloadKind

NETWORK = frozenset(WorkloadKind) - {
    WorkloadKind.ZFS, WorkloadKind.LUKS, WorkloadKind.GELI, WorkloadKind.BITLOCKER,
    WorkloadKind.FILES,
}  # fmt: skip


def found(cpu: str, accelerator: Accelerator = Accelerator.KVM) -> dict[str, JudgedWorkload]:
    """Return the workloads of the recorded guest by kind and name, judged as on that hypervisor."""
    seen = guest(Recording("bookworm", cpu).inside(), accelerator=accelerator)
    return {
        f"{item.workload.kind} {item.workload.name}": item
        for item in case(seen).workloads
        if item.workload.kind in NETWORK
    }


CPUS = ("kvm64", "qemu64", "x86-64-v2", "x86-64-v2-AES.kvmlike", "Westmere", "max", "EPYC-Rome")


@pytest.mark.parametrize("cpu", CPUS)
def test_the_workloads_are_the_same_whatever_the_cpu(cpu: str) -> None:
    assert {name: item.workload.consumer for name, item in found(cpu).items()} == {
        "backup borg": "borg",
        "backup restic": "restic",
        "ipsec ESP rfc4106(gcm(aes))": "ipsec",
        "openvpn /etc/openvpn/server/server/conf": "openvpn",
        "samba samba": "gnutls",
        "ssh OpenSSH_9.2p1": "openssl",
        "tls caddy": "go",
        "tls haproxy": "openssl",
        "tls nginx": "openssl",
        "wireguard wg0": "wireguard",
    }


STATUS = {
    "kvm64": "software software software software software not-known",
    "Westmere": "hardware",
}


def statuses(cpu: str, accelerator: Accelerator = Accelerator.KVM) -> dict[str, str]:
    names = {
        "tls nginx": "nginx", "tls caddy": "caddy", "openvpn /etc/openvpn/server/server/conf": "openvpn",
        "ipsec ESP rfc4106(gcm(aes))": "ipsec", "wireguard wg0": "wireguard",
        "samba samba": "samba", "backup restic": "restic", "backup borg": "borg",
        "ssh OpenSSH_9.2p1": "ssh",
    }  # fmt: skip
    judged = found(cpu, accelerator)
    return {short: judged[name].status for name, short in names.items()}


def test_print() -> None:
    for cpu in CPUS:
        print(cpu, statuses(cpu))
        for name, item in found(cpu).items():
            print("   ", name, item.status, item.outlook and (item.outlook.missing, item.outlook.factor, item.outlook.how), item.workload.driver)
    print(statuses("max", Accelerator.TCG))
    assert 0
