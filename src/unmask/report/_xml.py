"""XML 1.0 text of elements, attributes and strings of any origin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from unmask.report._text import clean

HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
LIMIT = 10_000
"""Characters of one line of text."""
_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


@dataclass(frozen=True, slots=True)
class Element:
    """An element that holds either elements or lines of text."""

    tag: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    children: Sequence[Element] = ()
    text: Sequence[str] = ()


def write(root: Element) -> str:
    """Return a document in UTF-8 that ends with a line break, two columns a level."""
    return "\n".join((HEAD, *_lines(root, ""))) + "\n"


@lru_cache(maxsize=1024)  # what a suite is called stands at each of its tests
def escaped(text: str) -> str:
    """Return text without what XML forbids (2.2) or takes for markup (2.4), on one line.

    What is not printable goes altogether: XML allows some of it, and who reads it does not.
    """
    return clean(text, LIMIT).translate(_MARKUP)


def _lines(element: Element, indent: str) -> Iterator[str]:
    named = "".join(f' {key}="{escaped(text)}"' for key, text in element.attributes.items())
    start = f"{indent}<{element.tag}{named}"
    if element.children:
        yield f"{start}>"
        for child in element.children:
            yield from _lines(child, indent + "  ")
        yield f"{indent}</{element.tag}>"
    elif element.text:
        body = "\n".join(escaped(line) for line in element.text)
        yield f"{start}>{body}</{element.tag}>"
    else:
        yield f"{start}/>"
