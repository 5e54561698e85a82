"""Evidence from real guests, answered as its collectors judged it, where it is present."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from unmask.cpu import levels
from unmask.dialects import cpuinfo
from unmask.errors import InputError
from unmask.model.cpu import HostCpu
from unmask.model.inside_storage import VolumeKind
from unmask.probes import block_devices, cpu, crypttab, dm_crypt, listeners, signatures, zfs
from unmask.probes._section import Section, printable

FOLDER = Path(__file__).parents[3] / "shared" / "corpus"


def text(name: str) -> str:
    path = FOLDER / name
    if not FOLDER.is_dir():
        pytest.skip("the corpus of real configurations is not here")
    return printable(path.read_bytes().decode("utf-8", errors="replace"))


def seen(name: str) -> HostCpu:
    """Return the CPU by the probe's way: its file goes into the part that fits its form."""
    content = text(name)
    part = "lscpu" if "Architecture:" in content else "cpuinfo"
    if "Features2=" in content or "aesni0:" in content:
        part = "dmesg"
    return cpu.parse(Section(parts={part: content.encode(), "machine": b""}))


def test_lsblk_without_names() -> None:
    devices = block_devices.parse_json(text("wl-001-lsblk-json-sbctl.json"))
    assert [device.encrypted for device in devices] == [True, False, True, False]
    assert devices[3].parent == 2
    assert "/" in devices[3].mountpoints


def test_lsblk_with_an_open_volume() -> None:
    devices = {
        item.name: item
        for item in block_devices.parse_json(text("wl-002-lsblk-json-luks-data.json"))
    }
    assert devices["sdb1"].encrypted
    assert devices["data_crypt"].mountpoints == ("/srv/data",)
    assert devices["sr0"].kind == "rom"


def test_lsblk_tree() -> None:
    devices = block_devices.parse_tree(text("wl-003-lsblk-tree-omv.txt"))
    opened = {item.name: item for item in devices if item.kind == "crypt"}
    assert opened.keys() == {"vdc-crypt", "vdd-crypt"}
    assert all(item.mountpoints for item in opened.values())
    assert devices[opened["vdc-crypt"].parent or 0].name == "vdc"


def test_crypttab_with_one_volume_seven_times() -> None:
    (entry,) = crypttab.parse_text(text("wl-005-crypttab-bitlk.txt"))
    assert entry.kind is VolumeKind.BITLOCKER
    assert "LABEL=ZENBOOK-S-16 OS 16/06/2025" in entry.sources
    assert "PARTLABEL=Basic data partition" in entry.sources


def test_dmsetup_with_a_key_in_the_keyring() -> None:
    (mapping,) = dm_crypt.parse_table(text("wl-006-dmsetup-table-luks2-keyring.txt"))
    assert (mapping.cipher, mapping.key_bits, mapping.keyring) == ("aes-xts-plain64", 512, True)
    assert (mapping.kind, mapping.sector_size) == (VolumeKind.LUKS2, 4096)


def test_dmsetup_of_all_devices() -> None:
    found = dm_crypt.parse_table(text("wl-008-dmsetup-target-crypt-named.txt"))
    assert [item.name for item in found] == ["sda1_crypt", "store-root"]
    assert {item.cipher for item in found} == {"aes-xts-plain64"}


@pytest.mark.parametrize(
    ("name", "device"),
    [
        ("wl-009-blkid-mixed-bitlocker.txt", "/dev/nvme0n1p3"),
        ("wl-010-blkid-bitlocker-unordered.txt", "/dev/nvme0n1p3"),
    ],
)
def test_blkid_with_bitlocker(name: str, device: str) -> None:
    found = signatures.parse_text(text(name))
    assert [item.device for item in found if item.kind == "BitLocker"] == [device]


def test_zfs_on_windows() -> None:
    datasets = zfs.parse_datasets(text("wl-011-zfs-list-encryption-windows.txt"))
    encrypted = [item for item in datasets if item.encrypted]
    assert [item.name for item in encrypted] == ["tank/encrypted", "tank/test3"]
    assert {item.encryption for item in encrypted} == {"aes-256-gcm"}
    assert len(datasets) == 7


def test_ss_with_wireguard_openvpn_and_nginx() -> None:
    found = {
        (item.protocol, item.port): item
        for item in listeners.parse_text(text("wl-013-ss-lntup-mixed.txt"))
    }
    assert found["udp", 51820].processes == ()
    assert found["tcp", 1194].processes == ("openvpn",)
    assert found["tcp", 1194].address == "127.0.0.1"
    assert found["tcp", 8443].processes == ("nginx",)


@pytest.mark.parametrize(
    ("name", "protocol"),
    [("wl-014-ss-ulpn-vertical.txt", "udp"), ("wl-016-openvpn-install-hardware.txt", "tcp")],
)
def test_ss_with_other_columns(name: str, protocol: str) -> None:
    found = [item for item in listeners.parse_text(text(name)) if item.port == 1194]
    assert [(item.protocol, item.processes) for item in found] == [(protocol, ("openvpn",))]


@pytest.mark.parametrize(
    ("name", "has", "lacks"),
    [
        ("cpu-001-pve-kvm64-intel.txt", "lm", "aes pclmulqdq ssse3 sse4_2 popcnt"),
        ("cpu-002-kvm64-amd.txt", "lm", "aes pclmulqdq lahf_lm"),
        ("cpu-003-kvm64-20cores-lastblock.txt", "fpu", "aes pclmulqdq"),
        ("cpu-005-lscpu-epyc-rome-guest.txt", "aes pclmulqdq avx2 movbe", "svm"),
        ("cpu-006-epyc-ibpb-guest.txt", "aes pclmulqdq avx2 svm", ""),
        ("cpu-008-bairuo-host-e5-2667v2-flags.txt", "aes pclmulqdq md_clear flush_l1d vmx", ""),
        ("cpu-010-bairuo-ivybridge-ibrs-flags.txt", "aes pclmulqdq avx", "md_clear vmx"),
        (
            "cpu-011-zhaoxin-zxc-padlock.txt",
            "aes pclmulqdq ace ace_en sha_ni",
            "ept_x_only ept_1gb",
        ),
        ("cpu-012-via-eden-netbsd.txt", "ace ace_en ace2 phe", "aes pclmulqdq lm"),
        ("cpu-013-via-esther-ubuntu.txt", "ace", "aes pclmulqdq lm"),
        ("cpu-015-freebsd11-dmesg-g640.txt", "pclmulqdq ssse3 lahf_lm", "aes"),
        ("cpu-016-trueos-ryzen7-dmesg.txt", "aes pclmulqdq", ""),
        ("cpu-017-pcbsd10-guest-dmesg.txt", "ssse3", "aes pclmulqdq"),
        ("cpu-019-freebsd-aesni-attached.txt", "aes", ""),
        ("cpu-020-hetzner-neoverse-n1-guest-lscpu.txt", "aes pmull sha1 sha2", "avx"),
        ("cpu-021-oracle-neoverse-n1-qemu-guest-lscpu.txt", "aes pmull", "avx"),
        ("cpu-023-aarch64-apple-cpuinfo.txt", "aes pmull", "avx"),
    ],
)
def test_what_the_guest_sees_of_its_cpu(name: str, has: str, lacks: str) -> None:
    found = seen(name)
    assert found.flags >= set(has.split())
    assert not found.flags & set(lacks.split())


def test_levels_of_what_the_guests_see() -> None:
    assert levels.level(seen("cpu-001-pve-kvm64-intel.txt").flags) == 1
    assert levels.level(seen("cpu-006-epyc-ibpb-guest.txt").flags) == 3
    assert levels.level(seen("cpu-012-via-eden-netbsd.txt").flags) == 0
    assert seen("cpu-012-via-eden-netbsd.txt").arch == "i686"
    assert seen("cpu-020-hetzner-neoverse-n1-guest-lscpu.txt").arch == "aarch64"
    assert seen("cpu-002-kvm64-amd.txt").vendor == "AuthenticAMD"


def test_an_old_lscpu_on_bare_metal_has_no_flags() -> None:
    found = cpuinfo.parse(text("cpu-022-arm64-hypervisor-vendor-horizontal.txt"))
    assert (found.arch, found.complete) == ("aarch64", False)


def test_every_file_of_the_corpus_on_guests_is_asked_for() -> None:
    if not FOLDER.is_dir():
        pytest.skip("the corpus of real configurations is not here")
    source = Path(__file__).read_text(encoding="utf-8")
    names = [path.name for path in FOLDER.iterdir() if path.name[:3] in ("wl-", "cpu")]
    assert names
    assert [name for name in names if name not in source] == []


def test_no_parser_is_led_astray_by_another_kind_of_file() -> None:
    for path in sorted(FOLDER.glob("*-*")) or [Path(__file__)]:
        content = printable(path.read_bytes().decode("utf-8", errors="replace"))
        section = Section(parts={"cpuinfo": content.encode(), "json": content.encode()})
        for parse in (cpu.parse, block_devices.parse):
            with contextlib.suppress(InputError):
                assert parse(section) is not None
