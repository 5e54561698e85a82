"""Disks of real domains, stopped and running, read through a real libvirtd."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from support import peers, visited
from support.disk_images import FIXTURES, MIB, bitlocker, put, unpacked
from support.libvirtd import PREFIX, Libvirtd
from unmask.connect.libvirt_guest import DomainAccess, LibvirtHost, open_host
from unmask.errors import UnreadError
from unmask.model.disk import Disk, HostEncryption
from unmask.model.reading import Missing
from unmask.visits import _libvirt_disks

LUKS2_QCOW2 = (FIXTURES / "gpt-luks2.qcow2").read_bytes()


@dataclass(frozen=True, slots=True)
class Yard:
    """A libvirtd, a connection to it, and a place for images."""

    daemon: Libvirtd
    host: LibvirtHost
    images: Path

    def define(self, *disks: str) -> DomainAccess:
        ident = str(uuid.uuid4())
        name = f"{PREFIX}disks-{ident[:8]}"
        self.daemon.define(
            f"<domain type='qemu'><name>{name}</name><uuid>{ident}</uuid>"
            "<memory unit='MiB'>64</memory><vcpu>1</vcpu>"
            "<os><type arch='x86_64' machine='pc'>hvm</type></os>"
            f"<devices>{''.join(disks)}</devices></domain>"
        )
        return self.host.domain(ident)

    def start(self, access: DomainAccess) -> None:
        self.daemon.virsh("start", access._uuid)

    def image(self, name: str, data: bytes | bytearray) -> Path:
        path = self.images / name
        path.write_bytes(data)
        return path

    def pool(self) -> str:
        name = f"{PREFIX}{self.images.name}"
        self.daemon.virsh("pool-create-as", name, "dir", "--target", str(self.images))
        return name


@pytest.fixture
def yard(empty_libvirtd: Libvirtd, tmp_path: Path) -> Iterator[Yard]:
    images = empty_libvirtd.directory / "guests" / tmp_path.name
    images.mkdir()
    host = open_host(empty_libvirtd.uri, 30, local=True)
    yield Yard(empty_libvirtd, host, images)
    host.close()
    for name in empty_libvirtd.virsh("pool-list", "--name").split():
        empty_libvirtd.virsh("pool-destroy", name)


def disk(path: Path, target: str, kind: str = "raw", more: str = "") -> str:
    return (
        f"<disk type='file' device='disk'><driver name='qemu' type='{kind}'/>"
        f"<source file='{path}'>{more}</source><target dev='{target}' bus='virtio'/></disk>"
    )


def read(access: DomainAccess, seconds: float = 60) -> dict[str, Disk]:
    found = _libvirt_disks.disks(access, visited.guest(), seconds).value
    return {each.name: each for each in found}


def reason(found: Disk) -> str:
    assert isinstance(found.parts, Missing)
    return found.parts.reason


def away(access: DomainAccess) -> DomainAccess:
    """Return the access as it is from another machine."""
    access.local = False
    return access


@pytest.mark.parametrize("running", [False, True])
def test_raw_and_qcow2_of_stopped_and_running_guests(yard: Yard, running: bool) -> None:  # noqa: FBT001
    raw = yard.image("a.raw", unpacked("luks1.head.raw.gz"))
    qcow2 = yard.image("b.qcow2", LUKS2_QCOW2)
    odd = yard.image("c.raw", bitlocker(0x8004) + bytes(300))
    access = yard.define(
        disk(raw, "vda"),
        disk(qcow2, "vdb", "qcow2"),
        disk(odd, "vdc"),
        "<disk type='file' device='cdrom'><target dev='sda' bus='sata'/></disk>",
    )
    if running:
        yard.start(access)
    found = read(access)
    assert list(found) == ["vda", "vdb", "vdc"]
    (whole,) = found["vda"].parts.value
    assert (whole.kind, whole.cipher, whole.size) == ("luks1", "aes-xts-plain64", MIB)
    assert (found["vda"].source, found["vda"].format) == (str(raw), "raw")
    boot, root = found["vdb"].parts.value
    assert (boot.kind, root.kind, root.label) == ("", "luks2", "cryptroot")
    assert found["vdb"].size == 50331648
    assert found["vdc"].parts.value[0].cipher == "XTS-AES-128"


def test_an_image_in_use_is_not_in_the_way_of_its_guest(yard: Yard) -> None:
    qcow2 = yard.image("a.qcow2", LUKS2_QCOW2)
    access = yard.define(disk(qcow2, "vda", "qcow2"))
    yard.start(access)
    words = ["info", "-f", "qcow2", str(qcow2)]
    refused = peers.run([peers.program("qemu-img"), *words], check=False)
    assert "lock" in refused.stderr
    before = qcow2.stat().st_mtime_ns
    assert read(access)["vda"].parts.value[1].encrypted
    assert qcow2.stat().st_mtime_ns == before


def test_from_another_machine_raw_disks_and_those_in_pools_are_read(yard: Yard) -> None:
    raw = yard.image("a.raw", unpacked("luks1.head.raw.gz"))
    qcow2 = yard.image("b.qcow2", LUKS2_QCOW2)
    access = away(yard.define(disk(raw, "vda"), disk(qcow2, "vdb", "qcow2")))
    found = read(access)
    assert found["vda"].parts.value[0].kind == "luks1"
    assert "no storage pool" in reason(found["vdb"])
    assert "storage pool" in found["vdb"].parts.needs  # type: ignore[union-attr]
    yard.pool()
    assert read(access)["vdb"].parts.value[1].kind == "luks2"


@pytest.mark.parametrize("kind", ["raw", "qcow2"])
def test_volumes_by_name(yard: Yard, kind: str) -> None:
    data = LUKS2_QCOW2 if kind == "qcow2" else unpacked("gpt-luks2.head.raw.gz")
    yard.image("a.img", data)
    access = yard.define(
        f"<disk type='volume' device='disk'><driver name='qemu' type='{kind}'/>"
        f"<source pool='{yard.pool()}' volume='a.img'/><target dev='vda' bus='virtio'/></disk>"
    )
    assert read(access)["vda"].parts.value[1].kind == "luks2"
    yard.start(access)
    assert read(access)["vda"].parts.value[1].kind == "luks2"


def test_a_read_only_connection_reads_what_this_user_may(yard: Yard) -> None:
    raw = yard.image("a.raw", unpacked("luks1.head.raw.gz"))
    access = yard.define(disk(raw, "vda"))
    uri = yard.daemon.uri.replace("libvirt-sock", "libvirt-sock-ro")
    host = open_host(uri, 30, local=True)
    try:
        watched = host.domain(access._uuid)
        assert read(watched)["vda"].parts.value[0].kind == "luks1"
        assert "a read-only connection" in reason(read(away(watched))["vda"])
    finally:
        host.close()


@pytest.mark.parametrize("local", [True, False])
def test_images_based_on_others(yard: Yard, local: bool) -> None:  # noqa: FBT001
    yard.image("base.qcow2", LUKS2_QCOW2)
    clone = yard.images / "a.qcow2"
    program = peers.program("qemu-img")
    words = ("create", "-q", "-f", "qcow2", "-b", "base.qcow2", "-F", "qcow2", str(clone))
    peers.run([program, *words])
    access = yard.define(disk(clone, "vda", "qcow2"))
    if not local:
        yard.pool()
        away(access)
    assert read(access)["vda"].parts.value[1].kind == "luks2"


@pytest.mark.parametrize("name", ["/etc/passwd", "../outside.raw", "json:{}", "nbd:localhost:1"])
def test_no_file_is_opened_at_the_word_of_an_image(yard: Yard, name: str) -> None:
    (yard.images.parent / "outside.raw").write_bytes(unpacked("luks1.head.raw.gz"))
    data = bytearray((FIXTURES / "luks1.qcow2").read_bytes())
    put(data, 1024, name.encode())
    put(data, 8, (1024).to_bytes(8, "big") + len(name).to_bytes(4, "big"))
    put(data, int.from_bytes(data[40:48], "big"), bytes(8))  # nothing is in the image itself
    access = yard.define(disk(yard.image("a.qcow2", data), "vda", "qcow2"))
    found = read(access)["vda"]
    assert found.size == 50331648
    assert "based on another image" in reason(found)


def test_the_host_may_encrypt(yard: Yard) -> None:
    path = yard.image("a.luks", unpacked("luks1.head.raw.gz"))
    secret = f"<secret type='passphrase' uuid='{uuid.uuid4()}'/>"
    more = f"<encryption format='luks'>{secret}</encryption>"
    found = read(yard.define(disk(path, "vda", more=more)))["vda"]
    expected = HostEncryption("luks", "aes-xts-plain64", "libvirt's <encryption>")
    assert found.encryption == (expected,)
    assert "the host encrypts it" in reason(found)


def test_what_this_machine_encrypts_below(
    yard: Yard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, printed in (
        ("findmnt", "ext4 /dev/mapper/vg-data"),
        ("lsblk", "crypt luks-vg"),
        ("dmsetup", "0 9 crypt aes-xts-plain64 :64:logon:x 0 8:2 0"),
    ):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\necho '{printed}'\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{peers.SEARCH_PATH}")
    access = yard.define(disk(yard.image("a.raw", bytes(MIB)), "vda"))
    found = HostEncryption("luks", "aes-xts-plain64", f"dm-crypt luks-vg on {visited.guest().host}")
    assert read(access)["vda"].encryption == (found,)
    assert read(away(access))["vda"].encryption == ()


def test_what_cannot_be_read_is_said(yard: Yard) -> None:
    folder = yard.images / "folder"
    folder.mkdir()
    access = yard.define(
        disk(yard.images / "gone.raw", "vda"),
        disk(yard.image("b.img", b"KDMV" * 500), "vdb", "vmdk"),
        disk(yard.image("c.img", bytes(5000)), "vdc", "qcow2"),
        disk(folder, "vdd", "qcow2"),
        disk(yard.image("e.img", b""), "vde"),
        "<disk type='network' device='disk'><source protocol='nbd' name='x'><host name='::1' "
        "port='1'/></source><target dev='vdf' bus='virtio'/></disk>",
    )
    found = read(access)
    said = {name: reason(each) for name, each in found.items() if not each.parts.known}
    assert "No such file" in said["vda"]
    assert "vmdk" in said["vdb"]
    assert "not a qcow2 image" in said["vdc"]
    assert "neither a file nor a block device" in said["vdd"]
    assert said["vdf"]
    assert [part.kind for part in found["vde"].parts.value] == [""]


def test_a_domain_that_is_gone_and_time_that_is_up(yard: Yard) -> None:
    with pytest.raises(UnreadError):
        read(yard.host.domain(str(uuid.uuid4())))
    raw = yard.image("a.raw", bytes(MIB))
    with pytest.raises(UnreadError, match="used up"):
        read(yard.define(disk(raw, "vda")), seconds=0)
