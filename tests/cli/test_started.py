"""When a run began, by the clock or by SOURCE_DATE_EPOCH."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from unmask.cli.started import started
from unmask.errors import UsageError


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("0", "1970-01-01T00:00:00Z"),
        ("1796112000", "2026-12-01T08:00:00Z"),
        ("253402300799", "9999-12-31T23:59:59Z"),
        ("0" * 5000 + "1", "1970-01-01T00:00:01Z"),
    ],
)
def test_the_variable_takes_the_place_of_the_clock(told: str, said: str) -> None:
    assert started({"SOURCE_DATE_EPOCH": told}) == said


@pytest.mark.parametrize(
    "told", ["-1", "1.5", "now", "\u0661", "253402300800", "9" * 500, "0" * 20 + "9" * 14, " 1"]
)
def test_what_is_no_time_is_refused(told: str) -> None:
    with pytest.raises(UsageError, match="not a number of seconds since 1970"):
        started({"SOURCE_DATE_EPOCH": told})


@pytest.mark.parametrize("environment", [{}, {"SOURCE_DATE_EPOCH": ""}])
def test_without_it_the_clock_tells(environment: dict[str, str]) -> None:
    said = datetime.strptime(started(environment), "%Y-%m-%dT%H:%M:%S%z")
    assert abs((datetime.now(UTC) - said).total_seconds()) < 86400
