"""A domain of a real libvirtd: what is written to it, what is refused, what is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from support.libvirt_domain import NAME, WESTMERE, Domain, changeable, place
from support.libvirtd import Libvirtd
from support.unix_relay import relay
from unmask.connect.libvirt_write import DomainWriter
from unmask.errors import TargetError
from unmask.fixes import libvirt, run
from unmask.fixes._target import ChangedError, RefusedError, open_target
from unmask.fixes.journal import Journal
from unmask.fixes.libvirt import LibvirtTarget
from unmask.fixes.run import Hooks, Orders
from unmask.model.change import Phase, Place, Plan, Setting
from unmask.model.inventory import GuestState, Platform
from unmask.model.run import RunKind
from unmask.model.source import CollectOptions


@pytest.fixture
def domain(empty_libvirtd: Libvirtd) -> Iterator[Domain]:
    with changeable(empty_libvirtd) as found:
        yield found


def test_only_the_cpu_is_exchanged_and_given_back_to_the_byte(domain: Domain) -> None:
    first, before = domain.xml(), domain.target.read()
    assert before.value
    assert before.value in first
    domain.target.write(before, Setting(WESTMERE))
    assert domain.xml() == first.replace(before.value, WESTMERE)
    assert "passwd='S3cret'" in domain.xml()
    after = domain.target.read()
    assert (after.value, after.digest) == (WESTMERE, before.digest)
    domain.target.write(after, before)
    assert domain.xml() == first
    assert domain.target.read() == before


def test_defaults_that_libvirt_writes_out_are_the_same(domain: Domain) -> None:
    for written in (
        "<cpu><model>Westmere</model><topology sockets='1' cores='1' threads='1'/></cpu>",
        "<cpu mode='host-model'><feature policy='disable' name='vmx'/></cpu>",
        "<cpu mode='host-passthrough'><numa><cell cpus='0' memory='196608'/></numa></cpu>",
    ):
        domain.target.write(domain.target.read(), Setting(written))
        found = domain.target.read()
        assert found.value != written
        assert domain.target.same(found, Setting(written))
    assert not domain.target.same(found, Setting(WESTMERE))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("qemu64", "kvm64", "its <cpu> has been changed"),
        ("<memory unit='KiB'>196608", "<memory unit='KiB'>262144", "its XML beside its <cpu>"),
    ],
)
def test_what_somebody_else_has_changed_is_left_alone(
    domain: Domain, old: str, new: str, said: str
) -> None:
    before = domain.target.read()
    domain.edit(old, new)
    theirs = domain.xml()
    with pytest.raises(ChangedError, match=said):
        domain.target.write(before, Setting(WESTMERE))
    assert domain.xml() == theirs


def test_a_password_that_was_changed_meanwhile_stays(domain: Domain) -> None:
    """It is in no digest, and what is written back is the text of right before the write."""
    before = domain.target.read()
    domain.edit("S3cret", "N3wer")
    domain.target.write(before, Setting(WESTMERE))
    assert "passwd='N3wer'" in domain.xml()


@pytest.mark.parametrize(
    ("element", "said"),
    [
        ("<cpu mode='bogus'/>", "Extra element cpu in interleave"),
        ("<cpu mode='maximum'><bogus/></cpu>", "Extra element cpu in interleave"),
        (
            WESTMERE.replace("</model>", "</model><cache mode='passthrough'/>"),
            "CPU cache mode 'passthrough' can only be used",
        ),
        ("<cpu", "not well-formed"),
        ("<os/>", "another element"),
    ],
)
def test_what_libvirt_refuses_is_told_and_nothing_is_written(
    domain: Domain, element: str, said: str
) -> None:
    first = domain.xml()
    with pytest.raises(RefusedError, match=said) as caught:
        domain.target.write(domain.target.read(), Setting(element))
    assert NAME in str(caught.value)
    assert "\n" not in str(caught.value)
    assert domain.xml() == first


def test_whoever_may_only_read_is_told_what_it_takes(
    domain: Domain, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, first = domain.target.read(), domain.xml()

    def read_only(self: DomainWriter) -> tuple[object, bool]:
        return self._client.openReadOnly(self.uri), True

    monkeypatch.setattr(DomainWriter, "_opened", read_only)
    with closing(libvirt.open_target(domain.place, CollectOptions())) as target:
        assert target.read() == expected
        with pytest.raises(RefusedError, match="needs write access to libvirt"):
            target.write(expected, Setting(WESTMERE))
        with pytest.raises(RefusedError, match="does not let this user start it"):
            target.start(10)
        assert domain.xml() == first
        domain.told("start")
        with pytest.raises(RefusedError, match="does not let this user shut it down"):
            target.shut_down(10, force=True)
        assert target.state() is GuestState.RUNNING


def test_a_transient_domain_is_refused(domain: Domain) -> None:
    domain.told("start")
    domain.told("undefine")
    before = domain.target.read()
    with pytest.raises(RefusedError, match="transient domain"):
        domain.target.write(before, Setting(WESTMERE))
    with pytest.raises(RefusedError, match="it would be gone once it is off"):
        domain.target.shut_down(1, force=True)
    assert "--persistent" not in domain.libvirtd.virsh("list", "--name", "--persistent")
    assert NAME not in domain.libvirtd.virsh("list", "--all", "--name", "--persistent")
    assert domain.target.state() is GuestState.RUNNING


def edited_meanwhile(domain: Domain, edit: Callable[[], None]) -> Callable[[str], None]:
    """Return a `define` after which somebody else's definition comes at once."""
    writer = domain.target._writer
    assert writer
    real, calls = writer.define, [0]

    def define(xml: str) -> None:
        real(xml)
        calls[0] += 1
        if calls[0] == 1:
            edit()

    return define


def test_a_change_of_somebody_elses_during_the_write_survives_and_ours_is_taken_back(
    domain: Domain, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = domain.target.read()
    define = edited_meanwhile(domain, lambda: domain.edit("196608", "262144"))
    monkeypatch.setattr(domain.target._writer, "define", define)
    with pytest.raises(RefusedError, match=r"currentMemory, memory of its XML.*was put back"):
        domain.target.write(before, Setting(WESTMERE))
    found = domain.target.read()
    assert found.value == before.value
    assert found.digest != before.digest
    assert "262144" in domain.xml()


def test_a_guest_that_is_gone_and_a_host_that_is_gone(
    domain: Domain, empty_libvirtd: Libvirtd
) -> None:
    before = domain.target.read()
    domain.told("undefine")
    for ask in (
        domain.target.read,
        domain.target.state,
        lambda: domain.target.write(before, Setting(WESTMERE)),
        lambda: domain.target.start(10),
        lambda: domain.target.shut_down(10, force=True),
    ):
        with pytest.raises(TargetError, match="not there any more"):
            ask()
    assert NAME not in empty_libvirtd.virsh("list", "--all", "--name")
    where = Place("qemu:///system?socket=/nowhere", "x", "1", "x", Platform.LIBVIRT)
    with pytest.raises(TargetError, match="does not exist"):
        open_target(where, CollectOptions())


def test_an_answer_that_is_lost_is_looked_for(domain: Domain, tmp_path: Path) -> None:
    """libvirt has done it; the connection that would have said so is gone."""
    libvirtd, book = domain.libvirtd, Journal(tmp_path / "state")
    with relay(tmp_path / "relay", libvirtd.socket) as way:
        where = place(libvirtd, f"qemu:///system?socket={way.path}")

        def opened(at: Place) -> LibvirtTarget:
            target = libvirt.open_target(at, CollectOptions(timeout=30))
            writer = target._writer
            assert writer
            real = writer.define

            def define(xml: str) -> None:
                way.lose = True
                real(xml)

            writer.define = define  # type: ignore[method-assign]
            return target

        plan = Plan(where, "Westmere", domain.target.read(), Setting(WESTMERE))
        with book.begin(RunKind.FIX) as writer:
            (outcome,) = run.apply([plan], writer, book, Hooks(opened), Orders())
        assert not way.lose
    assert (outcome.phase, outcome.problem) == (Phase.DONE, "")
    assert domain.target.read().value == WESTMERE
    events = book.runs()[0].guests[0].events
    assert any("connection to libvirt was lost" in event.detail for event in events)


def test_a_connection_that_was_lost_is_opened_anew(domain: Domain, tmp_path: Path) -> None:
    with relay(tmp_path / "relay", domain.libvirtd.socket) as way:
        where = place(domain.libvirtd, f"qemu:///system?socket={way.path}")
        target = libvirt.open_target(where, CollectOptions(timeout=30))
        before = target.read()
        way.lose = True
        with pytest.raises(TargetError, match="connection to libvirt was lost"):
            target.read()
        assert target.read() == before
        target.close()
        target.close()
