"""The report to look at: one HTML file that needs nothing beside it, for screens and for paper."""

from __future__ import annotations

from unmask.model.report import Document, Format


def render(document: Document, width: int) -> str:  # noqa: ARG001 - a page has no columns
    """Return the page; it is valid UTF-8 whatever the document holds."""
    from unmask.report._html import page  # noqa: PLC0415 - only for this format
    from unmask.report._html import render as engine  # noqa: PLC0415

    return engine.render(page.build(document))


FORMAT = Format(
    name="html",
    summary="one page to look at, print or pass on: tables, charts, commands",
    render=render,
    moves=True,
)
