"""BitLocker's headers, made by hand; cryptsetup and blkid see the same in them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support import peers
from support.disk_images import bitlocker, extent, put
from unmask.dialects.disk import bitlocker as reader
from unmask.dialects.disk.bitlocker import BitLocker

METHODS = {
    0x8000: BitLocker("AES-CBC-128+diffuser"),
    0x8001: BitLocker("AES-CBC-256+diffuser"),
    0x8002: BitLocker("AES-CBC-128"),
    0x8003: BitLocker("AES-CBC-256"),
    0x8004: BitLocker("XTS-AES-128"),
    0x8005: BitLocker("XTS-AES-256"),
    0x0000: BitLocker("none"),
    0x8006: BitLocker(""),
}


@pytest.mark.parametrize("variant", ["7", "vista", "to go"])
@pytest.mark.parametrize("method", METHODS)
def test_methods(method: int, variant: str) -> None:
    assert reader.read(extent(bitlocker(method, variant))) == METHODS[method]


def test_the_first_block_that_is_whole_tells() -> None:
    disk = bitlocker(0x8004)
    block = disk[64 * 1024 : 64 * 1024 + 512]
    put(disk, 192 * 1024, block)
    put(disk, 64 * 1024, bytes(512))
    assert reader.read(extent(disk)) == BitLocker("XTS-AES-128")


@pytest.mark.parametrize("offset", [0, 2**64 - 1, 2**63, 256 * 1024])
def test_a_block_that_is_not_there(offset: int) -> None:
    disk = bitlocker(0x8004)
    put(disk, 176, offset.to_bytes(8, "little") * 3)
    assert reader.read(extent(disk)) == BitLocker()


def test_other_boot_sectors_are_none() -> None:
    assert reader.read(extent(bytes(512))) is None
    assert reader.read(extent(b"\xeb\x58\x90MSWIN4.1".ljust(512, b"\0"))) is None
    assert reader.read(extent(b"\xeb\x58\x90-FVE-FS-")) is None


@pytest.mark.parametrize("variant", ["7", "to go"])
def test_blkid_takes_them_for_bitlocker(variant: str, tmp_path: Path) -> None:
    path = tmp_path / "disk.raw"
    path.write_bytes(bitlocker(0x8004, variant))
    told = peers.run([peers.program("blkid"), "-p", "-o", "export", str(path)]).stdout
    assert "TYPE=BitLocker" in told


CRYPTSETUP = {
    0x8000: "aes-cbc-elephant",
    0x8001: "aes-cbc-elephant",
    0x8002: "aes-cbc-eboiv",
    0x8003: "aes-cbc-eboiv",
    0x8004: "aes-xts-plain64",
    0x8005: "aes-xts-plain64",
}


@pytest.mark.parametrize("method", CRYPTSETUP)
def test_cryptsetup_sees_the_same(method: int, tmp_path: Path) -> None:
    path = tmp_path / "disk.raw"
    path.write_bytes(bitlocker(method))
    told = peers.run([peers.program("cryptsetup"), "bitlkDump", str(path)]).stdout
    assert CRYPTSETUP[method] in told.split()
    # cryptsetup counts the second key of XTS and of the diffuser, the method's name does not.
    keys = 1 if "eboiv" in CRYPTSETUP[method] else 2
    bits = int(re.findall(r"\d{3}", METHODS[method].method)[0])
    assert f"key: {keys * bits} bits" in " ".join(told.split())
