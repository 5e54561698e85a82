"""What the options of a configuration tie a guest to, its disks apart."""

from __future__ import annotations

import pytest

from unmask.dialects.proxmox import guest
from unmask.dialects.proxmox.mapping import Mapped
from unmask.dialects.proxmox.specification import Place
from unmask.dialects.proxmox.storage import Storage
from unmask.dialects.proxmox.surroundings import Surroundings
from unmask.model.reading import Known, Missing
from unmask.model.tie import Tie, TieKind

HIDDEN = Missing("it is not listed", "Mapping.Audit on /mapping/pci/far")
AROUND = Surroundings(
    nodes=("ash", "elm", "oak"),
    storages=Known({
        "local": Storage("local", "dir", shared=False),
        "nfs": Storage("nfs", "nfs", shared=True),
    }),
    mappings={
        "pci": Known({"gpu": Mapped(("elm", "oak")), "vgpu": Mapped(("oak",), live=True)}),
        "usb": Known({"key": Mapped(("ash",))}),
        "dir": Known({"media": Mapped(("ash", "elm"))}),
    },
    hidden=lambda _, name: HIDDEN if name == "far" else None,
)  # fmt: skip
BOTH = (True, True)
LIVE = (True, False)
COLD = (False, True)
NEITHER = (False, False)


def ties(line: str, around: Surroundings = AROUND) -> list[Tie]:
    return list(guest.read(f"{line}\n", "101", Place("lab", "elm", around=around)).ties.value)


@pytest.mark.parametrize(
    ("line", "kind", "what", "stops"),
    [
        ("hostpci0: 0000:03:00.0,pcie=1", "passthrough", "hostpci0: 0000:03:00.0", BOTH),
        ("hostpci0: host=0000:03:00.0", "passthrough", "hostpci0: 0000:03:00.0", BOTH),
        ("usb0: host=1050:0407", "passthrough", "usb0: 1050:0407", BOTH),
        ("usb1: 1-2", "passthrough", "usb1: 1-2", BOTH),
        ("serial0: /dev/ttyS0", "resource", "serial0: /dev/ttyS0", BOTH),
        ("parallel0: /dev/parport0", "resource", "parallel0: /dev/parport0", BOTH),
        ("ivshmem: size=32", "resource", "ivshmem, memory shared with its node", BOTH),
        ("amd-sev: type=snp", "confidential", "amd-sev: snp", LIVE),
        ("amd-sev: std", "confidential", "amd-sev: std", LIVE),
        ("intel-tdx: type=tdx", "confidential", "intel-tdx: tdx", LIVE),
        ("vga: qxl,clipboard=vnc", "resource", "vga with clipboard=vnc", LIVE),
        ("affinity: 0-3,8", "affinity", "affinity: 0-3,8", NEITHER),
        (
            "numa0: cpus=0-1,hostnodes=0,memory=512",
            "affinity",
            "numa0 on host NUMA node 0",
            NEITHER,
        ),
    ],
)
def test_a_device(line: str, kind: str, what: str, stops: tuple[bool, bool]) -> None:
    (tie,) = ties(line)
    assert (tie.kind, tie.what, tie.nodes, tie.unread) == (kind, what, (), None)
    assert (tie.live, tie.cold) == stops


@pytest.mark.parametrize(
    "line",
    [
        "usb0: spice",
        "usb0: host=SPICE,usb3=1",
        "serial0: socket",
        "vga: std",
        "numa: 1",
        "numa0: cpus=0-1,memory=512",
        "args: -device pvpanic -cpu host",
        'args: -device "vfio-pci',  # an open quote: Proxmox starts QEMU without any of it
        "hookscript: nfs:snippets/hook.pl",
        "net0: virtio=BC:24:11:00:00:01,bridge=vmbr0",
    ],
)
def test_what_ties_to_nothing(line: str) -> None:
    assert ties(line) == []


def test_a_mapped_device_stops_every_live_move_and_cold_ones_where_it_is_not() -> None:
    what = "hostpci0, mapped as gpu"
    assert ties("hostpci0: mapping=gpu,pcie=1") == [
        Tie(TieKind.PASSTHROUGH, what, live=True, cold=False),
        Tie(TieKind.PASSTHROUGH, what, ("elm", "oak"), live=False, cold=True),
    ]


def test_a_device_whose_state_can_be_migrated_only_has_to_be_there() -> None:
    what = "hostpci0, mapped as vgpu"
    assert ties("hostpci0: mapping=vgpu,mdev=nvidia-660") == [
        Tie(TieKind.PASSTHROUGH, what, ("oak",), live=True, cold=True)
    ]


def test_a_mapping_that_is_nowhere_lets_it_go_nowhere() -> None:
    assert ties("usb0: mapping=gone")[1].nodes == ()
    assert ties("usb0: mapping=key")[1].nodes == ("ash",)


def test_a_mapping_that_may_not_be_seen_is_not_known() -> None:
    live, cold = ties("hostpci0: mapping=far")
    assert (live.live, live.unread) == (True, None)  # a passed-through device never goes alive
    assert (cold.cold, cold.unread) == (True, HIDDEN)
    nothing = ties("hostpci0: mapping=gpu", Surroundings())[1]
    assert nothing.unread is not None


def test_a_shared_directory() -> None:
    live, cold = ties("virtiofs0: media,cache=always")
    assert (live.kind, live.live, live.cold) == (TieKind.RESOURCE, True, False)
    assert (cold.nodes, cold.live, cold.cold) == (("ash", "elm"), False, True)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("hugepages: 1024", TieKind.HUGEPAGES),
        ("numa0: cpus=0,hostnodes=1,memory=512,policy=bind", TieKind.AFFINITY),
        ("numa0: cpus=0,hostnodes=0-1,memory=512", TieKind.AFFINITY),
        ("hookscript: local:snippets/hook.pl", TieKind.LOCAL_FILE),
        ("cicustom: user=local:snippets/user.yml", TieKind.LOCAL_FILE),
        ("args: -drive file=/srv/x.img,if=virtio", TieKind.LOCAL_FILE),
    ],
)
def test_what_the_target_may_lack_is_not_known(line: str, kind: TieKind) -> None:
    (tie,) = ties(line)
    assert (tie.kind, tie.live, tie.cold) == (kind, True, True)
    assert tie.unread is not None
    assert tie.unread.needs


@pytest.mark.parametrize(
    ("argument", "kind"),
    [
        ("-device vfio-pci,host=03:00.0", TieKind.PASSTHROUGH),
        ("--device usb-host,hostbus=1", TieKind.PASSTHROUGH),
        ("-device ivshmem-plain,memdev=x", TieKind.RESOURCE),
        ("-device virtio-9p-pci,fsdev=x", TieKind.RESOURCE),
    ],
)
def test_devices_of_raw_arguments(argument: str, kind: TieKind) -> None:
    (tie,) = ties(f"args: {argument}")
    assert (tie.kind, tie.live, tie.cold) == (kind, True, True)


def test_secrets_of_raw_arguments_stay_there() -> None:
    line = "args: -object secret,id=s,data=hunter2 -drive file=/x.img,key-secret=hunter2"
    assert "hunter2" not in str(ties(line))


@pytest.mark.parametrize(
    ("text", "machine"),
    [
        ("machine: q35\n", "q35"),
        ("machine: type=pc-q35-9.2+pve1,viommu=intel\n", "pc-q35-9.2+pve1"),
        ("machine: viommu=virtio,type=q35\n", "q35"),
        ("machine: pc-i440fx-10.1,viommu=intel\n", "pc-i440fx-10.1"),
        ("cores: 2\n", ""),
        ("lock: suspended\nmachine: q35\nrunningcpu: kvm64\nrunningmachine: pc-q35-8.0\n",
         "pc-q35-8.0"),
    ],
)  # fmt: skip
def test_the_machine_in_force(text: str, machine: str) -> None:
    assert guest.read(text, "101", Place("lab", "elm")).machine == machine


def test_a_pending_change_counts_for_a_move_of_the_stopped_guest() -> None:
    text = "hostpci0: 03:00.0\nusb0: host=1-2\n\n[PENDING]\ndelete: hostpci0\nserial0: /dev/ttyS0"
    assert [(tie.what, tie.live, tie.cold) for tie in ties(text)] == [
        ("hostpci0: 03:00.0", True, False),
        ("usb0: 1-2", True, True),
        ("serial0: /dev/ttyS0", False, True),
    ]
