"""A comparison of two audits for people: as a table of changes, and as Markdown for a ticket."""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.difference import Difference
from unmask.report._diff_parts import Entry, Part, parts, summary, titled
from unmask.report._markdown import code, escape
from unmask.report._paint import Paint
from unmask.report._text import clean, listed, wrap


def table(difference: Difference, width: int, paint: Paint, *, every: bool = False) -> str:
    """Return the comparison for lines of `width` columns (0: unlimited), ending in a line break."""
    named = [f"{file} ({when})" for file, when in map(titled, (difference.old, difference.new))]
    lines = wrap(f"From {' to '.join(named)}.", width)
    for part in parts(difference, every=every):
        lines += ["", paint.heading(part.title), *_lines(part, width, paint)]
    return "\n".join([*lines, "", *wrap(summary(difference), width)]) + "\n"


def _lines(part: Part, width: int, paint: Paint) -> Iterator[str]:
    for item in part.entries:
        first, *rest = wrap(_line(item), width, "  ", "    ")
        if item.severity is not None:
            first = first.replace(item.head, paint.severity(item.head, item.severity), 1)
        yield from (first, *rest)
    if part.more:
        yield f"  and {part.more} more: --format json has all"


def _line(item: Entry) -> str:
    subjects = listed(item.subjects)
    before = " ".join(filter(None, (item.head, subjects)))
    return ": ".join(filter(None, (before, clean(item.said))))


def markdown(difference: Difference, *, every: bool = False) -> str:
    """Return the comparison as a page of Markdown that ends with a line break."""
    named = [
        f"{code(file)} ({escape(when)})"
        for file, when in map(titled, (difference.old, difference.new))
    ]
    lines = ["# unmask diff", "", f"From {' to '.join(named)}.", "", escape(summary(difference))]
    for part in parts(difference, every=every):
        lines += ["", f"## {part.title}", "", *(_bullet(item) for item in part.entries)]
        if part.more:
            lines.append(f"- and {part.more} more: --format json has all")
    return "\n".join(lines) + "\n"


def _bullet(item: Entry) -> str:
    head = f"**{escape(item.head)}** " if item.head else ""
    subjects = ", ".join(code(subject) for subject in item.subjects[:12])
    more = len(item.subjects) - 12
    rest = f" and {more} more" if more > 0 else ""
    before = f"{head}{subjects}{rest}".strip()
    return "- " + ": ".join(filter(None, (before, escape(item.said))))
