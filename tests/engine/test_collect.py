"""A target that fails does not stop the others, and the exit code says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from support.documents import lab
from unmask.engine.collect import Collected, collect
from unmask.errors import InputError, TargetError, UnmaskError, UsageError
from unmask.model.inventory import Inventory
from unmask.model.source import CollectOptions, Interrupted, Source


def source_for(target: str) -> Source:
    if target.startswith("foo:"):
        raise UsageError("foo:// is not a kind of target")
    return Source("test", "a test", lambda _: True, answer)


def answer(target: str, options: CollectOptions) -> Inventory:
    assert options.timeout == 5
    errors: dict[str, UnmaskError] = {
        "down": TargetError("does not answer"),
        "broken": InputError("broken: is truncated"),
        ".": InputError("ends. So it is"),
    }
    if target in errors:
        raise errors[target]
    return replace(lab(), targets=(target,))


def read(*targets: str, progress: Callable[[str], None] = lambda _: None) -> Collected:
    return collect(targets, source_for, lambda _: CollectOptions(timeout=5), progress)


def test_good_targets_are_read() -> None:
    told: list[str] = []
    got = read("one", "one", progress=told.append)
    assert got.inventory == replace(lab(), targets=("one",))
    assert (got.failures, got.exit_code, got.nothing) == ((), 0, False)
    assert told == ["reading one (test)"]


def test_a_failed_target_is_said_and_the_rest_goes_on() -> None:
    got = read("down", "one", "broken")
    assert got.inventory.guests == lab().guests
    assert got.inventory.targets == ("down", "one", "broken")
    assert [gap.subject for gap in got.inventory.gaps] == ["down", "broken", "lab/two"]
    assert [failure.sentence for failure in got.failures] == [
        "down: does not answer",
        "broken: is truncated",
    ]
    assert got.exit_code == 3
    assert not got.nothing


@pytest.mark.parametrize(
    ("targets", "code"),
    [(("down",), 3), (("foo://x",), 2), (("foo://x", "foo://y"), 2), (("foo://x", "down"), 3)],
)
def test_nothing_read_is_told_from_something_read(targets: tuple[str, ...], code: int) -> None:
    got = read(*targets)
    assert got.nothing
    assert got.exit_code == code


def test_a_target_is_named_even_where_its_letters_are_in_the_message() -> None:
    assert read(".").failures[0].sentence == ".: ends. So it is"


def test_a_target_that_means_nothing_beside_a_good_one_is_a_failure() -> None:
    assert read("foo://x", "one").exit_code == 3


def test_after_control_c_no_further_target_is_begun() -> None:
    def source_of(target: str) -> Source:
        def stopped(target: str, _: CollectOptions) -> Inventory:
            begun.append(target)
            raise Interrupted(replace(lab(), targets=(target,)))

        return Source("test", "a test", lambda _: True, stopped if target == "one" else answer)

    begun: list[str] = []
    got = collect(["one", "two"], source_of, lambda _: CollectOptions(timeout=5), lambda _: None)
    assert begun == ["one"]
    assert got.inventory.guests == lab().guests
    assert got.interrupted
    assert got.exit_code == 130
    assert [failure.sentence for failure in got.failures] == [
        "two: not read: interrupted before it"
    ]


def test_options_that_cannot_be_made_are_a_failure_of_their_target() -> None:
    def options_for(target: str) -> CollectOptions:
        if target == "two":
            raise TargetError("there is no token for it")
        return CollectOptions(timeout=5)

    got = collect(["one", "two"], source_for, options_for, lambda _: None)
    assert got.inventory.guests == lab().guests
    assert [failure.sentence for failure in got.failures] == ["two: there is no token for it"]
