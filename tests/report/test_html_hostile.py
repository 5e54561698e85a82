"""Nothing that a guest or configuration says becomes markup, a link, a script or a fake line."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from functools import cache

import pytest

from support import html_tree
from support.hostile_document import TEXTS, hostile
from support.html_tree import Element
from support.report_document import rich
from unmask.model.case import GuestCase
from unmask.model.finding import Finding, Outcome, Problem, Severity
from unmask.model.report import Document
from unmask.report._html.labels import NAME
from unmask.report.html import render

IDENTITIES = re.compile(
    r"report|summary|actions|cluster-map|guests|flags|findings|throughput|migration|unread|tools"
    r"|theme|unfold|controls|filter|filter-node|filter-severity|shown-count|guest-table"
    r"|[a-z-]+-title|(?:cluster|node|guest|finding|code|source)-\d+|r\d+"
)
PRINTABLE = frozenset({"\n"})
UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


@cache
def text() -> str:
    return render(hostile(), 0)


@cache
def page() -> Element:
    return html_tree.read(text())


def test_it_is_utf_8() -> None:
    assert text().encode("utf-8").decode("utf-8") == text()


def test_no_element_or_attribute_comes_out_of_a_name() -> None:
    friendly = html_tree.read(render(rich(), 0))
    known = {(one.tag, name) for one in friendly for name in (*one.attributes, "")}
    # What no guest of the friendly document has: several pages of subjects, a figure of the node.
    known |= {("details", "class"), ("section", "id")}
    found = {(one.tag, name) for one in page() for name in (*one.attributes, "")}
    assert found <= known
    assert len(page().all("script")) == len(page().all("style")) == 1
    assert page().one("script").text == friendly.one("script").text
    assert page().one("style").text == friendly.one("style").text


def test_identities_and_links_are_numbers_never_names() -> None:
    for one in page():
        for name in ("id", "for", "aria-labelledby"):
            value = one.attributes.get(name)
            assert value is None or IDENTITIES.fullmatch(value), value
        link = one.attributes.get("href", "#report")
        assert link == "data:," or IDENTITIES.fullmatch(link.removeprefix("#")), link
    idents = [one.attributes["id"] for one in page() if "id" in one.attributes]
    assert len(idents) == len(set(idents))


def test_classes_are_ours() -> None:
    words = {word for one in page() for word in one.attributes.get("class", "").split()}
    assert all(re.fullmatch(r"[a-z-]+", word) for word in words), words


def test_nothing_that_cannot_be_seen_is_left() -> None:
    outside = [child for one in page() for child in one.children if isinstance(child, str)]
    values = [value for one in page() for value in one.attributes.values()]
    for said in (*outside, *values):
        bad = {char for char in said if unicodedata.category(char) in UNSAFE} - PRINTABLE
        assert not bad, said[:80]


def test_every_text_is_bounded() -> None:
    """A name may be long; it is not the page that becomes long."""
    for one in page().all("bdi"):
        assert len(one.text) <= 600, one.text[:100]
    for one in page():
        if one.tag not in ("script", "style"):
            for child in one.children:
                assert not isinstance(child, str) or len(child.strip()) <= 2000
    for row in page().one(id="guest-table").all("tr"):
        assert len(row.attributes.get("data-subject", "")) <= 120
    for option in page().all("option"):
        assert len(option.text) <= 120


@pytest.mark.parametrize("number", range(len(TEXTS)))
def test_a_report_of_one_hostile_finding_shows_it_as_text(number: int) -> None:
    said = TEXTS[number]
    problem = Problem(Severity.HIGH, said, (said,), said, said, flags=(said,))
    case = rich().cases[0]
    finding = Finding("TST001", said, said, said, case.guest.host, problem)
    guest = replace(case, guest=replace(case.guest, name=said, ident=said, subject=said))
    tree = html_tree.read(render(_document(guest, finding), 0))
    article = tree.one("article")
    visible = [word for word in re.findall(r"[A-Za-z0-9]+", said) if word.isascii()][:1]
    if "\x1b" not in said:
        assert all(word[: NAME - 3] in article.text for word in visible)
    assert [one.tag for one in article if one.tag in ("script", "img", "b", "table", "svg")] in (
        [],
        ["b"],  # the word "Remedy"
    )


def _document(case: GuestCase, finding: Finding) -> Document:
    whole = rich()
    return replace(
        whole,
        cases=(case,),
        inventory=replace(whole.inventory, guests=(case.guest,)),
        outcome=Outcome((finding,)),
        moves=(),
        measured=(),
    )


def test_templates_in_names_are_not_run() -> None:
    assert "{{7*7}}" in page().text
    assert "{% raw %}" in page().text
