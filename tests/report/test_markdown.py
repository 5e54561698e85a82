"""Markdown is read by a real parser: what is hostile makes no link, no HTML, no line of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from support.hostile_document import TEXTS, hostile
from support.report_document import rich
from unmask.report import _markdown, markdown
from unmask.report._text import clean

HTML = {"<details><summary>evidence and remedy</summary>", "</details>"}
"""All that the report itself writes."""
NEWS = re.compile(r"@|#|\$|://|(?<![\w/.])www\.|\bGH-\d|:[a-z_]+:", re.IGNORECASE)
"""What GitHub makes something of wherever it stands outside of code."""


def parser() -> MarkdownIt:
    made = MarkdownIt("gfm-like", {"html": True})
    assert made.linkify
    made.linkify.set({"fuzzy_link": False})  # GitHub does not take every word with a dot for one
    return made


def tokens(text: str) -> list[Token]:
    return list(_flat(parser().parse(text)))


def _flat(found: Iterable[Token]) -> Iterator[Token]:
    for token in found:
        yield token
        yield from _flat(token.children or ())


def shown(found: Sequence[Token]) -> str:
    """Return the text that a reader sees, code included."""
    return "".join(token.content for token in found if token.type in ("text", "code_inline"))


def test_the_hostile_report_holds_no_link_image_or_html() -> None:
    found = tokens(markdown.render(hostile(), 80))
    kinds = {token.type for token in found}
    assert kinds.isdisjoint({"link_open", "image", "html_inline", "hr", "blockquote_open", "fence"})
    html = {token.content.strip() for token in found if token.type == "html_block"}
    assert html == HTML
    for token in found:
        if token.type == "text":
            assert not NEWS.search(token.content), token.content


def test_hostile_names_add_no_heading_row_or_item() -> None:
    text = markdown.render(hostile(), 80)
    found = tokens(text)
    headings = [one for one, token in enumerate(found) if token.type == "heading_open"]
    assert {found[one].tag for one in headings} == {"h1", "h2", "h3"}
    assert all(
        found[one + 1].content.startswith(("unmask audit", "Guests", "Encrypted", "What to do"))
        or re.match(r"(Findings|Not known|Accepted|[A-Z]+ [A-Z]{3}\d{3} )", found[one + 1].content)
        for one in headings
    )
    rows = [token for token in found if token.type == "tr_open"]
    loads = sum(len(case.workloads) for case in hostile().cases)
    assert len(rows) == len(hostile().cases) + 1 + loads + 1
    cells = [token for token in found if token.type == "td_open"]
    width = {"guests": 9, "loads": 7}
    assert len(cells) == len(hostile().cases) * width["guests"] + loads * width["loads"]


def test_details_are_opened_and_closed_in_turn() -> None:
    text = markdown.render(rich(), 80)
    assert text.count("<details>") == text.count("</details>") == len(rich().outcome.findings)


TEXT = st.text(
    st.one_of(
        st.sampled_from("\\`*_{}[]()<>#+-.!|~&@:$\"'=/ 1aw\n"),
        st.characters(exclude_categories=()),
    ),
    max_size=40,
)


def inside(text: str) -> list[Token]:
    """Return the tokens of a paragraph's, an item's or a cell's content."""
    return [token for token in tokens(text) if token.type not in ("inline", "softbreak")]


@pytest.mark.parametrize("text", [*TEXTS, "1. one", "- a", "+ b", "---", "===", "12) x", "1.2.3"])
def test_these_texts_are_shown_as_they_are(text: str) -> None:
    as_text(text)


@given(TEXT)
def test_any_text_is_shown_as_it_is(text: str) -> None:
    as_text(text)


def as_text(text: str) -> None:
    known = clean(text, 2000)
    found = inside(f"- {_markdown.escape(text)}\n")
    kinds = {token.type for token in found}
    frame = {"bullet_list_open", "list_item_open", "paragraph_open"}
    frame |= {kind.replace("open", "close") for kind in frame}
    assert kinds <= {*frame, "text", "code_inline"}
    assert shown(found).replace(_markdown.BAR, "|") == known.replace(_markdown.BAR, "|")
    for token in found:
        if token.type == "text":
            assert not NEWS.search(token.content)


@pytest.mark.parametrize("make", [_markdown.cell, _markdown.code_cell])
@pytest.mark.parametrize("text", TEXTS)
def test_these_texts_stay_in_their_cell(make: object, text: str) -> None:
    in_cell(make, text)


@given(TEXT)
def test_any_text_stays_in_its_cell(text: str) -> None:
    in_cell(_markdown.cell, text)
    in_cell(_markdown.code_cell, text)


def in_cell(make: object, text: str) -> None:
    assert callable(make)
    lines = _markdown.table(["a", "b"], [[make(text), "end"]])
    found = inside("\n".join(lines) + "\n")
    assert [token.type for token in found].count("td_open") == 2
    assert [token.type for token in found].count("tr_open") == 2
    told = [token for token in found if token.type in ("text", "code_inline")]
    assert {token.type for token in found if token.nesting == 0} <= {"text", "code_inline"}
    assert shown(told[2:-1]).replace(_markdown.BAR, "|") == clean(text, 2000).replace(
        _markdown.BAR, "|"
    )


@given(TEXT)
def test_code_is_code(text: str) -> None:
    known = clean(text, 2000)
    found = inside(f"x {_markdown.code(text)} y\n")
    codes = [token.content for token in found if token.type == "code_inline"]
    assert codes == ([known] if known else [])
