"""What a domain's XML ties it to its host."""

from __future__ import annotations

from pathlib import Path

import pytest

from unmask.dialects.libvirt import domain, xml
from unmask.dialects.libvirt.guest import Forms, guest, with_snapshots
from unmask.model.inventory import Guest, GuestState
from unmask.model.reading import Known, Missing
from unmask.model.tie import Tie, TieKind

CORPUS = Path(__file__).parents[4] / "shared" / "corpus"
PCI = "<source><address domain='0x0000' bus='0x03' slot='0x00' function='0x1'/></source>"
TRANSIENT = "<teaming type='transient' persistent='ua-net0'/>"
NEITHER = (False, False)
LIVE = (True, False)
COLD = (False, True)
BOTH = (True, True)


def read(text: str) -> Guest:
    forms = Forms(inactive=domain.read(xml.parse(text, "the test"), "x86_64"))
    return guest(forms, "hall", GuestState.STOPPED)


def ties(inner: str) -> tuple[Tie, ...]:
    return read(f"<domain type='kvm'><name>web</name>{inner}</domain>").ties.value


def devices(inner: str) -> tuple[Tie, ...]:
    return ties(f"<devices>{inner}</devices>")


@pytest.mark.parametrize(
    ("inner", "kind", "what", "stops"),
    [
        (f"<hostdev mode='subsystem' type='pci'>{PCI}</hostdev>",
         "passthrough", "hostdev pci 0000:03:00.1", BOTH),
        (f"<hostdev mode='subsystem' type='pci'>{PCI}{TRANSIENT}</hostdev>",
         "passthrough", "hostdev pci 0000:03:00.1", COLD),
        ("<hostdev type='mdev'><source><address uuid='c2177883'/></source></hostdev>",
         "passthrough", "hostdev mdev c2177883", BOTH),
        ("<hostdev type='scsi'/>", "passthrough", "hostdev scsi", BOTH),
        (f"<interface type='hostdev'>{PCI}</interface>",
         "passthrough", "interface hostdev", BOTH),
        (f"<interface type='hostdev'>{PCI}{TRANSIENT}</interface>",
         "passthrough", "interface hostdev", COLD),
        ("<interface type='vdpa'><source dev='/dev/vhost-vdpa-0'/></interface>",
         "passthrough", "interface vdpa /dev/vhost-vdpa-0", BOTH),
        ("<interface type='direct'><source dev='eth0' mode='bridge'/></interface>",
         "resource", "interface direct eth0", NEITHER),
        ("<disk type='file'><source file='/a'/><target dev='vda'/><transient/></disk>",
         "local-disk", "vda: /a, transient", LIVE),
        ("<disk type='nvme'><source type='pci' namespace='1'/><target dev='vda'/></disk>",
         "passthrough", "vda: 1", BOTH),
        ("<shmem name='s'><model type='ivshmem-plain'/></shmem>", "resource", "shmem s", LIVE),
        ("<tpm><backend type='passthrough'><device path='/dev/tpm0'/></backend></tpm>",
         "passthrough", "the host's own TPM (passthrough)", BOTH),
    ],
)  # fmt: skip
def test_a_device(inner: str, kind: str, what: str, stops: tuple[bool, bool]) -> None:
    (tie,) = devices(inner)
    assert (tie.kind, tie.what, tie.unread) == (kind, what, None)
    assert (tie.live, tie.cold) == stops


@pytest.mark.parametrize(
    ("source", "where"),
    [
        ("<disk type='file'><source file='/srv/a.qcow2'/>", "/srv/a.qcow2"),
        ("<disk type='block'><source dev='/dev/vg/a'/>", "/dev/vg/a"),
        ("<disk type='volume'><source pool='p' volume='v'/>", "p/v"),
    ],
)
def test_a_disk_that_may_be_shared_or_not(source: str, where: str) -> None:
    alive, stopped = devices(f"{source}<target dev='vda'/></disk>")
    assert (alive.what, alive.live, alive.cold, alive.unread) == (f"vda: {where}", *NEITHER, None)
    assert (stopped.what, stopped.live, stopped.cold) == (alive.what, *COLD)
    assert isinstance(stopped.unread, Missing)


def test_the_state_of_an_emulated_tpm_stays_behind_where_the_guest_is_stopped() -> None:
    (tie,) = devices("<tpm><backend type='emulator' version='2.0'/></tpm>")
    assert (tie.what, tie.live, tie.cold) == ("the state of its TPM", *COLD)
    assert isinstance(tie.unread, Missing)


def test_snapshots_stop_every_move() -> None:
    domain_ = read("<domain type='kvm'><name>web</name></domain>")
    assert with_snapshots(domain_, kept=False).ties == Known(())
    (some,) = with_snapshots(domain_, kept=True).ties.value
    assert (some.kind, some.live, some.cold, some.unread) == (TieKind.SNAPSHOTS, *BOTH, None)
    (unread,) = with_snapshots(domain_, kept=None).ties.value
    assert isinstance(unread.unread, Missing)


@pytest.mark.parametrize(
    "inner",
    [
        "<disk type='network'><source protocol='rbd' name='p/i'/><target dev='vda'/></disk>",
        "<disk type='file' device='cdrom'><target dev='sda'/></disk>",
        "<disk type='file' device='cdrom'><source file='/x.iso' startupPolicy='optional'/></disk>",
        "<interface type='bridge'><source bridge='br0'/></interface>",
        "<interface type='network'><source network='default'/></interface>",
        "<shmem name='s' role='master'/>",
        "<serial type='pty'><source path='/dev/pts/2'/></serial>",
        "<channel type='unix'><source path='/run/a.sock'/></channel>",
        "<filesystem type='mount'/>",
        "<tpm model='tpm-crb'/>",
    ],
)
def test_what_ties_to_nothing(inner: str) -> None:
    assert devices(inner) == ()


@pytest.mark.parametrize(
    ("inner", "kind"),
    [
        ("<memoryBacking><hugepages><page size='1' unit='G'/></hugepages></memoryBacking>",
         TieKind.HUGEPAGES),
        ("<memoryBacking><hugepages/></memoryBacking>", TieKind.HUGEPAGES),
        ("<numatune><memory mode='strict' nodeset='0-1'/></numatune>", TieKind.AFFINITY),
        ("<cputune><vcpupin vcpu='0' cpuset='2'/><emulatorpin cpuset='0-1'/></cputune>",
         TieKind.AFFINITY),
        ("<vcpu cpuset='1,3'>2</vcpu>", TieKind.AFFINITY),
        ("<os><kernel>/boot/vmlinuz</kernel></os>", TieKind.LOCAL_FILE),
        ("<devices><disk type='file' device='cdrom'><source file='/x.iso'/></disk></devices>",
         TieKind.LOCAL_FILE),
        ("<devices><hostdev type='usb'><source><vendor id='0x1050'/></source></hostdev></devices>",
         TieKind.PASSTHROUGH),
        ("<devices><serial type='dev'><source path='/dev/ttyS0'/></serial></devices>",
         TieKind.RESOURCE),
        ("<devices><input type='evdev'><source dev='/dev/input/event1'/></input></devices>",
         TieKind.RESOURCE),
    ],
)  # fmt: skip
def test_what_the_target_may_lack_is_not_known(inner: str, kind: TieKind) -> None:
    (tie,) = ties(inner)
    assert (tie.kind, tie.live, tie.cold) == (kind, True, True)
    assert isinstance(tie.unread, Missing)
    assert tie.unread.needs


def test_the_first_numa_node_is_everywhere() -> None:
    (tie,) = ties("<numatune><memory nodeset='0'/></numatune>")
    assert (tie.live, tie.cold, tie.unread) == (False, False, None)


def test_pins_are_told_once() -> None:
    pins = "".join(f"<vcpupin vcpu='{number}' cpuset='4-7'/>" for number in range(8))
    (tie,) = ties(f"<cputune>{pins}</cputune>")
    assert tie.what == "pinned to the processors 4-7"


@pytest.mark.parametrize("kind", ["sev", "sev-snp", "tdx", "s390-pv"])
def test_protected_memory_stays_where_it_is(kind: str) -> None:
    assert ties(f"<launchSecurity type='{kind}'/>") == (
        Tie(TieKind.CONFIDENTIAL, f"launchSecurity {kind}", live=True, cold=False),
    )


def test_a_shared_directory() -> None:
    live, cold = devices("<filesystem type='mount'><source dir='/srv/a'/></filesystem>")
    assert (live.live, live.cold, live.unread) == (True, False, None)
    assert (cold.live, cold.cold, cold.unread is None) == (False, True, False)


def test_raw_arguments() -> None:
    found = read(
        "<domain type='kvm' xmlns:qemu='http://libvirt.org/schemas/domain/qemu/1.0'>"
        "<name>web</name><qemu:commandline><qemu:arg value='-device'/>"
        "<qemu:arg value='vfio-pci,host=03:00.0'/></qemu:commandline></domain>"
    )
    assert found.ties == Known((Tie(TieKind.PASSTHROUGH, "qemu:commandline: -device vfio-pci"),))


def test_machine_and_rules() -> None:
    found = read("<domain type='kvm'><os><type machine='pc-q35-9.0'>hvm</type></os></domain>")
    assert (found.machine, found.confined) == ("pc-q35-9.0", Known(()))


def test_of_a_bare_cpu_nothing_is_known() -> None:
    lone = domain.fragment(xml.parse("<cpu mode='host-model'/>", "the test"))
    found = guest(Forms(inactive=lone), "hall", GuestState.UNKNOWN)
    assert isinstance(found.ties, Missing)


def test_a_flood_of_elements_is_bounded() -> None:
    assert len(devices("<hostdev type='pci'/>" * 5000)) <= 128
    (tie,) = devices(f"<hostdev type='{'x' * 9999}'/>")
    assert len(tie.what) < 200


def test_machines_that_others_have_posted() -> None:
    """Two of them, as examples of everything at once."""
    if not CORPUS.is_dir():
        pytest.skip("the corpus is not here")
    sev = read((CORPUS / "dom-015-amd-sev.xml").read_text(encoding="utf-8"))
    assert [tie.kind for tie in sev.ties.value if tie.live] == [TieKind.CONFIDENTIAL]
    gaming = read(
        (CORPUS / "dom-002-win10-passthrough-topoext.xml").read_text(encoding="utf-8")
    ).ties.value
    kinds = [tie.kind for tie in gaming]
    assert kinds.count(TieKind.PASSTHROUGH) == 8
    assert {TieKind.HUGEPAGES, TieKind.AFFINITY, TieKind.LOCAL_FILE} <= set(kinds)


def test_a_device_that_the_configuration_has_no_more_holds_the_running_domain_only() -> None:
    head = "<domain type='kvm' id='3'><name>web</name><devices>"
    running = domain.read(
        xml.parse(f"{head}<hostdev type='pci'>{PCI}</hostdev></devices></domain>", "the test")
    )
    configured = domain.read(xml.parse("<domain type='kvm'><name>web</name></domain>", "the test"))
    found = guest(Forms(running, configured), "hall", GuestState.RUNNING)
    assert [(tie.live, tie.cold) for tie in found.ties.value] == [(True, False)]
