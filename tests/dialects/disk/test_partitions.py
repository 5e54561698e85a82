"""Partition tables, made by hand and by sfdisk."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import peers
from support.disk_images import MIB, extent, gpt, mbr_sector, of_file, put
from unmask.dialects.disk import partitions
from unmask.dialects.disk.medium import Medium, whole
from unmask.dialects.disk.partitions import MOST_PARTITIONS, Partition


def test_primary_partitions() -> None:
    disk = mbr_sector((0x83, 2048, 4096), (0, 0, 0), (0x07, 8192, 2048))
    assert partitions.read(extent(disk, 8 * MIB)) == (
        Partition(1, MIB, 2 * MIB),
        Partition(3, 4 * MIB, MIB),
    )


def test_logical_partitions_are_numbered_from_5() -> None:
    disk = bytearray(8 * MIB)
    put(disk, 0, mbr_sector((0x83, 2048, 2048), (0x05, 4096, 12288)))
    put(disk, 4096 * 512, mbr_sector((0x83, 8, 1000), (0x05, 4096, 4096)))
    put(disk, 8192 * 512, mbr_sector((0x8E, 16, 500)))
    assert partitions.read(extent(disk)) == (
        Partition(1, MIB, MIB),
        Partition(5, 4104 * 512, 1000 * 512),
        Partition(6, 8208 * 512, 500 * 512),
    )


@pytest.mark.parametrize("following", [0, 2**32 - 1, 2**31])
def test_a_chain_of_logical_partitions_that_goes_in_circles_ends(following: int) -> None:
    disk = bytearray(4 * MIB)
    put(disk, 0, mbr_sector((0x05, 2048, 4096)))
    put(disk, 2048 * 512, mbr_sector((0x83, 8, 8), (0x05, following, 8)))
    found = partitions.read(extent(disk))
    assert found == (Partition(5, 2056 * 512, 4096),)


def test_a_chain_of_logical_partitions_has_a_length() -> None:
    disk = bytearray(MIB)
    put(disk, 0, mbr_sector((0x05, 1, 2000)))
    for sector in range(1, 2000):
        put(disk, sector * 512, mbr_sector((0x83, 1, 1), (0x05, sector, 1)))
    assert len(partitions.read(extent(disk)) or ()) == MOST_PARTITIONS


@pytest.mark.parametrize(
    "sector",
    [
        bytes(512),
        mbr_sector(),
        mbr_sector((0x83, 2048, 4096))[:510] + b"\0\0",
        b"\x01" * 510 + b"\x55\xaa",
        mbr_sector((0x83, 2048, 4096))[:300],
    ],
    ids=["zeros", "empty table", "no signature", "a boot sector", "short"],
)
def test_what_is_no_table(sector: bytes) -> None:
    assert partitions.read(extent(sector, MIB if len(sector) == 512 else len(sector))) is None


@pytest.mark.parametrize("sector", [512, 4096])
@pytest.mark.parametrize("backup", [False, True])
@pytest.mark.parametrize("step", [128, 256])
def test_gpt(sector: int, backup: bool, step: int) -> None:  # noqa: FBT001
    disk = bytearray(4 * MIB)
    gpt(disk, [(64, 95, "boot"), (128, 255, "größe")], sector=sector, step=step, backup=backup)
    if step != 128 and backup:
        return  # the table of the helper would run into the header
    assert partitions.read(extent(disk)) == (
        Partition(1, 64 * sector, 32 * sector, "boot"),
        Partition(2, 128 * sector, 128 * sector, "größe"),
    )


@pytest.mark.parametrize("at", [512, 512 + 16, 512 + 24, 512 + 72, 512 + 80, 512 + 84])
def test_a_damaged_header_gives_way_to_the_one_at_the_end(at: int) -> None:
    disk = gpt(bytearray(4 * MIB), [(64, 95, "at the end")], backup=True)
    whole_one = gpt(bytearray(4 * MIB), [(64, 95, "at the start")])
    put(disk, 512, whole_one[512 : 512 * 34])
    assert [each.name for each in partitions.read(extent(disk)) or ()] == ["at the start"]
    disk[at] ^= 0xFF
    assert [each.name for each in partitions.read(extent(disk)) or ()] == ["at the end"]


def test_without_the_protective_entry_there_is_no_gpt() -> None:
    disk = gpt(bytearray(4 * MIB), [(64, 95, "boot")])
    put(disk, 0, mbr_sector((0x83, 2048, 2048)))
    assert partitions.read(extent(disk)) == (Partition(1, MIB, MIB),)


def test_a_protective_entry_alone_is_no_partition() -> None:
    disk = put(bytearray(MIB), 0, mbr_sector((0xEE, 1, 2000)))
    assert partitions.read(extent(disk)) == ()


@pytest.mark.parametrize("label", ["gpt", "dos"])
def test_tables_of_sfdisk(label: str, tmp_path: Path) -> None:
    path = tmp_path / "disk.raw"
    with path.open("wb") as file:
        file.truncate(64 * MIB)
    script = f"label: {label}\n2048 4096\n8192 8192\n"
    if label == "dos":
        script += "20480 40960 E\n,4096\n,8192\n"
    peers.run([peers.program("sfdisk"), "--quiet", str(path)], stdin=script)
    dump = peers.run([peers.program("sfdisk"), "--dump", str(path)]).stdout
    expected = []
    for line in dump.splitlines():
        if line.startswith(str(path)) and "type=5" not in line:
            fields = dict(
                part.replace(" ", "").split("=", 1)
                for part in line.partition(" : ")[2].split(",")
                if "=" in part
            )
            number = int(line.split()[0].removeprefix(str(path)))
            expected.append((number, int(fields["start"]) * 512, int(fields["size"]) * 512))
    found = partitions.read(whole(Medium(*of_file(path)))) or ()
    assert [(each.number, each.offset, each.size) for each in found] == expected
    assert len(expected) == {"gpt": 2, "dos": 4}[label]
