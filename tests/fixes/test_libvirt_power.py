"""A domain of a real libvirtd: when its new CPU is in force, and its power button."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.libvirt_domain import WESTMERE, Domain, changeable
from support.libvirtd import Libvirtd
from unmask.fixes._target import RefusedError
from unmask.model.change import Setting
from unmask.model.inventory import GuestState


@pytest.fixture
def domain(empty_libvirtd: Libvirtd) -> Iterator[Domain]:
    with changeable(empty_libvirtd) as found:
        yield found


def test_a_running_guest_keeps_its_cpu_until_it_is_started_again(domain: Domain) -> None:
    before = domain.target.read()
    domain.target.start(30)
    assert domain.target.state() is GuestState.RUNNING
    assert domain.target.read() == before
    live = domain.xml("--migratable")
    domain.target.write(before, Setting(WESTMERE))
    assert domain.xml("--migratable") == live
    domain.told("reset")
    assert domain.xml("--migratable") == live
    domain.target.shut_down(0, force=True)
    assert domain.target.state() is GuestState.STOPPED
    domain.target.start(30)
    assert "Westmere" in domain.xml("--migratable")
    domain.target.start(30)  # one that runs is left alone


def test_a_saved_state_is_not_resumed(domain: Domain) -> None:
    domain.told("start")
    domain.told("managedsave")
    domain.target.write(domain.target.read(), Setting(WESTMERE))
    with pytest.raises(RefusedError, match=r"saved state .*managedsave-remove"):
        domain.target.start(10)
    assert domain.target.state() is GuestState.STOPPED
    domain.told("managedsave-remove")
    domain.target.start(30)
    assert "Westmere" in domain.xml("--migratable")


def test_a_model_that_libvirt_does_not_know_defines_and_does_not_start(domain: Domain) -> None:
    domain.target.write(domain.target.read(), Setting(WESTMERE.replace("Westmere", "NoSuchCPU")))
    with pytest.raises(RefusedError, match="Unknown CPU model NoSuchCPU"):
        domain.target.start(10)
    assert domain.target.state() is GuestState.STOPPED


def test_a_guest_that_does_not_shut_down_is_left_on_unless_forced(domain: Domain) -> None:
    domain.target.start(30)
    with pytest.raises(RefusedError, match=r"still on after 1 s; .*force it"):
        domain.target.shut_down(1, force=False)
    assert domain.target.state() is GuestState.RUNNING
    domain.told("suspend")
    assert domain.target.state() is GuestState.PAUSED
    with pytest.raises(RefusedError, match="paused and cannot shut down"):
        domain.target.shut_down(60, force=False)
    with pytest.raises(RefusedError, match="it is paused, not off"):
        domain.target.start(10)
    domain.target.shut_down(60, force=True)
    assert domain.target.state() is GuestState.STOPPED
    domain.target.shut_down(60, force=False)  # one that is off is left alone


def test_a_shutdown_after_which_the_same_process_goes_on_is_not_asked_for(domain: Domain) -> None:
    domain.edit("<on_poweroff>destroy", "<on_poweroff>restart")
    domain.target.start(30)
    with pytest.raises(RefusedError, match="on_poweroff is restart"):
        domain.target.shut_down(60, force=False)
    assert domain.target.state() is GuestState.RUNNING
