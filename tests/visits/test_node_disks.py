"""Disks of a Proxmox VE node's guests: a real sshd, a directory that is the node, real images."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from support import peers, proxmox_guest, pve_node, sshd
from support.disk_images import FIXTURES, MIB, bitlocker, gpt, put, unpacked
from support.pve_node import Node
from unmask.connect import ssh, ssh_address
from unmask.connect.ssh_login import Secrets
from unmask.connect.ssh_session import Session
from unmask.errors import UnreadError
from unmask.model.disk import Disk, DiskPart, HostEncryption
from unmask.model.reading import Known, Missing
from unmask.visits import _node_disks

pytestmark = pytest.mark.peer

IMAGES = "var/lib/vz/images"
GUEST = proxmox_guest.read("cores: 1")
PVESM = """
case $2 in
local:*) echo {root}/var/lib/vz/images/${{2#local:}} ;;
lvm:*) echo /dev/pve/${{2#lvm:}} ;;
zfs:*) echo /dev/zvol/rpool/data/${{2#zfs:}} ;;
ceph:*) echo "nbd+unix:///?socket={root}/${{2#ceph:}}" ;;
down:*) echo "storage 'down' is not online" >&2; exit 255 ;;
*) echo "no such storage" >&2; exit 255 ;;
esac
"""


@dataclass(frozen=True, slots=True)
class Yard:
    """A node, and a login on it."""

    node: Node
    session: Session

    def configure(self, *lines: str) -> None:
        path = f"etc/pve/nodes/{self.node.name}/qemu-server/101.conf"
        self.node.write(path, "\n".join(lines) + "\n")

    def image(self, name: str) -> Path:
        path = self.node.root / IMAGES / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def disks(self, seconds: float = 60) -> dict[str, Disk]:
        found = _node_disks.disks(self.session, GUEST, seconds).value
        return {disk.name: disk for disk in found}

    def commands(self) -> int:
        return len(self.node.commands)


@pytest.fixture
def yard(tmp_path: Path) -> Iterator[Yard]:
    user = sshd.client(tmp_path / "client")
    node = pve_node.node(tmp_path / "oak", "oak")
    (node.etc_pve / f"nodes/{node.name}/qemu-server").mkdir(parents=True, exist_ok=True)
    (node.etc_pve / "qemu-server").symlink_to("local/qemu-server")
    node.has("pvesm", PVESM.format(root=node.root))
    node.has("findmnt", "exit 1")
    with pve_node.serving(node, user) as server:
        user.knows(server)
        address = ssh_address.parse(server.place)
        with ssh.connect(address, user.options(), Secrets("", None), 20) as session:
            yield Yard(node, session)


def test_raw_and_qcow2(yard: Yard) -> None:
    yard.image("101/vm-101-disk-0.raw").write_bytes(unpacked("luks1.head.raw.gz"))
    qcow2 = (FIXTURES / "gpt-luks2.qcow2").read_bytes()
    yard.image("101/vm-101-disk-1.qcow2").write_bytes(qcow2)
    yard.configure(
        "scsi0: local:101/vm-101-disk-1.qcow2,iothread=1,size=48M",
        "virtio1: file=local:101/vm-101-disk-0.raw,size=1M",
        "ide2: local:iso/debian.iso,media=cdrom,size=600M",
        "ide3: none,media=cdrom",
        "efidisk0: local:101/vm-101-disk-9.qcow2,size=4M",
        "[before]",
        "scsi5: local:101/gone.raw",
    )
    found = yard.disks()
    assert list(found) == ["scsi0", "virtio1"]
    volume = "local:101/vm-101-disk-1.qcow2"
    assert found["scsi0"] == Disk(
        "scsi0",
        volume,
        "qcow2",
        50331648,
        Known(
            (
                DiskPart("", 1, 17408, 1031168, label="biosboot"),
                DiskPart("luks2", 2, MIB, 49266176, "aes-xts-plain64", 512, "cryptroot"),
            )
        ),
    )
    (part,) = found["virtio1"].parts.value
    assert (part.kind, part.cipher, part.size) == ("luks1", "aes-xts-plain64", MIB)


def test_few_commands_are_run(yard: Yard) -> None:
    for number in range(6):
        disk = gpt(bytearray(8 * MIB), [(2048, 8191, ""), (8192, 12287, "")])
        put(disk, 4 * MIB, bitlocker(0x8004))
        yard.image(f"101/{number}.raw").write_bytes(disk)
    yard.configure(*(f"scsi{number}: local:101/{number}.raw" for number in range(6)))
    before = yard.commands()
    found = yard.disks()
    assert [disk.parts.value[1].kind for disk in found.values()] == ["bitlocker"] * 6
    assert yard.commands() - before <= 5


def test_a_linked_clone_is_read_through_its_base(yard: Yard) -> None:
    base = yard.image("900/base-900-disk-0.qcow2")
    base.write_bytes((FIXTURES / "gpt-zfs.qcow2").read_bytes())
    clone = yard.image("101/vm-101-disk-0.qcow2")
    words = ("-b", "../900/base-900-disk-0.qcow2", "-F", "qcow2", str(clone))
    peers.run([peers.program("qemu-img"), "create", "-q", "-f", "qcow2", *words])
    yard.configure("scsi0: local:900/base-900-disk-0.qcow2/../../101/vm-101-disk-0.qcow2")
    assert isinstance(yard.disks()["scsi0"].parts, Missing)
    yard.configure("scsi0: local:101/vm-101-disk-0.qcow2")
    assert yard.disks()["scsi0"].parts.value[0].label == "fix"


@pytest.mark.parametrize("name", ["{outside}", "../../../../outside.raw", "json:{}", "nbd:x:1"])
def test_no_file_outside_the_storage_is_opened(name: str, yard: Yard) -> None:
    outside = yard.node.root / "outside.raw"
    outside.write_bytes(unpacked("luks1.head.raw.gz"))
    image = yard.image("101/vm-101-disk-0.qcow2")
    data = bytearray((FIXTURES / "luks1.qcow2").read_bytes())
    written = name.replace("{outside}", str(outside)).encode()
    put(data, 1024, written)
    put(data, 8, (1024).to_bytes(8, "big") + len(written).to_bytes(4, "big"))
    put(data, int.from_bytes(data[40:48], "big"), bytes(8))  # nothing is in the image itself
    image.write_bytes(data)
    yard.configure("scsi0: local:101/vm-101-disk-0.qcow2")
    parts = yard.disks()["scsi0"].parts
    assert isinstance(parts, Missing)
    assert "based on another image" in parts.reason


def test_what_cannot_be_read_is_said(yard: Yard) -> None:
    yard.image("101/folder.raw").mkdir()
    yard.image("101/a.vmdk").write_bytes(b"KDMV")
    yard.image("101/no.qcow2").write_bytes(bytes(100_000))
    yard.configure(
        "scsi0: lvm:vm-101-disk-0,size=32G",
        "scsi1: down:vm-101-disk-1",
        "scsi2: local:101/folder.raw",
        "scsi3: local:101/a.vmdk",
        "scsi4: local:101/no.qcow2",
    )
    found = yard.disks()
    parts = {name: disk.parts for name, disk in found.items()}
    said = {name: part.reason for name, part in parts.items() if isinstance(part, Missing)}
    assert "not active" in said["scsi0"]
    assert found["scsi0"].size == 32 * 2**30
    assert said["scsi1"] == "storage 'down' is not online"
    assert "neither a file nor a block device" in said["scsi2"]
    assert "vmdk" in said["scsi3"]
    assert "not a qcow2 image" in said["scsi4"]


def test_names_are_never_programs(yard: Yard) -> None:
    flag = yard.node.root / "flag"
    evil = f"local:101/$(touch {flag});`touch {flag}`'\"; touch {flag} #"
    yard.configure(f"scsi0: {evil}", "scsi1: -rf", "scsi2: /dev/../etc/hostname\x1b[31m")
    found = yard.disks()
    assert len(found) == 3
    assert not flag.exists()
    assert found["scsi1"].parts == Missing("what its configuration names is no volume")
    assert not any(disk.parts.known and disk.parts.value[0].kind for disk in found.values())


def test_volumes_that_are_no_file_are_read_by_qemu_io(yard: Yard) -> None:
    raw = yard.node.root / "ceph.raw"
    raw.write_bytes(unpacked("gpt-luks2.head.raw.gz"))
    pid = yard.node.root / "pid"
    server = [peers.program("qemu-nbd"), "--fork", "--read-only", "--persistent", "-f", "raw"]
    socket = yard.node.root / "vm-101-disk-0"
    peers.run([*server, f"--socket={socket}", f"--pid-file={pid}", str(raw)])
    try:
        yard.configure("scsi0: ceph:vm-101-disk-0,size=48M")
        disk = yard.disks()["scsi0"]
    finally:
        peers.run(["kill", pid.read_text().strip()])
    assert disk.size == 2 * MIB
    assert [part.kind for part in disk.parts.value] == ["", "luks2"]


def test_zfs_below_a_volume(yard: Yard) -> None:
    yard.node.has("zfs", 'test "$6" = rpool/data/vm-101-disk-0 && echo aes-256-gcm || echo off')
    yard.node.has("zpool", "echo no pool >&2; exit 1")
    yard.configure("scsi0: zfs:vm-101-disk-0,size=1G", "scsi1: zfs:vm-101-disk-1,size=1G")
    found = yard.disks()
    where = "the dataset rpool/data/vm-101-disk-0 on oak"
    assert found["scsi0"].encryption == (HostEncryption("zfs", "aes-256-gcm", where),)
    assert found["scsi1"].encryption == ()


@pytest.mark.parametrize(
    "mounted",
    ["ext4 /dev/mapper/vg-data", "btrfs /dev/mapper/vg-data[/@images]", "zfs tank/images"],
)
def test_dm_crypt_below_an_image(mounted: str, yard: Yard) -> None:
    yard.image("101/a.raw").write_bytes(bytes(MIB))
    yard.node.has("findmnt", f"echo {shlex.quote(mounted)}")
    yard.node.has("zfs", "echo off")
    yard.node.has("zpool", r"printf 'tank\t1G\n\t/dev/mapper/vg-data\t1G\n'")
    yard.node.has(
        "lsblk",
        'test "$6" = /dev/mapper/vg-data && printf "lvm vg-data\\ncrypt luks-vg\\npart sda2\\n"',
    )
    key = "0" * 64
    table = f"0 1000 crypt aes-xts-plain64 {key} 0 8:2 32768"
    yard.node.has("dmsetup", f'test "$*" = "table -- luks-vg" && echo "{table}"')
    yard.configure("scsi0: local:101/a.raw")
    disk = yard.disks()["scsi0"]
    found = HostEncryption("luks", "aes-xts-plain64", "dm-crypt luks-vg on oak")
    assert disk.encryption == (found,)
    assert disk.parts.known


def test_a_guest_that_the_node_does_not_have(yard: Yard) -> None:
    with pytest.raises(UnreadError, match="does not show its configuration"):
        yard.disks()


def test_the_time_may_be_used_up(yard: Yard) -> None:
    with pytest.raises(UnreadError, match="used up"):
        yard.disks(seconds=0)
