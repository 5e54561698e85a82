"""qcow2 images: what is read out of them is what qemu-img reads."""

from __future__ import annotations

import json
import random
import struct
from pathlib import Path

import pytest

from support import peers
from support.disk_images import FIXTURES, MIB, of_file, put, reader, unpacked
from unmask.dialects.disk import qcow2
from unmask.dialects.disk.medium import LIMIT, MOST, Medium
from unmask.errors import InputError
from unmask.model.disk import HostEncryption

SIZE = 6 * MIB + 1536
PIECES = (0, 4096, 65536 - 512, 65536, 3 * MIB + 1000, 5 * MIB - 100, SIZE - 700)
"""Offsets at which a disk is compared; what is read there has different sizes."""


def qemu_img(*words: str) -> str:
    return peers.run([peers.program("qemu-img"), *words]).stdout


def qemu_io(path: Path, *commands: str) -> None:
    options = [word for command in commands for word in ("-c", command)]
    peers.run([peers.program("qemu-io"), "-f", "qcow2", *options, str(path)])


def made(path: Path, *options: str, written: bool = True) -> Path:
    """Make an image, and write zeros, gaps and data into it."""
    chosen = ("-o", ",".join(options)) if options else ()
    qemu_img("create", "-q", "-f", "qcow2", *chosen, str(path), str(SIZE))
    if written:
        qemu_io(
            path,
            "write -P 0x11 0 70k",
            "write -P 0x22 3M 5k",
            "write -z 3M 2k",
            "write -P 0x33 5242000 1000",
            f"write -P 0x44 {SIZE - 512} 512",
            "write -z 64k 64k",
        )
    return path


def opened(path: Path) -> qcow2.Image:
    file = Medium(*of_file(path))
    return qcow2.Image(file, qcow2.header(file))


def compare(image: qcow2.Image, path: Path) -> None:
    """Hold what is read against the whole disk as qemu-img converts it."""
    raw = path.with_suffix(".raw")
    qemu_img("convert", "-f", "qcow2", "-O", "raw", str(path), str(raw))
    expected = raw.read_bytes()
    assert image.header.size == len(expected)
    assert any(expected)
    for number, offset in enumerate(PIECES):
        size = (512, 10_000, 200_000)[number % 3]
        assert image.read(offset, size) == expected[offset : offset + size], offset


@pytest.mark.parametrize(
    "options",
    [
        ("compat=0.10",),
        (),
        ("cluster_size=512",),
        ("cluster_size=4k",),
        ("cluster_size=2M",),
        ("extended_l2=on",),
        ("extended_l2=on", "cluster_size=128k"),
        ("preallocation=metadata",),
        ("lazy_refcounts=on", "refcount_bits=1"),
    ],
    ids=" ".join,
)
def test_images_of_qemu_img(options: tuple[str, ...], tmp_path: Path) -> None:
    path = made(tmp_path / "disk.qcow2", *options)
    compare(opened(path), path)


@pytest.mark.parametrize("cluster", ["512", "4k", "64k", "2M"])
def test_compressed_images(cluster: str, tmp_path: Path) -> None:
    plain = made(tmp_path / "plain.qcow2")
    path = tmp_path / "disk.qcow2"
    qemu_img("convert", "-c", "-O", "qcow2", "-o", f"cluster_size={cluster}", str(plain), str(path))
    compare(opened(path), path)


def test_recorded_images() -> None:
    for name in ("gpt-luks2", "gpt-zfs", "luks1", "luks2", "mbr-ext4", "zfs-member"):
        data = (FIXTURES / f"{name}.qcow2").read_bytes()
        head = unpacked(f"{name}.head.raw.gz")
        file = Medium(reader(data), len(data))
        image = qcow2.Image(file, qcow2.header(file))
        for offset in range(0, len(head), 64 * 1024):
            assert image.read(offset, 512) == head[offset : offset + 512]


def test_clusters_of_a_backing_file(tmp_path: Path) -> None:
    below = made(tmp_path / "below.qcow2")
    path = tmp_path / "disk.qcow2"
    words = ("-b", str(below), "-F", "qcow2", str(path), str(SIZE + 2 * MIB))
    qemu_img("create", "-q", "-f", "qcow2", *words)
    qemu_io(path, "write -P 0x55 4k 4k", "write -z 3M 64k")
    file = Medium(*of_file(path))
    header = qcow2.header(file)
    assert (header.backing, header.backing_format) == (str(below), "qcow2")
    image = qcow2.Image(file, header, opened(below).read)
    compare(image, path)
    assert image.read(SIZE + MIB, 512) == bytes(512)
    alone = qcow2.Image(file, header)
    with pytest.raises(InputError, match="backing file"):
        alone.read(MIB, 512)
    assert alone.read(3 * MIB, 512) == bytes(512)


def test_zstd_is_not_read(tmp_path: Path) -> None:
    plain = made(tmp_path / "plain.qcow2")
    path = tmp_path / "disk.qcow2"
    words = ("-o", "compression_type=zstd", str(plain), str(path))
    qemu_img("convert", "-c", "-O", "qcow2", *words)
    image = opened(path)
    with pytest.raises(InputError, match="zstd"):
        image.read(0, 512)
    assert image.read(2 * MIB, 512) == bytes(512)


def test_data_in_another_file_are_not_read(tmp_path: Path) -> None:
    other = f"data_file={tmp_path / 'data.raw'}"
    path = made(tmp_path / "disk.qcow2", other, written=False)
    with pytest.raises(InputError, match="another file"):
        opened(path)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("encrypt.format=luks",), HostEncryption("luks", "aes-xts-plain64")),
        (
            ("encrypt.format=luks", "encrypt.cipher-mode=cbc", "encrypt.cipher-alg=aes-128"),
            HostEncryption("luks", "aes-cbc-plain64"),
        ),
    ],
)
def test_encrypted_images(words: tuple[str, ...], expected: HostEncryption, tmp_path: Path) -> None:
    path = tmp_path / "disk.qcow2"
    options = ",".join((*words, "encrypt.key-secret=key", "encrypt.iter-time=10"))
    secret = ("--object", "secret,id=key,data=geheim")
    create = ("create", "-q", "-f", "qcow2", *secret, "-o", options, str(path), "4M")
    for _ in range(20):
        # QEMU gives up where the clock by which it measures the machine's speed stood still.
        done = peers.run([peers.program("qemu-img"), *create], check=False)
        if "accurate CPU usage" not in done.stderr:
            break
    assert done.returncode == 0, done.stderr
    found = opened(path).header.encryption
    assert found
    assert (found.kind, found.cipher) == (expected.kind, expected.cipher)


def test_a_running_guest_is_not_in_the_way(tmp_path: Path) -> None:
    """QEMU's locks keep qemu-img out of an image that is in use; this reader takes none."""
    path = made(tmp_path / "disk.qcow2")
    server = [peers.program("qemu-nbd"), "--fork", f"--socket={tmp_path / 'nbd'}", "-f", "qcow2"]
    pid = tmp_path / "pid"
    peers.run([*server, f"--pid-file={pid}", str(path)])
    try:
        refused = peers.run([peers.program("qemu-img"), "info", str(path)], check=False)
        assert "lock" in refused.stderr
        assert opened(path).read(0, 512) == b"\x11" * 512
    finally:
        peers.run(["kill", pid.read_text().strip()])


class Counted:
    """An image file, and how many bytes of it were asked for."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.asked = 0

    def read(self, offset: int, size: int) -> bytes:
        assert offset >= 0
        assert 0 < size <= MOST
        self.asked += size
        return self.data[offset : offset + size]


def image_bytes(tmp_path: Path, *options: str) -> bytearray:
    return bytearray(made(tmp_path / "disk.qcow2", *options).read_bytes())


def header_of(data: bytes | bytearray) -> qcow2.Header:
    return qcow2.header(Medium(reader(data), len(data)))


@pytest.mark.parametrize(
    ("offset", "value"),
    [
        (0, b"RAW!"),
        (4, struct.pack(">I", 1)),
        (4, struct.pack(">I", 4)),
        (20, struct.pack(">I", 8)),
        (20, struct.pack(">I", 22)),
        (20, struct.pack(">I", 2**32 - 1)),
        (24, struct.pack(">Q", 2**64 - 1)),
        (36, struct.pack(">I", 2**32 - 1)),
        (72, struct.pack(">Q", 1 << 5)),
        (72, struct.pack(">Q", 1 << 63)),
        (8, struct.pack(">QI", 512, 2**31)),
    ],
)
def test_headers_that_are_not_to_be_read(offset: int, value: bytes, tmp_path: Path) -> None:
    data = image_bytes(tmp_path)
    header_of(data)
    with pytest.raises(InputError):
        header_of(put(data, offset, value))
    with pytest.raises(InputError):
        header_of(data[:100])


def test_a_name_that_is_none_is_no_path(tmp_path: Path) -> None:
    data = image_bytes(tmp_path)
    put(data, 600, b"a\nb")
    put(data, 8, struct.pack(">QI", 600, 3))
    assert header_of(data).backing == "?"


@pytest.mark.parametrize("options", [(), ("extended_l2=on",), ("cluster_size=512",)], ids=" ".join)
def test_damage_is_bounded_and_raises_nothing_else(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    chance = random.Random(5)  # noqa: S311 - the same in every run
    data = image_bytes(tmp_path, *options)
    tables = [at for at, byte in enumerate(data) if byte and byte not in b"\x11\x22\x33\x44"]
    for _ in range(300):
        damaged = bytearray(data)
        for _ in range(chance.choice((1, 3, 10))):
            damaged[chance.choice(tables)] = chance.choice((0, 1, 0x40, 0x7F, 0x80, 0xFF))
        counted = Counted(bytes(damaged))
        try:
            file = Medium(counted.read, chance.choice((len(data), None)))
            image = qcow2.Image(file, qcow2.header(file))
            for offset in PIECES:
                assert len(image.read(offset, 5000)) <= 5000
        except InputError:
            pass
        assert counted.asked <= LIMIT


def test_qemu_img_says_the_same_of_headers(tmp_path: Path) -> None:
    path = made(tmp_path / "disk.qcow2", "extended_l2=on", "compression_type=zstd")
    told = json.loads(qemu_img("info", "--output=json", str(path)))
    header = opened(path).header
    assert header.size == told["virtual-size"]
    assert 1 << header.cluster_bits == told["cluster-size"]
    details = told["format-specific"]["data"]
    assert header.extended is details["extended-l2"]
    assert header.zstd is (details["compression-type"] == "zstd")
