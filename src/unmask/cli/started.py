"""When a run began, as its report has it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime

from unmask.errors import UsageError

EPOCH = "SOURCE_DATE_EPOCH"
"""Seconds since 1970 that take the place of the clock, so that a report can be made again byte by
byte (https://reproducible-builds.org/specs/source-date-epoch/)."""
LATEST = 253402300799
"""The last second of the year 9999: no later one can be written."""


def started(environment: Mapping[str, str] | None = None) -> str:
    """Return the time now, or that of `SOURCE_DATE_EPOCH`: ISO 8601 in UTC, seconds.

    Raises:
        UsageError: The variable is set, and is no such number.
    """
    told = (os.environ if environment is None else environment).get(EPOCH, "")
    if not told:
        return _written(datetime.now(UTC))
    if not (told.isascii() and told.isdigit()) or int(told.lstrip("0")[:20] or 0) > LATEST:
        raise UsageError(
            f"{EPOCH}={told[:40]}: not a number of seconds since 1970: set it to one (date +%s), "
            "or unset it"
        )
    return _written(datetime.fromtimestamp(int(told.lstrip("0") or 0), UTC))


def _written(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
