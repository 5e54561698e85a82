import threading
import time

import pytest

from unmask.connect import threads
from unmask.errors import TargetError

LATE = TargetError("too late")


def test_the_result_or_the_error_of_the_job_comes_back() -> None:
    assert threads.within(5, lambda: 7, LATE) == 7
    with pytest.raises(ZeroDivisionError):
        threads.within(5, lambda: 1 / 0, LATE)


def test_a_job_that_hangs_is_left_behind() -> None:
    release = threading.Event()
    begun = time.monotonic()
    with pytest.raises(TargetError, match="too late"):
        threads.within(0.1, lambda: release.wait(30), LATE)
    assert time.monotonic() - begun < 10
    release.set()


def test_a_timeout_raised_by_the_job_is_not_taken_for_the_deadline() -> None:
    def fail() -> None:
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        threads.within(5, fail, LATE)


def test_results_keep_the_order_and_work_is_shared() -> None:
    both = threading.Barrier(2, timeout=10)

    def work(number: int) -> int:
        if number < 2:
            both.wait()
        return number * number

    assert threads.spread(work, range(20), workers=2) == [n * n for n in range(20)]
    assert threads.spread(work, [], workers=2) == []


def test_an_error_of_one_item_is_raised() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        threads.spread(int, ["1", "x"], workers=0)


def test_gather_returns_what_was_done_in_time() -> None:
    slow = threading.Event()
    told: list[int] = []

    def work(number: int) -> int:
        if number == 2:
            slow.wait(30)
        return number * number

    got = threads.gather(work, range(4), 4, 0.5, told.append)
    slow.set()
    assert sorted(got.results) == [0, 1, 3]
    assert [got.results[index].result() for index in (0, 1, 3)] == [0, 1, 9]
    assert told == [1, 2, 3]
    assert not got.interrupted


def test_gather_ends_at_control_c_and_begins_nothing_more() -> None:
    begun: list[int] = []
    go_on = threading.Event()

    def work(number: int) -> int:
        begun.append(number)
        if number:
            go_on.wait(30)
        return number

    def told(_: int) -> None:
        raise KeyboardInterrupt

    got = threads.gather(work, range(10), 2, 30, told)
    assert got.interrupted
    assert set(got.results) == {0}
    before = len(begun)
    go_on.set()
    time.sleep(0.1)
    assert len(begun) == before


def test_gather_passes_errors_on_with_their_item() -> None:
    got = threads.gather(int, ["1", "x"], 2, 30, lambda _: None)
    assert got.results[0].result() == 1
    with pytest.raises(ValueError, match="x"):
        got.results[1].result()
    assert threads.gather(int, [], 2, 30, lambda _: None).results == {}
