"""A whole collection from libvirt's drivers that live in this process, and from a real daemon."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import peers
from support.libvirtd import PREFIX, Libvirtd
from unmask.connect import libvirt_client as client
from unmask.connect.libvirt import Connection, OfferKey
from unmask.dialects import saved
from unmask.dialects.libvirt import xml
from unmask.errors import MissingPackageError, TargetError
from unmask.model.cpu import Accelerator, Mode, Origin, RemarkKind
from unmask.model.inventory import Guest, GuestState, Inventory
from unmask.model.reading import Known, Missing
from unmask.model.source import CollectOptions
from unmask.sources import libvirt as source
from unmask.sources.libvirt import SOURCE, fits, is_local

OPTIONS = CollectOptions(timeout=120, workers=4)
WESTMERE = "<cpu mode='custom' match='exact'><model>Westmere</model></cpu>"


@pytest.mark.parametrize(
    "target",
    [
        "qemu:///system",
        "qemu+ssh://root@host/system?no_tty=1",
        "qemu:///embed?root=/tmp/x",
        "test:///default",
        "xen+tcp://host/",
        "lxc:///system",
        "ch:///system",
        "bhyve:///system",
    ],
)
def test_libvirts_uris_fit(target: str) -> None:
    assert fits(target)


@pytest.mark.parametrize(
    "target", ["nosuch:///x", "pve://host", "/etc/pve", "qemu", "qemu:", "https://host/", "x.xml"]
)
def test_other_targets_do_not_fit(target: str) -> None:
    assert not fits(target)


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("qemu:///system", True),
        ("qemu+unix:///session", True),
        ("qemu:///embed?root=/x", True),
        ("qemu:///system?socket=/forwarded", False),
        ("qemu+ssh://host/system", False),
        ("qemu+tcp:///system", False),
        ("test:///default", False),
    ],
)
def test_which_uris_lead_to_this_machine(uri: str, *, expected: bool) -> None:
    assert is_local(uri) is expected


@pytest.fixture
def libvirt() -> None:
    try:
        client.load()
    except MissingPackageError:
        peers.missing("libvirt-python")


def collect(uri: str) -> Inventory:
    return SOURCE.collect(uri, OPTIONS)


def guests(inventory: Inventory) -> dict[str, Guest]:
    return {guest.name.removeprefix(PREFIX): guest for guest in inventory.guests}


def document(name: str, cpu: str = "", kind: str = "qemu", more: str = "") -> str:
    return (
        f"<domain type='{kind}' xmlns:qemu='http://libvirt.org/schemas/domain/qemu/1.0'>"
        f"<name>{name}</name>{more}<memory unit='MiB'>64</memory>"
        f"<os><type arch='x86_64' machine='pc'>hvm</type></os>{cpu}</domain>"
    )


@pytest.mark.peer
@pytest.mark.usefixtures("libvirt")
def test_the_test_driver() -> None:
    found = collect("test:///default")
    (host,) = found.hosts
    assert found.targets == ("test:///default",)
    assert host.software.hypervisor.startswith("libvirt ")
    assert isinstance(host.cpu, Missing)
    guest = guests(found)["test"]
    assert (guest.subject, guest.host) == (f"{host.subject}/test", host.subject)
    assert (guest.state, guest.accelerator) == (GuestState.RUNNING, Accelerator.OTHER)
    assert (guest.configured.mode, guest.running) == (Mode.UNKNOWN, None)
    assert found.gaps == ()


@pytest.mark.peer
@pytest.mark.usefixtures("libvirt")
def test_a_test_file_with_odd_domains(tmp_path: Path) -> None:
    cpus = {"named": WESTMERE, "odd": "<cpu><model>NoSuchCPU</model></cpu>", "none": ""}
    path = tmp_path / "node.xml"
    domains = "".join(document(name, cpu, "test") for name, cpu in cpus.items())
    path.write_text(
        f"<node>{domains}</node>".replace("x86_64", "i686").replace(" machine='pc'", "")
    )
    found = collect(f"test://{path}")
    assert [guest.name for guest in found.guests] == ["named", "none", "odd"]
    named, none, odd = found.guests
    assert (named.current.label, named.current.origin) == ("Westmere", Origin.LIVE)
    assert none.current.mode is Mode.UNKNOWN
    assert odd.current.remarked(RemarkKind.UNRESOLVED)
    assert saved.load(saved.dump(found)) == found


@pytest.mark.peer
@pytest.mark.usefixtures("libvirt")
def test_a_file_that_the_test_driver_cannot_read(tmp_path: Path) -> None:
    path = tmp_path / "node.xml"
    path.write_text("<domain/>")
    with pytest.raises(TargetError, match="libvirt says"):
        collect(f"test://{path}")


@pytest.mark.peer
@pytest.mark.usefixtures("libvirt")
def test_a_domain_that_cannot_be_parsed_is_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unmask.dialects.libvirt.xml.DEPTH", 3)
    found = collect("test:///default")
    assert found.guests == ()
    assert any("the XML of domain test nests" in gap.reason for gap in found.gaps)


IN_ITS_OWN_PROCESS = """
import sys
from unmask.connect.libvirt import within
from unmask.dialects import saved
from unmask.model.source import CollectOptions
from unmask.sources.libvirt import SOURCE

uri, document = sys.argv[1:]
options = CollectOptions(timeout=120)
within(uri, options, lambda connection: connection._handle.defineXML(document) and None)
print(saved.dump(SOURCE.collect(uri, options)))
"""
"""The embedded driver takes one directory for the whole life of a process."""


@pytest.mark.peer
@pytest.mark.usefixtures("libvirt")
def test_the_embedded_driver(tmp_path: Path) -> None:
    peers.program("qemu-system-x86_64")
    uri = f"qemu:///embed?root={tmp_path}"
    argv = [sys.executable, "-c", IN_ITS_OWN_PROCESS, uri, document("inside", WESTMERE)]
    found = saved.load(peers.run(argv, timeout=180).stdout)
    assert isinstance(found.hosts[0].cpu, Known)
    assert found.hosts[0].cpu.value.complete, "this machine's own list"
    assert found.hosts[0].offers
    (guest,) = found.guests
    assert (guest.name, guest.configured.label, guest.state) == (
        "inside", "Westmere", GuestState.STOPPED,
    )  # fmt: skip


@pytest.fixture(scope="module")
def daemon(libvirtd: Libvirtd) -> Iterator[Libvirtd]:
    libvirtd.define(
        document(PREFIX + "stopped", "<cpu><model>Haswell-v4</model></cpu>"),
        document(PREFIX + "pending", WESTMERE),
        document(PREFIX + "paused", "<cpu mode='host-model'/>"),
        document(PREFIX + "saved", WESTMERE),
        document(PREFIX + "kvm", "<cpu mode='host-passthrough'/>", "kvm"),
    )
    for name in ("pending", "paused", "saved"):
        libvirtd.virsh("start", PREFIX + name)
    libvirtd.virsh("suspend", PREFIX + "paused")
    libvirtd.virsh("managedsave", PREFIX + "saved")
    for name in ("pending", "saved"):
        uuid = libvirtd.virsh("domuuid", PREFIX + name).strip()
        kvm64 = "<cpu><model>kvm64</model></cpu>"
        libvirtd.define(document(PREFIX + name, kvm64, more=f"<uuid>{uuid}</uuid>"))
    path = libvirtd.directory / "guests" / "transient.xml"
    path.write_text(document(PREFIX + "transient", "<cpu><model>EPYC</model></cpu>"))
    libvirtd.virsh("create", str(path))
    yield libvirtd
    libvirtd.remove_domains()


@pytest.mark.usefixtures("libvirt")
def test_every_state_of_a_real_daemon(daemon: Libvirtd) -> None:
    inventory = collect(daemon.uri)
    found = guests(inventory)
    assert {name: guest.state for name, guest in found.items()} == {
        "kvm": GuestState.STOPPED,
        "paused": GuestState.PAUSED,
        "pending": GuestState.RUNNING,
        "saved": GuestState.SUSPENDED,
        "stopped": GuestState.STOPPED,
        "transient": GuestState.RUNNING,
    }
    assert found["stopped"].configured.remarked(RemarkKind.NO_START)
    assert found["kvm"].accelerator is Accelerator.KVM
    paused = found["paused"]
    assert paused.configured.mode is Mode.HOST_MODEL
    assert paused.current.label.startswith("host-model (")
    assert {name for name, guest in found.items() if guest.pending} == {"pending", "saved"}
    for name in ("pending", "saved"):
        guest = found[name]
        assert guest.pending is not None
        assert (guest.current.label, guest.pending.label) == ("Westmere", "kvm64")
    assert found["pending"].configured.origin is Origin.CONFIG
    assert found["transient"].current.label == "EPYC"
    assert inventory.gaps == ()


@pytest.mark.usefixtures("libvirt")
def test_host_and_offers_of_a_real_daemon(daemon: Libvirtd) -> None:
    (host,) = collect(daemon.uri).hosts
    assert isinstance(host.cpu, Known)
    assert not host.cpu.value.complete, "over a socket elsewhere libvirt's account is all there is"
    assert host.software.qemu[0].isdigit()
    offered = {(offer.arch, offer.accelerator) for offer in host.offers}
    assert ("x86_64", Accelerator.TCG) in offered
    emulated = next(offer for offer in host.offers if offer.accelerator is Accelerator.TCG)
    assert emulated.host_model is not None
    assert dict(emulated.usable)["qemu64"]


@pytest.mark.usefixtures("libvirt")
def test_a_read_only_connection_says_what_it_costs(
    daemon: Libvirtd, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = client.opened

    def only_read(module: object, uri: str) -> tuple[object, bool]:
        handle, _ = real(module, uri)  # type: ignore[arg-type]
        handle.close()
        return client.load().openReadOnly(uri), True

    monkeypatch.setattr(client, "opened", only_read)
    inventory = collect(daemon.uri)
    found = guests(inventory)
    assert inventory.hosts[0].offers == ()
    assert {name for name, guest in found.items() if guest.pending} == {"pending", "saved"}
    assert found["transient"].pending is None
    assert [gap.reason.split(":")[0] for gap in inventory.gaps] == [
        "libvirt gave a read-only connection"
    ]


@pytest.mark.usefixtures("libvirt")
def test_an_emulator_that_libvirt_does_not_list_is_never_asked_about(
    daemon: Libvirtd, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The daemon would execute it."""
    name = PREFIX + "own-emulator"
    own = "<devices><emulator>/usr/bin/env</emulator></devices>"
    root = xml.parse(document(name).replace("</domain>", own + "</domain>"), "it")
    key = source._key(root)
    assert key is not None
    assert key.emulator == "/usr/bin/env"
    asked = []
    answer = Connection.domain_capabilities

    def noted(connection: Connection, wanted: OfferKey) -> object:
        asked.append(wanted.emulator)
        return answer(connection, wanted)

    monkeypatch.setattr(source, "_key", lambda _root: key)
    monkeypatch.setattr(Connection, "domain_capabilities", noted)
    inventory = collect(daemon.uri)
    assert asked == [""]
    assert any("does not list the emulator /usr/bin/env" in gap.reason for gap in inventory.gaps)
