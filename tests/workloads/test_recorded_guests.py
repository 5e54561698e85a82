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


def found(
    cpu: str, accelerator: Accelerator = Accelerator.KVM, system: str = "bookworm"
) -> dict[str, JudgedWorkload]:
    """Return the workloads of the recorded guest by kind and name, judged as on that hypervisor."""
    seen = guest(Recording(system, cpu).inside(), accelerator=accelerator)
    return {
        f"{item.workload.kind} {item.workload.name}": item
        for item in case(seen).workloads
        if item.workload.kind in NETWORK
    }


CPUS = ("kvm64", "qemu64", "x86-64-v2", "x86-64-v2-AES.kvmlike", "Westmere", "max", "EPYC-Rome")


@pytest.mark.parametrize(
    ("system", "cpu"),
    [
        *(("bookworm", cpu) for cpu in CPUS),
        ("trixie", "max"),
        ("trixie", "qemu64"),
        ("trixie", "x86-64-v2-AES.kvmlike"),
    ],
)
def test_the_workloads_are_the_same_whatever_the_cpu(system: str, cpu: str) -> None:
    judged = found(cpu, system=system)
    assert {name: item.workload.consumer for name, item in judged.items()} == {
        "backup borg": "borg",
        "backup restic": "restic",
        "ipsec ESP": "ipsec",
        "openvpn /etc/openvpn/server/server.conf": "openvpn",
        "samba samba": "gnutls",
        "ssh OpenSSH_9.2p1": "openssl",
        "tls caddy": "go",
        "tls haproxy": "openssl",
        "tls nginx": "openssl",
        "wireguard wg0": "wireguard",
    }


SHORT = {
    "tls nginx": "nginx",
    "tls caddy": "caddy",
    "openvpn /etc/openvpn/server/server.conf": "openvpn",
    "ipsec ESP": "ipsec",
    "wireguard wg0": "wireguard",
    "samba samba": "samba",
    "backup restic": "restic",
    "backup borg": "borg",
}


def verdicts(cpu: str, accelerator: Accelerator = Accelerator.KVM) -> dict[str, str]:
    judged = found(cpu, accelerator)
    return {short: judged[name].status for name, short in SHORT.items()}


@pytest.mark.parametrize("cpu", ["kvm64", "qemu64"])
def test_without_aes_and_without_ssse3_all_is_software(cpu: str) -> None:
    assert set(verdicts(cpu).values()) == {"software"}
    judged = found(cpu)
    assert judged["tls nginx"].outlook.missing == ("aes", "pclmulqdq")  # type: ignore[union-attr]
    wireguard = judged["wireguard wg0"].outlook
    assert wireguard
    assert wireguard.missing == ("ssse3", "avx2")
    assert any("AES flags play no part" in note.text for note in wireguard.notes)


def test_aes_without_pclmulqdq_serves_disks_and_backups_and_not_gcm_in_programs() -> None:
    assert verdicts("x86-64-v2-AES.kvmlike") == {
        "nginx": "partial",
        "caddy": "partial",
        "openvpn": "partial",
        "samba": "partial",
        "ipsec": "hardware",  # the kernel does not look for it
        "restic": "hardware",
        "borg": "hardware",
        "wireguard": "partial",
    }
    caddy = found("x86-64-v2-AES.kvmlike")["tls caddy"].outlook
    assert caddy
    assert caddy.missing == ("pclmulqdq",)
    assert caddy.factor == pytest.approx(0.04, abs=0.005)
    assert any("prefers ChaCha20-Poly1305 by itself" in note.text for note in caddy.notes)


def test_ssse3_alone_is_part_of_what_wireguard_wants() -> None:
    verdict = verdicts("x86-64-v2")
    assert verdict.pop("wireguard") == "partial"
    assert set(verdict.values()) == {"software"}


@pytest.mark.parametrize("cpu", ["max", "EPYC-Rome"])
def test_with_all_flags_all_is_hardware(cpu: str) -> None:
    assert set(verdicts(cpu).values()) == {"hardware"}


def test_an_emulated_cpu_makes_nothing_fast() -> None:
    assert set(verdicts("max", Accelerator.TCG).values()) == {"software"}


def test_the_kernels_driver_is_that_of_the_association() -> None:
    driver = {cpu: found(cpu)["ipsec ESP"].workload.driver for cpu in CPUS}
    assert driver["max"] == "rfc4106-gcm-aesni"
    assert driver["qemu64"] == "gcm_base(ctr(aes-generic),ghash-generic)"
    newer = found("max", system="trixie")["ipsec ESP"].workload
    assert newer.driver == "rfc4106-gcm-aesni-avx"


def test_a_user_without_rights_sees_the_ports_and_is_told_what_is_lacking() -> None:
    seen = case(guest(Recording("bookworm", "x86-64-v2-AES.kvmlike").as_nobody()))
    tls = [item for item in seen.workloads if item.workload.kind is WorkloadKind.TLS]
    assert {(item.workload.name, item.status) for item in tls} == {
        ("nginx", "partial"), ("port 8443", "unknown"), ("port 9443", "unknown"),
    }  # fmt: skip
    assert {item.workload.name for item in seen.workloads} >= {"wg0", "openvpn", "OpenSSH_9.2p1"}
    unread = [(item.kind, item.needs) for item in seen.unread if item.kind in NETWORK]
    assert unread == [(WorkloadKind.TLS, "root in the guest")]
