"""Guests of the lab that are stopped and started by its API."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support import fix_lab
from support.fix_lab import guest, reads_only
from unmask.fixes import _pve_guest
from unmask.fixes._target import RefusedError
from unmask.lab.lab import Lab
from unmask.model.change import Setting
from unmask.model.inventory import GuestState


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    fix_lab.impatient(monkeypatch)


@pytest.fixture
def lab() -> Iterator[Lab]:
    with Lab(pace=0) as made:
        yield made


def test_what_a_stop_made_of_it_is_undone_too(lab: Lab) -> None:
    before = lab.tree()
    with guest(lab) as it:
        old = it.read()
        it.write(old, Setting("host"))
        it.shut_down(5, force=False)
        it.start(5)
        assert lab.cpu_argument(101).startswith("host")
        it.write(it.read(), old)
        assert "host waits" not in it.takes_hold()
        assert "x86-64-v2 waits" in it.takes_hold()
        it.shut_down(5, force=False)
        it.start(5)
    assert lab.tree() == before
    assert not lab.cpu_argument(101).startswith("host")


def test_a_template_is_changed_but_not_started(lab: Lab) -> None:
    before = lab.tree()
    with guest(lab, "104") as it:
        old = it.read()
        it.write(old, Setting("x86-64-v3"))
        with pytest.raises(RefusedError, match="is a template"):
            it.start(1)
        it.write(it.read(), old)
    assert lab.tree() == before


def test_a_guest_that_does_not_react_is_left_on(lab: Lab) -> None:
    with guest(lab, "122") as it:
        with pytest.raises(RefusedError, match="did not do what it was asked to in time"):
            it.shut_down(1, force=False)
        assert it.state() is GuestState.RUNNING
        it.shut_down(1, force=True)
        assert it.state() is GuestState.STOPPED
        it.shut_down(1, force=False)


def test_a_start_that_fails_says_what_its_task_has_logged(lab: Lab) -> None:
    with guest(lab, "111") as it:
        it.write(it.read(), Setting("EPYC-Genoa"))
        with pytest.raises(RefusedError, match=r"QEMU exited with code 1.*Host doesn't support"):
            it.start(1)
        assert it.state() is GuestState.STOPPED


@pytest.mark.parametrize("fault", ["truncated=1@/status/s", "resets=1@/status/shutdown"])
def test_a_lost_answer_to_a_shutdown_ends_in_what_is_so(lab: Lab, fault: str) -> None:
    arrives = fault.startswith("truncated")
    with guest(lab) as it:
        it.read()
        lab.set_fault(fault)
        if arrives:
            it.shut_down(0.3, force=False)
        else:
            with pytest.raises(RefusedError, match="was not off within"):
                it.shut_down(0.3, force=False)
        lab.clear_faults()
        assert (it.state() is GuestState.STOPPED) is arrives


def test_a_guest_of_high_availability_is_only_stopped_with_force(lab: Lab) -> None:
    before = lab.tree()
    with guest(lab, "125") as it:
        with pytest.raises(RefusedError, match="--force-stop"):
            it.shut_down(1, force=False)
        assert it.state() is GuestState.RUNNING
        assert reads_only(lab)
        it.shut_down(1, force=True)
        assert it.state() is GuestState.STOPPED
        assert "state stopped" in lab.tree()["ha/resources.cfg"]
        it.start(1)
        assert it.state() is GuestState.RUNNING
    assert lab.tree() == before


def test_what_the_manager_does_later_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own task ends after the one that orders it."""
    monkeypatch.setattr(_pve_guest, "HA_GRACE", 20.0)
    with Lab(pace=0.1) as lab, guest(lab, "125") as it:
        it.shut_down(1, force=True)
        assert it.state() is GuestState.STOPPED
        it.start(1)
        assert it.state() is GuestState.RUNNING
        kinds = [task.type for task in lab.cluster.tasks.known.values()]
        assert kinds == ["hastop", "qmshutdown", "hastart", "qmstart"]


def test_a_start_that_the_manager_fails_at_is_told(lab: Lab) -> None:
    with guest(lab, "125") as it:
        it.write(it.read(), Setting("EPYC-Genoa"))
        it.shut_down(1, force=True)
        with pytest.raises(RefusedError, match=r"does not run .* QEMU exited with code 1"):
            it.start(0.2)


def test_a_guest_that_went_off_by_itself_still_has_it_pending(lab: Lab) -> None:
    """Proxmox VE applies what waits at its own stops only, or with the next write."""
    before = lab.tree()
    with guest(lab) as it:
        old = it.read()
        it.write(old, Setting("host"))
        lab.cluster.running.pop(101)
        assert it.state() is GuestState.STOPPED
        assert it.read().value == "host"
        it.write(it.read(), old)
        assert lab.tree() == before
        it.write(old, Setting("host"))
        it.start(1)
        assert lab.cpu_argument(101).startswith("host")


@pytest.mark.parametrize("fault", ["5xx=2@/tasks/", "resets=2@/tasks/", "truncated=2@/tasks/"])
def test_a_task_is_followed_through_answers_that_fail(fault: str) -> None:
    with Lab(pace=0.1) as lab, guest(lab) as it:
        lab.set_fault(fault)
        it.shut_down(5, force=False)
        assert it.state() is GuestState.STOPPED
        it.start(5)
        assert it.state() is GuestState.RUNNING
        assert lab.counts()["POST /nodes/{node}/qemu/{vmid}/status/shutdown"] == 1
        assert lab.counts()["POST /nodes/{node}/qemu/{vmid}/status/start"] == 1
