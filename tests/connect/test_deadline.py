"""A clock counts from the beginning, for the run and for each thread."""

import threading

import pytest

from unmask.connect.deadline import Clock, LateError


class Time:
    """Passes when told to."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_run_ends() -> None:
    time = Time()
    clock = Clock(10, time)
    assert (clock.left(), clock.remaining, clock.over) == (10, 10, False)
    time.now += 10
    assert (clock.remaining, clock.over) == (0, True)
    with pytest.raises(LateError):
        clock.left()
    clock.sleep(5)  # returns at once


def test_a_part_ends_before_the_run() -> None:
    time = Time()
    clock = Clock(10, time)
    with clock.within(3):
        assert clock.left() == 3
        time.now += 4
        with pytest.raises(LateError):
            clock.left()
        assert not clock.over
    assert clock.left() == 6


def test_a_part_is_never_longer_than_the_run() -> None:
    time = Time()
    clock = Clock(2, time)
    with clock.within(30):
        assert clock.left() == 2


def test_each_thread_has_its_own_part() -> None:
    clock = Clock(10, Time())
    seen: list[float] = []
    with clock.within(1):
        other = threading.Thread(target=lambda: seen.append(clock.left()))
        other.start()
        other.join()
    assert seen == [10]


def test_a_part_within_a_part_is_never_longer_than_that() -> None:
    time = Time()
    clock = Clock(10, time)
    with clock.within(3):
        with clock.within(5):
            assert clock.left() == 3
        with clock.within(1):
            assert clock.left() == 1
        assert clock.left() == 3
    assert clock.left() == 10
