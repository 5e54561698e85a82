"""Questions about one domain: to libvirt's test driver, a private libvirtd and dead sockets."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import peers
from support.domain_xml import Boot, document
from support.guest_image import GuestImage
from support.libvirtd import PREFIX, Libvirtd
from unmask.connect import libvirt_client, libvirt_errors
from unmask.connect.libvirt_guest import (
    MOST_CALLS,
    PEEK,
    AddressSource,
    DomainAccess,
    LibvirtHost,
    _returned,
    open_host,
)
from unmask.errors import MissingPackageError, TargetError, UnreadError

pytestmark = pytest.mark.peer

SECONDS = 20.0
TEST_DOMAIN = "6695eb01-f6a4-8304-79aa-97f2502e193f"


@pytest.fixture(autouse=True)
def _needs_libvirt() -> None:
    try:
        libvirt_client.load()
    except MissingPackageError:
        peers.missing("libvirt-python")


@pytest.fixture
def host() -> Iterator[LibvirtHost]:
    """The test driver's host."""
    opened = open_host("test:///default", SECONDS, local=False)
    yield opened
    opened.close()


def test_the_test_driver_tells_what_it_has(host: LibvirtHost) -> None:
    access = host.domain(TEST_DOMAIN)
    assert (access.local, access.read_only) == (False, False)
    assert "<name>test</name>" in access.xml()
    (interface,) = access.interfaces(AddressSource.LEASE)
    assert (interface.mac, interface.addresses) == ("aa:bb:cc:dd:ee:ff", ("192.168.122.3",))
    assert "<forward mode='nat'/>" in access.network("default")


def test_what_a_driver_has_not_is_unread_with_its_reason(host: LibvirtHost) -> None:
    access = host.domain(TEST_DOMAIN)
    for ask in (lambda: access.agent("guest-ping"), lambda: access.peek("vda", 0, 512)):
        with pytest.raises(UnreadError, match="driver of libvirt does not offer it"):
            ask()
    with pytest.raises(UnreadError, match="not there any more"):
        host.domain(TEST_DOMAIN.replace("6", "7")).xml()
    with pytest.raises(UnreadError, match="libvirt says: "):
        access.network("no-such-network")


@pytest.mark.parametrize(("offset", "size"), [(-1, 512), (0, 0), (0, -1), (0, PEEK + 1)])
def test_nobody_peeks_at_more_than_a_little(host: LibvirtHost, offset: int, size: int) -> None:
    with pytest.raises(ValueError, match="not to be peeked at"):
        host.domain(TEST_DOMAIN).peek("vda", offset, size)


def test_calls_that_hang_keep_their_places_and_are_left_behind(host: LibvirtHost) -> None:
    release = threading.Event()
    begun = [threading.Event() for _ in range(MOST_CALLS)]

    def hang(number: int) -> None:
        begun[number].set()
        release.wait(SECONDS)

    try:
        for number in range(MOST_CALLS):
            with pytest.raises(UnreadError, match=r"did not answer within 0\.05 s"):
                host.call(lambda _, number=number: hang(number), 0.05)  # type: ignore[misc]
            assert begun[number].wait(SECONDS)
        asked = threading.Event()
        with pytest.raises(UnreadError, match="did not answer"):
            host.call(lambda _: asked.set(), 0.05)
        assert not asked.is_set()
    finally:
        release.set()
    assert host.call(lambda handle: handle.getType(), SECONDS) == "TEST"


def test_a_daemon_that_never_answers_is_given_up(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "mute"))
        listener.listen()
        with pytest.raises(TargetError, match=r"did not answer within 0\.5 s"):
            open_host(f"qemu:///system?socket={tmp_path / 'mute'}", 0.5, local=True)


def test_a_user_who_may_only_read_is_told_what_is_needed(libvirtd: Libvirtd) -> None:
    """The daemon's socket for reading, given as if it were the one for everything."""
    name = PREFIX + "read-only"
    libvirtd.define(document(name))
    uri = f"qemu:///system?socket={libvirtd.socket}-ro"
    opened = open_host(uri, SECONDS, local=False)
    try:
        uuid = libvirtd.virsh("domuuid", name).strip()
        access = opened.domain(uuid)
        assert f"<name>{name}</name>" in access.xml()
        for ask in (lambda: access.agent("guest-ping"), lambda: access.peek("vda", 0, 512)):
            with pytest.raises(UnreadError, match="read-only connection") as caught:
                ask()
            assert "write access to libvirt" in caught.value.needs
    finally:
        opened.close()
        libvirtd.virsh("undefine", name)


@pytest.fixture
def access(empty_libvirtd: Libvirtd, guest_image: GuestImage) -> Iterator[DomainAccess]:
    """A stopped domain with a raw disk and a qcow2, and no guest agent."""
    directory = empty_libvirtd.directory / "guests"
    raw, other = directory / "disk.raw", directory / "disk.qcow2"
    raw.write_bytes(b"begin" + b"\0" * (2 * PEEK - 8) + b"end")
    peers.run(["qemu-img", "create", "-q", "-f", "qcow2", str(other), "4M"])
    disks = "".join(
        f"<disk type='file' device='disk'><driver name='qemu' type='{kind}'/>"
        f"<source file='{path}'/><target dev='{target}' bus='virtio'/></disk>"
        for kind, path, target in (("raw", raw, "vda"), ("qcow2", other, "vdb"))
    )
    boot = Boot(guest_image.kernel, guest_image.probe, "quiet", devices=disks)
    empty_libvirtd.define(document(PREFIX + "disks", boot=boot))
    opened = open_host(empty_libvirtd.uri, SECONDS, local=False)
    yield opened.domain(empty_libvirtd.virsh("domuuid", PREFIX + "disks").strip())
    opened.close()
    raw.unlink()
    other.unlink()


def test_sectors_of_a_stopped_domain(access: DomainAccess) -> None:
    assert access.peek("vda", 0, 5) == b"begin"
    assert access.peek("vda", PEEK, PEEK)[-3:] == b"end"
    with pytest.raises(UnreadError, match=r"libvirt says: .* bytes available"):
        access.peek("vda", 2 * PEEK - 1, 2)
    with pytest.raises(UnreadError, match=r"libvirt says: .*'raw' format"):
        access.peek("vdb", 0, 512)
    assert access.block_info("vda").capacity == 2 * PEEK
    assert access.block_info("vdb").capacity == 4 * 1024 * 1024


def test_a_stopped_domain_has_no_agent(access: DomainAccess) -> None:
    with pytest.raises(UnreadError, match="does not run"):
        access.agent("guest-ping")
    with pytest.raises(UnreadError, match="does not run"):
        access.interfaces(AddressSource.AGENT)


def test_a_running_domain_without_a_channel_says_what_it_lacks(
    access: DomainAccess, empty_libvirtd: Libvirtd
) -> None:
    empty_libvirtd.virsh("start", PREFIX + "disks")
    with pytest.raises(UnreadError, match="no channel for a guest agent") as caught:
        access.agent("guest-ping")
    assert "org.qemu.guest_agent.0" in caught.value.needs
    assert access.peek("vda", 0, 5) == b"begin"


@pytest.mark.parametrize(
    ("code", "text", "said", "needs"),
    [
        (86, "Guest agent is not responding: QEMU guest agent is not connected", "run", "install"),
        (86, "Guest agent is not responding: Guest agent not available for now", "answer", "runn"),
        (86, "QEMU guest agent is not available due to an error", "given .* up", "stop and start"),
        (68, "Timed out during operation: cannot acquire state change lock", "busy", "another"),
        (39, "Unable to encode message payload", "longer than libvirt takes", ""),
        (38, "No complete agent response found in 10485760 bytes", "without end", ""),
        (1, 'cannot parse json {"return": [[[[', "none of an agent's", ""),
        (
            1,
            "Command guest-exec has been disabled: the command is not allowed",
            "may not",
            "FILTER",
        ),
        (1, "Command guest-exec has been disabled: the agent is in frozen state", "frozen", "try"),
        (1, "The command guest-exec has not been found", "too old", "2.5"),
        (1, 'Failed to execute child process "/bin/sh" (Permission denied)', "SELinux", "SSH"),
        (1, 'Failed to execute child process "/bin/sh" (No such file or directory)', "not in", ""),
        (1, "something \x1b[31m else\nand more", r"libvirt says: something  \[31m else$", ""),
    ],
)
def test_what_libvirts_errors_mean_for_a_guest(code: int, text: str, said: str, needs: str) -> None:
    with pytest.raises(UnreadError, match=said) as caught:
        raise libvirt_errors.unread(code, f"internal error: {text}" if said[0] != "l" else text)
    assert needs in caught.value.needs
    assert bool(caught.value.needs) == bool(needs)


@pytest.mark.parametrize(
    "answer", [None, 7, "", "{", "[]", "7", '{"error": {}}', "[" * 100_000, '{"return": 1', b"{}"]
)
def test_what_is_no_answer_of_an_agent_is_none(answer: object) -> None:
    with pytest.raises(UnreadError, match="none of an agent's"):
        _returned(answer)


@pytest.mark.parametrize("value", [None, 7, {}, {"a": [1]}, "text"])
def test_what_an_agent_returns_is_handed_on(value: object) -> None:
    assert _returned(json.dumps({"return": value})) == value
