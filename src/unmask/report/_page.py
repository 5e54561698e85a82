"""A page of ours in Markdown, fitted to a narrow terminal: `unmask explain`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from unmask.report._text import wrap

WIDE = 100
"""Columns that pages are written for; where there are as many, they are shown as they are."""
KEPT = ("#", "    ", "\t")
"""What begins a line that is not filled: headings, and code."""
_RULE = re.compile(r"\|[\s|:-]*-[\s|:-]*\|")


def fitted(page: str, width: int) -> str:
    """Return a page in lines of at most `width` columns (0: as it is), but for code."""
    if not 0 < width < WIDE:
        return page
    return "\n".join(line for block in _blocks(page) for line in _fitted(block, width)) + "\n"


def _blocks(page: str) -> Iterator[list[str]]:
    """Yield what empty lines part, and these lines."""
    for empty, lines in groupby(page.rstrip("\n").split("\n"), lambda line: not line.strip()):
        block = list(lines)
        yield [""] * len(block) if empty else block


def _fitted(block: list[str], width: int) -> Iterator[str]:
    if block[0].startswith("|") and max(map(len, block)) > width:
        yield from _rows(block, width)
        return
    if max(map(len, block)) <= width:
        yield from block
        return
    for item in _items(block):
        if item[0].startswith(KEPT):
            yield from item
            continue
        first = "- " if item[0].startswith("- ") else ""
        text = " ".join(line.strip() for line in item)
        yield from wrap(text.removeprefix(first), width, first, " " * len(first))


def _items(block: Iterable[str]) -> list[list[str]]:
    """Return the points of a list, or the whole paragraph as one."""
    items: list[list[str]] = []
    for line in block:
        if items and not line.startswith(("- ", *KEPT)) and not items[-1][0].startswith(KEPT):
            items[-1].append(line)
        else:
            items.append([line])
    return items


def _rows(block: Iterable[str], width: int) -> Iterator[str]:
    """Yield a table that is too wide as a list: the first cell, then the others."""
    for line in block:
        if _RULE.fullmatch(line.strip()):
            continue
        name, *cells = (cell.strip() for cell in line.strip().strip("|").split("|"))
        yield from wrap(f"{name}: {'; '.join(cells)}", width, "- ", "  ")
