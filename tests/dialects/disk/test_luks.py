"""LUKS headers, recorded and made by cryptsetup."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path
from typing import Any

import pytest

from support import peers
from support.disk_images import FIXTURES, MIB, extent, of_file, put, unpacked
from unmask.dialects.disk import luks
from unmask.dialects.disk.luks import Luks
from unmask.dialects.disk.medium import Medium, whole

SEGMENT = {"type": "crypt", "encryption": "aes-xts-plain64", "sector_size": 512}
TREE = {
    "segments": {"0": SEGMENT},
    "keyslots": {"3": {"type": "luks2", "key_size": 32}},
    "digests": {"0": {"type": "pbkdf2", "segments": ["0"], "keyslots": ["3"]}},
}


def luks2(tree: Any, *, size: int = 16384, second: bool = False) -> bytes:
    """Return a binary header with the JSON after it."""
    magic = luks.SECOND_MAGIC if second else luks.MAGIC
    head = struct.pack(">6sHQQ48s", magic, 2, size, 1, b"data").ljust(256, b"\0")
    head += struct.pack(">Q", size if second else 0)
    text = tree if isinstance(tree, bytes) else json.dumps(tree).encode()
    return (head.ljust(4096, b"\0") + text).ljust(size, b"\0")


def dumped(name: str, field: str) -> str:
    """Return a field of a recorded luksDump."""
    text = (FIXTURES / f"{name}.luksDump.txt").read_text()
    match = re.search(rf"^\s*{field}:\s*(\S+)", text, re.MULTILINE)
    assert match
    return match[1]


def test_recorded_luks1() -> None:
    found = luks.read(extent(unpacked("luks1.head.raw.gz")))
    cipher = f"{dumped('luks1', 'Cipher name')}-{dumped('luks1', 'Cipher mode')}"
    assert found == Luks(1, cipher, int(dumped("luks1", "MK bits")))


def test_recorded_luks2() -> None:
    found = luks.read(extent(unpacked("luks2.head.raw.gz")))
    assert found == Luks(2, dumped("luks2", "cipher"), int(dumped("luks2", "Cipher key")))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--type=luks1", "-c", "aes-cbc-essiv:sha256", "-s", "256"), Luks(1, "", 256)),
        (("--type=luks2", "-c", "aes-xts-plain64", "-s", "512"), Luks(2, "", 512)),
        (("--type=luks2", "-c", "aes-cbc-plain64", "-s", "128"), Luks(2, "", 128)),
        (("--type=luks2", "--sector-size=4096", "--label=geheim"), Luks(2, "", 512, "geheim")),
        (("--type=luks2", "--luks2-metadata-size=64k"), Luks(2, "", 512)),
    ],
    ids=["luks1", "luks2", "cbc", "labelled", "large header"],
)
def test_headers_of_cryptsetup(options: tuple[str, ...], expected: Luks, tmp_path: Path) -> None:
    path = tmp_path / "disk.raw"
    with path.open("wb") as file:
        file.truncate(32 * MIB)
    made(path, *options)
    cipher = options[options.index("-c") + 1] if "-c" in options else "aes-xts-plain64"
    expected = Luks(expected.version, cipher, expected.key_bits, expected.label)
    assert luks.read(whole(Medium(*of_file(path)))) == expected
    if expected.version == 2:
        with path.open("r+b") as file:
            file.write(bytes(4096))
        assert luks.read(whole(Medium(*of_file(path)))) is None
        assert luks.second(whole(Medium(*of_file(path)))) == expected


def made(path: Path, *options: str) -> None:
    """Let cryptsetup format a file."""
    quick = ["--pbkdf-force-iterations=1000", "--batch-mode", "--key-file=-"]
    if "--type=luks2" in options:
        quick.append("--pbkdf=pbkdf2")
    program = peers.program("cryptsetup")
    peers.run([program, "luksFormat", *quick, *options, str(path)], stdin="secret")


def test_a_header_whose_json_is_damaged_is_read_from_its_copy() -> None:
    disk = bytearray(luks2(b"{oops") + luks2(TREE, second=True))
    assert luks.read(extent(disk)) == Luks(2, "aes-xts-plain64", 256, "data")


@pytest.mark.parametrize(
    "tree",
    [
        b"",
        b"{" * 9000,
        b"[" * 12000,
        [],
        {"segments": []},
        {"segments": {"0": 5}},
        {"segments": {"0": {"type": "linear"}}},
    ],
    ids=["empty", "braces", "brackets", "list", "segments", "segment", "reencrypting"],
)
def test_damaged_json_leaves_the_cipher_unknown(tree: Any) -> None:
    assert luks.read(extent(luks2(tree))) == Luks(2)


@pytest.mark.parametrize("size", [0, 4096, 12345, 2**63, 2**64 - 1])
def test_a_size_that_no_header_has(size: int) -> None:
    disk = bytearray(luks2(TREE))
    put(disk, 8, struct.pack(">Q", size))
    assert luks.read(extent(disk)) == Luks(2)


def test_json_without_an_end_is_not_read_for_ever() -> None:
    disk = luks2(b" " * (4 * MIB - 4096), size=4 * MIB)
    asked = []

    def read(offset: int, size: int) -> bytes:
        asked.append(size)
        return disk[offset : offset + size]

    assert luks.read(whole(Medium(read, len(disk)))) == Luks(2)
    assert sum(asked) < MIB // 2


@pytest.mark.parametrize(
    "cipher", ["", 5, None, "aes xts", "\x1b[31m", "x" * 65, ["aes"]], ids=repr
)
def test_a_cipher_that_is_none_is_not_shown(cipher: Any) -> None:
    tree = {**TREE, "segments": {"0": {**SEGMENT, "encryption": cipher}}}
    assert luks.read(extent(luks2(tree))) == Luks(2, "", 256, "data")


@pytest.mark.parametrize("bits", [-1, 0, True, "32", 2**40, None], ids=repr)
def test_a_key_size_that_is_none_is_not_known(bits: Any) -> None:
    tree = {**TREE, "keyslots": {"3": {"key_size": bits}}}
    assert luks.read(extent(luks2(tree))) == Luks(2, "aes-xts-plain64", None, "data")


def test_later_versions_and_other_disks_are_none() -> None:
    disk = bytearray(luks2(TREE))
    put(disk, 6, b"\0\x03")
    assert luks.read(extent(disk)) is None
    assert luks.read(extent(bytes(MIB))) is None
    assert luks.second(extent(bytes(8 * MIB))) is None


def test_a_copy_somewhere_else_is_what_a_file_holds() -> None:
    disk = put(bytearray(MIB), 32768, luks2(TREE, second=True))
    assert luks.second(extent(disk)) is None
