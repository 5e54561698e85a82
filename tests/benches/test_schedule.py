"""One machine of a node at a time, several nodes at once."""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable

import pytest

from unmask.benches import _schedule
from unmask.benches._machine import Subject
from unmask.benches._schedule import Job
from unmask.errors import TargetError
from unmask.model.bench import BenchResult
from unmask.model.source import silent

SOON = 20.0


def job(subject: str, host: str, work: Callable[[], None] = lambda: None) -> Job:
    def done() -> BenchResult:
        work()
        return BenchResult(subject, host=host)

    return Job(Subject(subject, subject, host), done)


def test_guests_of_one_node_take_turns_and_nodes_do_not() -> None:
    lock = threading.Lock()
    running: list[str] = []
    most: dict[str, int] = {}
    both = threading.Barrier(2)

    def work(host: str) -> Callable[[], None]:
        def run() -> None:
            with lock:
                running.append(host)
                most[host] = max(most.get(host, 0), running.count(host))
            both.wait(SOON)  # passes only when the other node is measured at the same time
            with lock:
                running.remove(host)

        return run

    jobs = [job(f"{host}/{n}", host, work(host)) for n in range(5) for host in ("pve1", "pve2")]
    outcome = _schedule.run(jobs, 16, silent)
    assert [result.subject for result in outcome.results] == [one.who.subject for one in jobs]
    assert most == {"pve1": 1, "pve2": 1}


def test_those_whose_node_is_not_known_take_turns_too() -> None:
    lock = threading.Lock()

    def alone() -> None:
        assert lock.acquire(blocking=False)
        lock.release()

    outcome = _schedule.run([job(str(n), "", alone) for n in range(5)], 16, silent)
    assert len(outcome.results) == 5


def test_one_that_cannot_be_measured_costs_no_other_its_turn() -> None:
    def fails() -> None:
        raise TargetError("it is stopped")

    outcome = _schedule.run([job("a", "x", fails), job("b", "x")], 4, silent)
    first, second = outcome.results
    assert first.problems == ("It could not be measured: it is stopped",)
    assert first.samples == ()
    assert second.problems == ()


def test_a_bug_is_not_lost() -> None:
    def breaks() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        _schedule.run([job("a", "x", breaks)], 4, silent)


def test_ctrl_c_keeps_what_was_measured() -> None:
    never = threading.Event()

    def press() -> None:
        _thread.interrupt_main()
        never.wait(SOON)

    outcome = _schedule.run([job("a", "x"), job("b", "x", press)], 4, silent)
    never.set()
    assert outcome.interrupted
    assert [result.subject for result in outcome.results] == ["a"]
