"""XML from outside, read without document types, entities or unbounded size and depth.

Everything of libvirt's is read through here; no other module may use an XML parser.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring, tostring

from unmask.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element as _Element  # noqa: TID251 - the type only

    Element: TypeAlias = _Element

LIMIT = 8 * 1024 * 1024
"""Characters. libvirt itself sends at most 4 MiB in one string (remote_protocol.x)."""
DEPTH = 100
"""Elements within elements; domain XML needs fewer than 12."""
WRITTEN = 4096
"""Characters of an element that are kept to show what a configuration says."""
_EXPORT = "export it again with `virsh dumpxml`, `capabilities` or `domcapabilities`"
"""What helps where a file is none of libvirt's: which of them it was meant to be is not known."""


def parse(text: str, what: str) -> Element:
    """Return the root element of `text`.

    Args:
        text: The document; comments in it are left out of the tree.
        what: What it is and where it comes from, to begin an error message with.

    Raises:
        InputError: It is too large, too deep, not well-formed, or declares a document type.
    """
    if len(text) > LIMIT:
        raise InputError(f"{what} is larger than {LIMIT // 2**20} MiB; libvirt writes far less")
    if "\0" in text:
        raise InputError(f"{what} is binary, not XML; {_EXPORT}")
    try:
        root: Element = fromstring(text, forbid_dtd=True)
    except DefusedXmlException as error:
        raise InputError(
            f"{what} declares a document type or entities, which libvirt never writes; "
            "it is refused"
        ) from error
    except ParseError as error:
        raise InputError(
            f"{what} is empty; {_EXPORT}"
            if not text.strip()
            else f"{what} is not well-formed XML ({error}); {_EXPORT}"
        ) from error
    if _deeper_than(root, DEPTH):
        raise InputError(f"{what} nests elements more than {DEPTH} deep; it is refused")
    return root


def _deeper_than(root: Element, limit: int) -> bool:
    """Return whether elements nest deeper than `limit`, without recursion."""
    level: list[Element] = [root]
    for _ in range(limit):
        level = [child for element in level for child in element]
        if not level:
            return False
    return True


def text_of(parent: Element | None, path: str, default: str = "") -> str:
    """Return the stripped text of the first element at `path`, or `default`."""
    found = parent.find(path) if parent is not None else None
    return (found.text or "").strip() if found is not None else default


def written(element: Element | None) -> str:
    """Return an element as one line of XML, at most `WRITTEN` characters; "" for None."""
    if element is None:
        return ""
    text: str = tostring(element, encoding="unicode")
    line = " ".join(text.split()).replace("> <", "><")
    return line if len(line) <= WRITTEN else line[: WRITTEN - 3] + "..."


def children(parent: Element | None, path: str) -> Iterator[Element]:
    """Yield the elements at `path`, none where there is no parent."""
    if parent is not None:
        yield from parent.iterfind(path)
