"""The beginning of a text from outside, short enough to quote in a remark."""

from __future__ import annotations

LIMIT = 100
"""Characters."""


def excerpt(text: str, limit: int = LIMIT) -> str:
    """Return `text`, cut to `limit` characters with an ellipsis where it is longer.

    Nothing is escaped here: that is for whoever prints it.
    """
    return text if len(text) <= limit else text[: limit - 1] + "…"
