"""A page as a tree, read strictly: what a browser would have to mend is an error here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset({"col", "input", "link", "meta", "rect"})
"""Elements of our pages that have no end tag."""
PHRASING = frozenset(
    {"a", "abbr", "b", "bdi", "button", "code", "em", "input", "label", "option", "select", "small"}
    | {"span", "strong", "svg", "rect"}
)
"""What may stand in a paragraph or heading; anything else would end it."""
CLOSED = frozenset({"p", "h1", "h2", "h3", "h4", "h5", "button", "code", "b", "bdi", "a"})


@dataclass(eq=False)
class Element:
    """One element."""

    tag: str
    attributes: dict[str, str]
    parent: Element | None = None
    children: list[Element | str] = field(default_factory=list)

    def __iter__(self) -> Iterator[Element]:
        """Yield this and all elements in it, in the page's order."""
        yield self
        for child in self.children:
            if isinstance(child, Element):
                yield from child

    @property
    def text(self) -> str:
        """Return all text in it, white space folded."""
        return " ".join("".join(self.texts()).split())

    def texts(self) -> Iterator[str]:
        """Yield every text in it as it stands."""
        for child in self.children:
            if isinstance(child, str):
                yield child
            else:
                yield from child.texts()

    def all(self, tag: str = "", **wanted: str) -> list[Element]:
        """Return the elements in it of a tag, with these attributes; `class_` is one of several."""
        return [one for one in self if (not tag or one.tag == tag) and one.fits(wanted)]

    def one(self, tag: str = "", **wanted: str) -> Element:
        """Return the only such element."""
        (found,) = self.all(tag, **wanted)
        return found

    def fits(self, wanted: dict[str, str]) -> bool:
        """Return whether it has these attributes."""
        for name, value in wanted.items():
            held = self.attributes.get(name.strip("_").replace("_", "-"))
            if held is None or value not in ([held] if name != "class_" else held.split()):
                return False
        return True


def read(page: str) -> Element:
    """Return the root of a page.

    Raises:
        AssertionError: Tags are not nested properly, an attribute is there twice, or a paragraph
            or heading holds what ends it.
    """
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == [reader.root], f"not closed: {[one.tag for one in reader.open[1:]]}"
    return reader.root


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"{tag} has an attribute twice: {names}"
        parent = self.open[-1]
        for one in self.open:
            assert one.tag not in CLOSED or tag in PHRASING, f"{tag} ends the {one.tag} around it"
        made = Element(tag, {name: value or "" for name, value in attrs}, parent)
        parent.children.append(made)
        if tag not in VOID:
            self.open.append(made)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert tag == self.open[-1].tag, f"</{tag}> in {self.open[-1].tag}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data[:80]}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a declaration: {data[:80]}")

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"an instruction: {data[:80]}")
