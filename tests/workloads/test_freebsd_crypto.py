"""FreeBSD's drivers: what its messages and modules prove of IPsec and of OpenZFS."""

from __future__ import annotations

from typing import Any

import pytest

from support.visited import case, guest, inside
from unmask.model.cpu import HostCpu
from unmask.model.inside import KernelCrypto, System
from unmask.model.inside_storage import Zfs, ZfsDataset, ZfsPool
from unmask.model.inside_tunnels import IpSec, SecurityAssociation
from unmask.model.outlook import NoteKind
from unmask.model.reading import Known, Missing
from unmask.rules.cry010_flag_not_used import RULE

SOFT = "cryptosoft0: software crypto"
FAST = "aesni0: AES-CBC,AES-CCM,AES-GCM,AES-ICM,AES-XTS"
NEITHER = "aesni0: No AES or SHA support."
WHOLE = frozenset(["lm", "ssse3", "sse4_1", "sse4_2", "popcnt", "aes", "pclmulqdq"])
ZFS = Zfs(
    "2.2.4",
    (ZfsPool("tank", "ONLINE"),),
    (ZfsDataset("tank/a", "aes-256-gcm", "filesystem", "available", "tank/a", mounted=True),),
)


def firewall(kernel: Any, cipher: str = "aes-gcm-16", flags: frozenset[str] = WHOLE) -> Any:
    read = inside(
        system=System("FreeBSD", kernel="15.0-CURRENT"),
        cpu=HostCpu("x86_64", flags),
        kernel_crypto=kernel,
        ipsec=IpSec((SecurityAssociation(cipher, protocol="esp"),)),
        zfs=ZFS,
    )
    return case(guest(read))


def statuses(*devices: str, modules: tuple[str, ...] = (), **more: Any) -> dict[str, str]:
    judged = firewall(KernelCrypto(modules, devices=devices), **more)
    return {str(item.workload.kind): item.status for item in judged.workloads}


@pytest.mark.parametrize(
    ("devices", "modules", "status"),
    [
        ((SOFT, FAST), (), "hardware"),
        ((SOFT,), (), "software"),
        ((SOFT,), ("aesni",), "hardware"),  # loaded after those messages
        ((SOFT, "ossl0: AES-CBC"), (), "hardware"),
        ((), (), "hardware"),  # nothing was seen of drivers: the flags have to do
    ],
)
def test_flags_are_used_where_the_driver_is_there(
    devices: tuple[str, ...], modules: tuple[str, ...], status: str
) -> None:
    assert statuses(*devices, modules=modules) == {"ipsec": status, "zfs": status}


def test_a_firewall_that_does_not_load_aesni_does_not_use_what_it_sees() -> None:
    judged = firewall(KernelCrypto(devices=(SOFT,)))
    notes = [item.outlook.noted(NoteKind.UNUSED) for item in judged.workloads]
    assert [len(found) for found in notes] == [1, 1]
    problems = list(RULE.check(judged))
    assert ["kldload aesni" in problem.remedy for problem in problems] == [True, True]
    assert all("aesni(4) is not loaded" in " ".join(each.evidence) for each in problems)


def test_without_the_flags_it_is_they_that_are_missing() -> None:
    judged = firewall(KernelCrypto(devices=(SOFT, NEITHER)), flags=frozenset(("lm", "aes")))
    assert [item.outlook.missing for item in judged.workloads] == [("sse4_1",), ("sse4_1",)]
    assert list(RULE.check(judged)) == []


def test_messages_that_were_not_read_and_other_ciphers_prove_nothing() -> None:
    judged = firewall(Missing("the kernel's log"))
    assert {item.status for item in judged.workloads} == {"hardware"}
    told = statuses(SOFT, cipher="chacha20-poly1305")
    assert told["ipsec"] == "unknown"
    assert isinstance(judged.guest.visit.inside, Known)
