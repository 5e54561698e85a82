"""What disks hold: recorded ones, made ones, and damaged ones of all kinds."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from support import peers
from support.disk_images import (
    FIXTURES,
    MIB,
    bitlocker,
    geli,
    gpt,
    mbr_sector,
    of_file,
    put,
    reader,
    unpacked,
    zfs,
)
from unmask.dialects.disk import contents
from unmask.dialects.disk.medium import LIMIT, MOST
from unmask.errors import InputError, UnreadError
from unmask.model.disk import DiskPart

KINDS = json.loads((FIXTURES / "kinds" / "blkid.json").read_text())
BLKID = {"LVM2_member": "lvm", "linux_raid_member": "linux_raid"}
"""blkid's words that are not ours."""


def read(disk: bytes | bytearray, size: int | None = None) -> tuple[DiskPart, ...]:
    return contents.read(reader(disk), len(disk) if size is None else size)


def test_recorded_gpt_with_luks2() -> None:
    boot, root = read(unpacked("gpt-luks2.head.raw.gz"), 50331648)
    assert boot == DiskPart("", 1, 17408, 1031168, label="biosboot")
    assert root == DiskPart("luks2", 2, MIB, 49266176, "aes-xts-plain64", 512, label="cryptroot")
    assert root.encrypted
    assert not boot.encrypted


def test_recorded_gpt_with_zfs() -> None:
    pool, rest = read(unpacked("gpt-zfs.head.raw.gz"), 83886080)
    assert (pool.kind, pool.number, pool.label) == ("zfs", 1, "fix")
    assert (rest.kind, rest.number) == ("", 9)
    assert not pool.encrypted


def test_recorded_mbr_with_ext4() -> None:
    (part,) = read(unpacked("mbr-ext4.head.raw.gz"), 50331648)
    assert part == DiskPart("ext4", 1, MIB, 49283072)


@pytest.mark.parametrize("name", KINDS)
def test_kinds_are_those_of_blkid(name: str) -> None:
    (part,) = read(unpacked(f"kinds/{name}.gz"), KINDS[name]["size"])
    told = KINDS[name]["type"]
    assert part == DiskPart(BLKID.get(told, told), size=KINDS[name]["size"])


def test_raid_of_linux(tmp_path: Path) -> None:
    disk = bytearray(4 * MIB)
    put(disk, 4096, b"\xfc\x4e\x2b\xa9\x01\0\0\0")
    put(disk, 4096 + 144, (8).to_bytes(8, "little"))
    path = tmp_path / "disk.raw"
    path.write_bytes(disk)
    told = peers.run([peers.program("blkid"), "-p", "-o", "export", str(path)]).stdout
    assert "TYPE=linux_raid_member" in told
    assert read(disk)[0].kind == "linux_raid"


@pytest.mark.parametrize("program", ["mkfs.ext4", "mkswap"])
def test_kinds_that_are_made_here(program: str, tmp_path: Path) -> None:
    path = tmp_path / "disk.raw"
    with path.open("wb") as file:
        file.truncate(8 * MIB)
    peers.run([peers.program(program), "-q", str(path)])
    (part,) = contents.read(*of_file(path))
    assert part.kind == program.removeprefix("mkfs.").replace("mkswap", "swap")


def test_parts_of_all_kinds_on_one_disk() -> None:
    disk = bytearray(16 * MIB)
    sectors = [(4096 * at, 4096 * at + 4095, name) for at, name in enumerate("bgz", 1)]
    gpt(disk, sectors)
    put(disk, 2 * MIB, bitlocker(0x8004, "to go"))
    put(disk, 4 * MIB, geli(2 * MIB, 22, 128))
    put(disk, 6 * MIB, zfs("tank", size=2 * MIB))
    assert read(disk) == (
        DiskPart("bitlocker", 1, 2 * MIB, 2 * MIB, "XTS-AES-128", label="b"),
        DiskPart("geli", 2, 4 * MIB, 2 * MIB, "AES-XTS", 128, label="g"),
        DiskPart("zfs", 3, 6 * MIB, 2 * MIB, label="tank"),
    )


def test_a_volume_on_a_whole_disk_is_no_partition_table() -> None:
    volume = bitlocker(0x8004)
    put(volume, 446, mbr_sector((0x83, 2048, 2048))[446:])
    assert read(volume) == (DiskPart("bitlocker", size=len(volume), cipher="XTS-AES-128"),)


def test_random_data_and_zeros_are_no_kind() -> None:
    noise = random.Random(4).randbytes(MIB)  # noqa: S311 - the same in every run
    for disk in (noise, bytes(MIB), b""):
        assert read(disk) == (DiskPart("", size=len(disk)),)


def test_a_volume_that_encrypts_nothing_is_not_encrypted() -> None:
    (part,) = read(bitlocker(0))
    assert (part.kind, part.cipher, part.encrypted) == ("bitlocker", "none", False)


def test_a_partition_beyond_the_end_has_no_kind() -> None:
    disk = put(bytearray(MIB), 0, mbr_sector((0x83, 4_000_000_000, 4_000_000_000)))
    assert read(disk) == (DiskPart("", 1, 4_000_000_000 * 512, 4_000_000_000 * 512),)


def test_a_partition_that_cannot_be_read_costs_no_other() -> None:
    disk = gpt(bytearray(8 * MIB), [(4096, 8191, "one"), (8192, 12287, "two")])
    put(disk, 4 * MIB, bitlocker(0x8005))

    def broken(offset: int, size: int) -> bytes:
        if 2 * MIB <= offset < 4 * MIB:
            raise UnreadError("a bad sector")
        return bytes(disk[offset : offset + size])

    one, two = contents.read(broken, len(disk))
    assert (one.kind, one.unread) == ("", "a bad sector")
    assert two.encrypted


def test_many_partitions_are_read_up_to_the_limit() -> None:
    sectors = [(2048 * at, 2048 * at + 2047, "") for at in range(1, 129)]
    disk = gpt(bytearray(1024 * 1024), sectors)
    asked = []

    def read_zeros(offset: int, size: int) -> bytes:
        asked.append(size)
        return bytes(disk[offset : offset + size]).ljust(size, b"\0")

    found = contents.read(read_zeros, 2**40)
    assert len(found) == 128
    assert sum(asked) <= LIMIT
    assert "4 MiB" in found[-1].unread


DISKS = {
    "mbr": put(bytearray(MIB), 0, mbr_sector((0x05, 8, 2000), (0x83, 2048, 2048))),
    "gpt": gpt(bytearray(MIB), [(64, 95, "boot"), (128, 255, "root")]),
    "luks1": bytearray(unpacked("luks1.head.raw.gz")),
    "luks2": bytearray(unpacked("luks2.head.raw.gz")),
    "bitlocker": bitlocker(0x8004),
    "geli": geli(MIB, 22, 128),
    "zfs": zfs("tank", size=MIB),
}


@pytest.mark.parametrize("name", DISKS)
def test_damage_is_bounded_and_raises_nothing_else(name: str) -> None:
    chance = random.Random(name)  # noqa: S311 - the same in every run
    disk = DISKS[name]
    live = [at for at, byte in enumerate(disk) if byte] or [0]
    for _ in range(400):
        damaged = bytearray(disk)
        for _ in range(chance.choice((1, 2, 8))):
            damaged[chance.choice(live)] = chance.choice((0, 1, 0x7F, 0x80, 0xFF))
        for data in (damaged, damaged[: chance.choice(live)]):
            _bounded(bytes(data), chance.choice((len(disk), None, 2**50, 513)))


def _bounded(disk: bytes, size: int | None) -> None:
    asked = []

    def counted(offset: int, count: int) -> bytes:
        assert offset >= 0
        assert 0 < count <= MOST
        asked.append(count)
        return disk[offset : offset + count]

    try:
        found = contents.read(counted, size)
    except InputError:
        found = ()
    assert len(found) <= 128
    assert sum(asked) <= LIMIT
    for part in found:
        assert (part.cipher + part.label).isprintable()
