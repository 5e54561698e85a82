"""Why a rule matters: that part of the page which `unmask explain CODE` prints.

The page is the docstring of the rule's module, in a small Markdown: paragraphs, lists, tables,
indented text. It is the program's own text and no guest's; it is escaped all the same.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from unmask.model.finding import Rule

HEADING = "## Why it matters"
_ITEM = re.compile(r"(?:-|\d+\.) +")


@dataclass(frozen=True, slots=True)
class Block:
    """One part of a text."""

    kind: str
    """"paragraph", "list", "table" or "code"."""
    lines: tuple[str, ...] = ()
    """One for a paragraph; items of a list; lines of code."""
    rows: tuple[tuple[str, ...], ...] = ()
    """Of a table, the headings first."""


def pages(rules: Sequence[Rule]) -> dict[str, tuple[Block, ...]]:
    """Return by code why each rule matters; none for a rule whose module does not say."""
    return {rule.code: blocks(_section(rule)) for rule in rules}


def _section(rule: Rule) -> str:
    module = importlib.import_module(rule.check.__module__)
    if getattr(module, "RULE", None) != rule:
        return ""
    page = inspect.cleandoc(module.__doc__ or "")
    return page.partition(f"{HEADING}\n")[2].partition("\n## ")[0].strip("\n")


def blocks(text: str) -> tuple[Block, ...]:
    """Return a text's blocks; an empty line divides them."""
    return tuple(_block(part) for part in _parts(text))


def _parts(text: str) -> Iterator[list[str]]:
    """Yield the lines of each part; indented parts that follow each other are one."""
    held: list[str] = []
    for part in text.split("\n\n"):
        lines = part.strip("\n").split("\n")
        if not part.strip():
            continue
        if held and _indented(held) and _indented(lines):
            held += ["", *lines]
            continue
        if held:
            yield held
        held = lines
    if held:
        yield held


def _indented(lines: Sequence[str]) -> bool:
    return all(line.startswith("    ") or not line for line in lines)


def _block(lines: list[str]) -> Block:
    if _indented(lines):
        return Block("code", tuple(line[4:] for line in lines))
    if all(line.startswith("|") for line in lines):
        cells = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines]
        return Block("table", rows=tuple(row for row in cells if not _rule(row)))
    if _ITEM.match(lines[0]):
        return Block("list", tuple(_items(lines)))
    return Block("paragraph", (" ".join(line.strip() for line in lines),))


def _rule(row: Sequence[str]) -> bool:
    return all(set(cell) <= set("-:") for cell in row)


def _items(lines: Sequence[str]) -> Iterator[str]:
    item = ""
    for line in lines:
        if _ITEM.match(line):
            if item:
                yield item
            item = _ITEM.sub("", line, count=1)
        else:
            item += f" {line.strip()}"
    yield item
