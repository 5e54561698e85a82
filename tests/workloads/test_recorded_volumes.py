"""Booted guests with LUKS, plain dm-crypt, ZFS and gocryptfs, under several CPU models."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support import recorded_volumes
from support.recorded_volumes import NAMES, load
from support.visited import UNSEEN_CPU, case, guest
from unmask.model.case import GuestCase
from unmask.model.cpu import Accelerator
from unmask.model.workload import Activity


def seen(name: str, accelerator: Accelerator = Accelerator.KVM) -> GuestCase:
    return case(guest(load(name), accelerator=accelerator))


def answers(judged: GuestCase) -> dict[str, str]:
    """Return "status missing flags" by "kind name cipher" of what lies on disks."""
    found = {}
    for item in judged.workloads:
        work = item.workload
        if work.kind in ("zfs", "luks", "files"):
            missing = item.outlook.missing if item.outlook else ()
            found[f"{work.kind} {work.name} {work.cipher}".strip()] = " ".join(
                (item.status, *missing)
            )
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_fixture_is_what_the_probes_read(name: str) -> None:
    recorded_volumes.check(name)


@pytest.mark.parametrize(
    ("name", "xts", "gcm", "ccm", "gocryptfs"),
    [
        ("bookworm-max", "hardware", "hardware", "hardware", "hardware"),
        (
            "bookworm-qemu64",
            "software aes",
            "software aes pclmulqdq avx",
            "software aes",
            "software aes pclmulqdq",
        ),
        ("bookworm-Westmere", "hardware", "partial avx", "hardware", "hardware"),
        (
            "bookworm-x86-64-v2-AES",
            "hardware",
            "software pclmulqdq avx",
            "hardware",
            "partial pclmulqdq",
        ),
        ("trixie-max", "hardware", "hardware", "hardware", "hardware"),
    ],
)
def test_verdicts_under_kvm(name: str, xts: str, gcm: str, ccm: str, gocryptfs: str) -> None:
    found = answers(seen(name))
    assert found["luks luksdata aes-xts-plain64"] == xts
    assert found["zfs tank aes-256-gcm"] == gcm
    assert found["zfs tank/ccm aes-256-ccm"] == ccm
    assert found["files /srv/gcmnt"] == gocryptfs


@pytest.mark.parametrize("name", ["bookworm-x86-64-v2-AES.kvmlike", "trixie-x86-64-v2-AES.kvmlike"])
def test_a_kernel_that_was_told_to_overlook_pclmulqdq_does_without(name: str) -> None:
    found = answers(seen(name))
    assert found["luks luksdata aes-xts-plain64"] == "hardware"
    assert found["zfs tank aes-256-gcm"] == "software pclmulqdq avx"
    assert found["zfs tank/ccm aes-256-ccm"] == "hardware"


def test_programs_see_what_the_kernel_was_told_to_overlook() -> None:
    shown = replace(UNSEEN_CPU, model="Westmere", label="Westmere")
    judged = case(guest(load("bookworm-masked.kvmlike"), configured=shown))
    found = answers(judged)
    assert found["luks luksdata aes-xts-plain64"] == "software aes"
    assert found["zfs tank aes-256-gcm"] == "software aes pclmulqdq"
    assert found["files /srv/gcmnt"] == "hardware"
    assert judged.observed
    assert judged.observed.shows("aes", "pclmulqdq")
    assert "its kernel was told to leave these out of its list: aes, pclmulqdq" in (
        judged.observed.steps
    )


def test_what_the_configuration_hides_programs_do_not_see_either() -> None:
    judged = seen("bookworm-masked.kvmlike")
    assert judged.observed
    assert judged.observed.hides("aes")


def test_each_volume_is_reported_once() -> None:
    judged = seen("bookworm-max")
    volumes = [item.workload for item in judged.workloads if item.workload.kind == "luks"]
    assert [(item.name, item.detail) for item in volumes] == [
        ("luksdata", "LUKS2 on vdb, 512-bit key, mounted at /srv/luks"),
        ("oldbackup", "LUKS1 on loop0, 256-bit key"),
        ("swapcrypt", "dm-crypt without a header on loop1, 256-bit key, used as swap"),
    ]
    assert {item.activity for item in volumes} == {Activity.ACTIVE}
    assert {item.driver for item in volumes} == {"xts-aes-aesni"}
    assert volumes[0].evidence == (
        "The device mapper shows luksdata open on vdb: LUKS2, aes-xts-plain64, 512-bit key.",
        "lsblk shows luksdata open on vdb, mounted at /srv/luks.",
        "Its header on vdb says LUKS2, aes-xts-plain64, 512-bit key.",
        "/etc/crypttab names it luksdata and does not open it at boot.",
        "The kernel serves xts(aes) by xts-aes-aesni.",
    )


def test_datasets_of_a_pool_are_grouped_by_cipher() -> None:
    judged = seen("bookworm-max")
    found = {
        (item.workload.name, item.workload.cipher): item.workload
        for item in judged.workloads
        if item.workload.kind == "zfs"
    }
    assert set(found) == {
        ("tank", "aes-256-gcm"),
        ("tank/ccm", "aes-256-ccm"),
        ("tank/vol", "aes-128-gcm"),
    }
    many = found["tank", "aes-256-gcm"]
    assert many.detail == "3 datasets of the pool tank, 1 locked"
    assert many.driver == "icp_gcm_impl=avx"
    assert many.version.startswith("2.1.11")
    assert "zfs list shows aes-256-gcm for tank/secure, tank/secure/child and 1 more." in (
        many.evidence
    )


@pytest.mark.parametrize("name", ["bookworm-max", "bookworm-x86-64-v2-AES"])
def test_under_emulation_everything_is_software(name: str) -> None:
    judged = seen(name, Accelerator.UNKNOWN)
    assert judged.observed
    assert judged.observed.accelerator is Accelerator.TCG
    assert {text.split()[0] for text in answers(judged).values()} == {"software"}
