"""The template engine, set up so that whatever comes out of a document is escaped."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from unmask.report._html.assets import assets, text

if TYPE_CHECKING:
    from jinja2 import Environment

    from unmask.report._html.page import Page


def render(page: Page) -> str:
    """Return the page as HTML that ends with a line break."""
    found = assets()
    template = _environment().get_template("page.html.j2")
    return template.render(
        page=page,
        policy=found.policy,
        style=found.style,
        script=found.script,
    )


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined  # noqa: PLC0415 - slow

    environment = Environment(
        loader=FunctionLoader(lambda name: text(f"templates/{name}")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    environment.filters["count"] = counted
    return environment


def counted(number: int, word: str) -> str:
    """Return "1 guest", "2 guests"."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
