"""What a guest has now, and what its next start gives it."""

from __future__ import annotations

import pytest

from unmask.dialects import start_ties
from unmask.model.tie import Tie, TieKind

DEVICE = Tie(TieKind.PASSTHROUGH, "hostpci0: 03:00.0")
ALIVE = Tie(TieKind.CONFIDENTIAL, "amd-sev: std", live=True, cold=False)
STOPPED = Tie(TieKind.RESOURCE, "virtiofs0, mapped as a", ("elm",), live=False, cold=True)
TOLD = Tie(TieKind.AFFINITY, "affinity: 0", live=False, cold=False)


@pytest.mark.parametrize("tie", [DEVICE, ALIVE, STOPPED, TOLD])
def test_what_stays_is_as_it_is(tie: Tie) -> None:
    assert start_ties.merged([tie], [tie]) == (tie,)


@pytest.mark.parametrize(
    ("tie", "gone", "new"),
    [
        (DEVICE, (True, False), (False, True)),
        (ALIVE, (True, False), None),
        (STOPPED, None, (False, True)),
        (TOLD, (False, False), (False, False)),
    ],
)
def test_what_comes_and_goes(
    tie: Tie, gone: tuple[bool, bool] | None, new: tuple[bool, bool] | None
) -> None:
    for found, expected in (
        (start_ties.merged([tie], []), gone),
        (start_ties.merged([], [tie]), new),
    ):
        assert [(item.live, item.cold) for item in found] == ([expected] if expected else [])
        assert all((item.what, item.nodes) == (tie.what, tie.nodes) for item in found)


def test_a_path_is_named_and_nothing_else_of_an_argument() -> None:
    (tie,) = start_ties.of_arguments(["-drive", "file=/srv/a.img,key-secret=hunter2"], "args")
    assert tie.what == "args: -drive /srv/a.img"


@pytest.mark.parametrize("words", [[], ["-device"], ["-drive", "if=none"], ["-device", "pvpanic"]])
def test_arguments_that_tie_to_nothing(words: list[str]) -> None:
    assert list(start_ties.of_arguments(words, "args")) == []
