"""The disks of a domain's XML."""

from __future__ import annotations

import pytest

from unmask.dialects.libvirt import disks, xml
from unmask.dialects.libvirt.disks import DomainDisk, Layer


def read(*elements: str) -> tuple[DomainDisk, ...]:
    text = f"<domain><devices>{''.join(elements)}</devices></domain>"
    return disks.read(xml.parse(text, "the test"))


def disk(source: str, kind: str = "file", more: str = "") -> str:
    return f"<disk type='{kind}' device='disk'>{source}<target dev='vda'/>{more}</disk>"


@pytest.mark.parametrize(
    ("kind", "source", "path"),
    [
        ("file", "<source file='/i/a.raw'/>", "/i/a.raw"),
        ("block", "<source dev='/dev/vg/a'/>", "/dev/vg/a"),
        ("volume", "<source pool='p' volume='a.qcow2'/>", "p/a.qcow2"),
        ("network", "<source protocol='rbd' name='p/a'><host name='h'/></source>", "rbd:p/a"),
        ("dir", "<source dir='/i'/>", "/i"),
        ("nvme", "<source type='pci' namespace='1'/>", ""),
        ("file", "", ""),
    ],
)
def test_sources(kind: str, source: str, path: str) -> None:
    (found,) = read(disk(source, kind))
    assert found == DomainDisk("vda", Layer(kind, path, "raw"))


def test_what_is_a_disk_to_the_guest() -> None:
    found = read(
        "<disk type='file' device='cdrom'><target dev='sda'/></disk>",
        "<disk type='file' device='floppy'><target dev='fda'/></disk>",
        "<disk type='block' device='lun'><source dev='/dev/sdb'/><target dev='sdc'/></disk>",
        "<disk type='file'><source file='/a'/><target dev='vdb'/></disk>",
        "<disk type='file'><source file='/a'/></disk>",
    )
    assert [each.target for each in found] == ["sdc", "vdb"]


def test_format_and_backing_chain() -> None:
    chain = (
        "<backingStore type='file'><format type='qcow2'/><source file='/i/base.qcow2'/>"
        "<backingStore type='block'><format type='raw'/><source dev='/dev/vg/base'/>"
        "<backingStore/></backingStore></backingStore>"
    )
    driver = "<driver name='qemu' type='qcow2'/>"
    (found,) = read(disk("<source file='/i/a.qcow2'/>", more=driver + chain))
    assert found.image == Layer("file", "/i/a.qcow2", "qcow2")
    assert found.backing == (
        Layer("file", "/i/base.qcow2", "qcow2"),
        Layer("block", "/dev/vg/base", "raw"),
    )


def test_a_chain_has_an_end() -> None:
    inner = "<backingStore type='file'><source file='/a'/>" * 40 + "</backingStore>" * 40
    assert len(read(disk("<source file='/b'/>", more=inner))[0].backing) == disks.MOST_LAYERS


@pytest.mark.parametrize(
    ("element", "expected"),
    [
        (disk("<source file='/a'/>", more="<encryption format='luks'/>"), "luks"),
        (disk("<source file='/a'><encryption format='luks2'/></source>"), "luks2"),
        (disk("<source file='/a'/>", more="<encryption/>"), "default"),
        (disk("<source file='/a'/>"), ""),
    ],
)
def test_encryption(element: str, expected: str) -> None:
    assert read(element)[0].encryption == expected
