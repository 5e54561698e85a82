"""What real guests print of their disks, answered as its collectors judged it, where present."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.visited import case, guest, inside, without_volumes
from unmask.model.cpu import HostCpu
from unmask.model.inside import Inside, System
from unmask.model.inside_storage import Zfs
from unmask.model.workload import Activity, JudgedWorkload, WorkloadKind
from unmask.probes import block_devices, crypttab, dm_crypt, signatures, zfs
from unmask.probes._bounds import bounded
from unmask.probes._section import printable

FOLDER = Path(__file__).parents[3] / "shared" / "corpus"
V2_AES = HostCpu("x86_64", frozenset(("aes", "ssse3", "sse4_1", "sse4_2", "popcnt")))


def text(name: str) -> str:
    if not FOLDER.is_dir():
        pytest.skip("the corpus of real configurations is not here")
    return printable((FOLDER / name).read_bytes().decode("utf-8", errors="replace"))


def found(seen: Inside, kind: WorkloadKind) -> list[JudgedWorkload]:
    """Return the workloads of one kind; there must be none of another."""
    judged = case(guest(seen)).workloads
    assert {item.workload.kind for item in judged} <= {kind}
    return list(judged)


def with_cpu(**readings: Any) -> Inside:
    known = {name: bounded(value) for name, value in readings.items()}
    return without_volumes(cpu=V2_AES, **known)


def test_an_encrypted_root_without_names() -> None:
    devices = block_devices.parse_json(text("wl-001-lsblk-json-sbctl.json"))
    (item,) = found(with_cpu(block_devices=devices), WorkloadKind.LUKS)
    assert (item.workload.name, item.workload.activity) == ("/", Activity.ACTIVE)
    assert item.status == "hardware"


def test_a_data_volume_that_is_open() -> None:
    devices = block_devices.parse_json(text("wl-002-lsblk-json-luks-data.json"))
    (item,) = found(with_cpu(block_devices=devices), WorkloadKind.LUKS)
    work = item.workload
    assert (work.name, work.activity) == ("data_crypt", Activity.ACTIVE)
    assert work.detail == "LUKS on sdb1, mounted at /srv/data"


def test_two_volumes_in_a_tree() -> None:
    devices = block_devices.parse_tree(text("wl-003-lsblk-tree-omv.txt"))
    items = found(with_cpu(block_devices=devices), WorkloadKind.LUKS)
    assert [item.workload.name for item in items] == ["vdc-crypt", "vdd-crypt"]
    assert {item.workload.activity for item in items} == {Activity.ACTIVE}


def test_one_bitlocker_volume_that_needs_aes() -> None:
    entries = crypttab.parse_text(text("wl-005-crypttab-bitlk.txt"))
    (item,) = found(with_cpu(crypttab=entries), WorkloadKind.BITLOCKER)
    assert item.outlook
    assert (item.status, item.outlook.cipher) == ("hardware", "xts")
    hidden = without_volumes(cpu=HostCpu("x86_64", frozenset()), crypttab=bounded(entries))
    (item,) = found(hidden, WorkloadKind.BITLOCKER)
    assert item.outlook
    assert (item.status, item.outlook.missing) == ("software", ("aes",))


def test_a_key_in_the_keyring_is_no_secret_that_gets_out() -> None:
    mappings = dm_crypt.parse_table(text("wl-006-dmsetup-table-luks2-keyring.txt"))
    (item,) = found(with_cpu(dm_crypt=mappings), WorkloadKind.LUKS)
    work = item.workload
    assert (work.cipher, work.detail) == ("aes-xts-plain64", "LUKS2, 512-bit key")
    assert "logon" not in repr(work)


def test_two_mappings() -> None:
    mappings = dm_crypt.parse_table(text("wl-008-dmsetup-target-crypt-named.txt"))
    items = found(with_cpu(dm_crypt=mappings), WorkloadKind.LUKS)
    assert [item.workload.name for item in items] == ["sda1_crypt", "store-root"]


@pytest.mark.parametrize(
    "name", ["wl-009-blkid-mixed-bitlocker.txt", "wl-010-blkid-bitlocker-unordered.txt"]
)
def test_bitlocker_among_other_partitions(name: str) -> None:
    signs = signatures.parse_text(text(name))
    items = case(guest(with_cpu(signatures=signs))).workloads
    bitlocker = [item for item in items if item.workload.kind is WorkloadKind.BITLOCKER]
    assert [(item.workload.name, item.workload.activity) for item in bitlocker] == [
        ("nvme0n1p3", Activity.CLOSED)
    ]


def test_two_datasets_that_need_aes_and_pclmulqdq() -> None:
    datasets = zfs.parse_datasets(text("wl-011-zfs-list-encryption-windows.txt"))
    seen = inside(system=System("Windows"), cpu=V2_AES, zfs=bounded(Zfs("2.2.6", (), datasets)))
    (item,) = found(seen, WorkloadKind.ZFS)
    assert (item.workload.name, item.workload.consumer) == ("tank", "openzfs")
    assert item.workload.detail.startswith("2 datasets of the pool tank")
    assert item.outlook
    assert item.outlook.missing == ("pclmulqdq", "avx")
    assert item.outlook.cipher == "gcm"
