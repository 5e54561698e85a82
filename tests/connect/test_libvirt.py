"""The client against libvirt's own test driver, embedded driver and dead sockets."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from support import peers
from unmask.connect import libvirt_client as client
from unmask.connect.libvirt import Connection, DomainRecord, OfferKey, within
from unmask.errors import MissingPackageError, TargetError
from unmask.model.inventory import GuestState
from unmask.model.reading import Missing
from unmask.model.source import CollectOptions

pytestmark = pytest.mark.peer

OPTIONS = CollectOptions(timeout=60, workers=4)

DOMAIN = """<domain type='test'><name>{name}</name><memory>8192</memory><vcpu>1</vcpu>
<os><type arch='i686'>hvm</type></os></domain>"""


@pytest.fixture(autouse=True)
def _needs_libvirt() -> None:
    try:
        client.load()
    except MissingPackageError:
        peers.missing("libvirt-python")


@pytest.fixture
def many(tmp_path: Path) -> str:
    """The URI of a test host with 50 running domains."""
    path = tmp_path / "node.xml"
    domains = "".join(DOMAIN.format(name=f"guest-{number:02}") for number in range(50))
    path.write_text(f"<node>{domains}</node>")
    return f"test://{path}"


@pytest.fixture
def mute(tmp_path: Path) -> Iterator[Path]:
    """A socket that accepts and never answers."""
    path = tmp_path / "mute"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        yield path


def test_default_test_host() -> None:
    def job(connection: Connection) -> tuple[str, str, tuple[DomainRecord, ...]]:
        records, gaps = connection.domains()
        assert gaps == ()
        return connection.driver(), connection.software().hypervisor, records

    driver, software, (record,) = within("test:///default", OPTIONS, job)
    assert driver == "TEST"
    assert software.startswith("libvirt ")
    assert (record.name, record.state) == ("test", GuestState.RUNNING)
    assert "<domain type='test' id='1'>" in record.live
    assert "<domain type='test'>" in record.inactive


def test_a_domain_with_snapshots_is_told_from_one_without(tmp_path: Path) -> None:
    domains = "".join(DOMAIN.format(name=name) for name in ("bare", "kept"))
    node = tmp_path / "node.xml"
    node.write_text(f"<node>{domains}</node>", encoding="utf-8")

    def job(connection: Connection) -> list[tuple[str, bool | None]]:
        handle = connection._handle.lookupByName("kept")
        handle.snapshotCreateXML("<domainsnapshot><name>before</name></domainsnapshot>")
        records, _ = connection.domains()
        return sorted((record.name, record.snapshots) for record in records)

    found = within(f"test://{node}", OPTIONS, job)
    assert found == [("bare", False), ("kept", True)]


def test_fifty_domains_arrive_in_order(many: str) -> None:
    records, gaps = within(many, OPTIONS, Connection.domains)
    assert gaps == ()
    assert sorted(record.name for record in records) == [f"guest-{n:02}" for n in range(50)]
    assert all(record.name in record.live for record in records)


def test_what_a_driver_has_not_is_missing_with_its_reason() -> None:
    answer = within(
        "test:///default", OPTIONS, lambda connection: connection.domain_capabilities(OfferKey())
    )
    assert isinstance(answer, Missing)
    assert "not supported" in answer.reason


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("test:///no/such/node.xml", "there is no file /no/such/node.xml"),
        ("qemu+unix:///system?socket=/no/such/socket", "/no/such/socket does not exist"),
        ("qemu+nosuch://host.invalid/system", "transport"),
        ("qemu+tcp://127.0.0.1:1/system", "no libvirt answers at 127.0.0.1:1"),
    ],
)
def test_a_host_that_cannot_be_reached(
    uri: str, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(TargetError, match=r"^\S+: ") as caught:
        within(uri, OPTIONS, Connection.hostname)
    assert said in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_a_daemon_that_never_answers_is_given_up(mute: Path) -> None:
    begun = time.monotonic()
    with pytest.raises(TargetError, match="did not answer within 1 s"):
        within(f"qemu:///system?socket={mute}", CollectOptions(timeout=1), Connection.hostname)
    assert time.monotonic() - begun < 20


def test_domains_left_when_time_is_up_are_gaps(many: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Connection, "_late", lambda _self: True)
    records, gaps = within(many, OPTIONS, Connection.domains)
    assert records == ()
    assert len(gaps) == 50
    assert "not read within 60 s" in gaps[0].reason


class Refusing(ModuleType):
    """libvirt as it answers a user who may only read: real, but for `open`."""

    def __init__(self, real: ModuleType) -> None:
        super().__init__("libvirt")
        self.real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    def open(self, uri: str) -> Any:
        """Fail as a read-only connection fails, with libvirt's own error."""
        return self.real.openReadOnly(uri).listAllDomains(0)[0].destroy()


def test_a_user_who_may_only_read_gets_what_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    refusing = Refusing(client.load())
    monkeypatch.setattr(client, "load", lambda: refusing)

    def job(connection: Connection) -> tuple[bool, str, bool]:
        answer = connection.domain_capabilities(OfferKey("kvm"))
        assert isinstance(answer, Missing)
        records, _ = connection.domains()
        return connection.read_only, records[0].started, "write access" in answer.needs

    assert within("test:///default", OPTIONS, job) == (True, "", True)


def test_a_domain_that_vanishes_is_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    def job(connection: Connection) -> tuple[set[str], list[tuple[str, str]]]:
        handle = connection._handle.createXML(DOMAIN.format(name="short-lived"), 0)
        states = connection._states

        def after_listing() -> dict[str, int]:
            handle.destroy()
            return states()

        monkeypatch.setattr(connection, "_states", after_listing)
        records, gaps = connection.domains()
        return {record.name for record in records}, [(gap.subject, gap.reason) for gap in gaps]

    names, gaps = within("test:///default", OPTIONS, job)
    assert names == {"test"}
    assert gaps == [("short-lived", "it vanished while the host was being read")]


def test_without_the_package_one_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "libvirt", None)
    monkeypatch.setattr(client, "load", client.load.__wrapped__)
    with pytest.raises(MissingPackageError, match=r"-m pip install libvirt-python$") as caught:
        within("test:///default", OPTIONS, Connection.hostname)
    assert "libvirt-dev" in str(caught.value)
