"""The HTML report: what it promises to scripts and readers, and that it needs nothing beside it."""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from support import golden, html_tree
from support.html_tree import Element
from support.report_document import rich
from unmask.model.finding import Outcome
from unmask.model.inventory import Inventory
from unmask.model.report import Document
from unmask.report.html import render

SECTIONS = (
    "summary", "actions", "cluster-map", "guests", "flags", "findings", "throughput", "migration",
    "unread",
)  # fmt: skip
ROOT = Path(__file__).parents[2]


@cache
def page() -> Element:
    return html_tree.read(render(rich(), 0))


def empty() -> Document:
    return replace(
        rich(), inventory=Inventory(), cases=(), outcome=Outcome(), moves=(), measured=(), rules=()
    )


def test_the_page_is_as_expected() -> None:
    text = render(rich(), 0)
    start = text.index("<main")
    golden.check("report/rich.main.html", text[start : text.index("</main>")] + "</main>\n")


def test_all_sections_are_there_in_order_and_linked() -> None:
    found = [one.attributes["id"] for one in page().all("section")]
    assert tuple(found) == SECTIONS
    links = [one.attributes["href"] for one in page().one("nav").all("a")]
    assert links == [f"#{name}" for name in SECTIONS]
    assert page().one("main").attributes["id"] == "report"
    assert page().one("a", class_="skip").attributes["href"] == "#report"


def test_sections_without_content_are_left_out() -> None:
    blank = html_tree.read(render(empty(), 0))
    assert [one.attributes["id"] for one in blank.all("section")] == ["summary", "guests"]
    assert blank.one("h1").text == "Nothing could be read."
    assert "No guest was read." in blank.one("section", id="guests").text
    assert not blank.all(id="guest-table")


def test_identities_are_unique_and_every_link_leads_somewhere() -> None:
    idents = [one.attributes["id"] for one in page() if "id" in one.attributes]
    assert len(idents) == len(set(idents))
    links = {one.attributes["href"] for one in page().all("a")}
    assert links <= {f"#{ident}" for ident in idents}
    for one in page():
        for name in ("aria-labelledby", "for"):
            assert one.attributes.get(name, idents[0]) in idents


def test_every_guest_has_a_line_that_scripts_can_read() -> None:
    rows = [
        one for one in page().one(id="guest-table").all("tr") if "data-subject" in one.attributes
    ]
    assert [one.attributes["data-subject"] for one in rows] == [
        case.guest.subject for case in rich().cases
    ]
    for row in rows:
        assert {"data-node", "data-severity", "data-status"} <= set(row.attributes)
        assert row.parent
        assert row.parent.tag == "tbody"
    heads = page().one(id="guest-table").one("thead").all("th")
    assert {one.attributes["data-sort"] for one in heads} == {"text", "status", "severity"}
    assert {len(row.all("td")) + len(row.all("th")) for row in rows} == {len(heads)}


def test_controls_are_hidden_until_a_script_shows_them() -> None:
    for ident in ("tools", "controls"):
        assert "hidden" in page().one(id=ident).attributes
    for ident in ("filter", "filter-node", "filter-severity"):
        assert page().one("label", for_=ident).text
    assert page().one(id="shown-count").attributes["aria-live"] == "polite"
    nodes = [one.attributes["value"] for one in page().one(id="filter-node").all("option")]
    assert nodes == ["", *dict.fromkeys(case.guest.host for case in rich().cases)]


def test_every_finding_is_there_with_all_that_it_says() -> None:
    articles = page().all("article", class_="finding")
    assert [one.attributes["id"] for one in articles] == [
        f"finding-{number}" for number in range(1, len(articles) + 1)
    ]
    section = page().one("section", id="findings")
    for finding in rich().outcome.findings:
        problem = finding.problem
        fitting = [
            one
            for one in articles
            if one.attributes["data-code"] == finding.code
            and problem.message in one.text
            and finding.name in one.text
        ]
        assert len(fitting) == 1, finding
        text = fitting[0].text
        assert problem.remedy in text
        assert problem.command in text
        assert f"{problem.severity.word}, {problem.confidence}" in text
        assert all(fact in section.text for fact in problem.evidence)


def test_every_code_says_why_it_matters() -> None:
    groups = page().all("details", class_="group")
    titles = [one.all("h3")[0].text for one in groups]
    for group, title in zip(groups, titles, strict=True):
        code = title.split()[1]
        assert f"unmask explain {code}" in group.text
        assert f"Why {code} matters" in group.text
    assert len(groups) == len({finding.code for finding in rich().outcome.findings})


def test_what_is_not_sure_is_there() -> None:
    text = page().one("section", id="unread").text
    document = rich()
    for gap in document.inventory.gaps:
        assert gap.reason in text
    for skip in document.outcome.skips:
        assert skip.reason in text
        assert skip.code in text
    for item in document.outcome.accepted:
        assert item.reason in text
        assert item.finding.problem.message in text
    assert document.inventory.gaps
    assert document.outcome.skips
    assert document.outcome.accepted


def test_an_incomplete_run_says_so_first() -> None:
    assert "Complete no: 3 could not be read" in page().one("section", id="summary").text
    whole = replace(rich(), run=replace(rich().run, complete=True))
    text = html_tree.read(render(whole, 0)).one("section", id="summary").text
    assert "Complete yes" in text


def test_tables_say_what_they_are_and_their_heads_what_they_head() -> None:
    for table in page().one("main").all("table"):
        in_page = any(one.fits({"class_": "page"}) for one in _around(table))
        assert in_page or len(table.all("caption")) == 1, table.text[:80]
        heads = table.all("th")
        assert heads
        assert all(head.attributes.get("scope") for head in heads)


def _around(element: Element) -> list[Element]:
    found = []
    while element.parent:
        element = element.parent
        found.append(element)
    return found


def test_headings_leave_no_level_out() -> None:
    levels = [int(one.tag[1]) for one in page() if re.fullmatch("h[1-6]", one.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in pairwise(levels))


def test_nothing_is_fetched() -> None:
    for one in page():
        assert not {"src", "srcset", "style", "action", "ping", "background"} & set(one.attributes)
        assert not [name for name in one.attributes if name.startswith("on")]
        assert one.attributes.get("href", "#").startswith("#") or one.tag == "link"
    assert page().one("link").attributes == {"rel": "icon", "href": "data:,"}
    style = page().one("style").text
    assert not re.search(r"url\(|@import|@font-face|expression|https?:", style)
    script = page().one("script").text
    assert not re.search(
        r"innerHTML|outerHTML|document\.write|insertAdjacentHTML|eval|Function\(", script
    )
    assert not re.search(r"fetch|XMLHttpRequest|WebSocket|import\(|https?:|localStorage", script)


def test_the_policy_lets_only_our_own_style_and_script_in() -> None:
    (meta,) = [one for one in page().all("meta") if "http-equiv" in one.attributes]
    policy = dict(part.split(" ", 1) for part in meta.attributes["content"].split("; "))
    assert policy == {
        "default-src": "'none'",
        "style-src": _hash("style"),
        "script-src": _hash("script"),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def _hash(tag: str) -> str:
    content = "".join(page().one(tag).texts()).encode()
    return f"'sha256-{base64.b64encode(hashlib.sha256(content).digest()).decode()}'"


def test_the_same_document_gives_the_same_bytes_whatever_the_order_of_sets() -> None:
    program = (
        "import hashlib; from support.report_document import rich; "
        "from unmask.report.html import render; "
        "print(hashlib.sha256(render(rich(), 0).encode()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": f"{ROOT / 'tests'}:{ROOT / 'src'}"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert digests == {f"{hashlib.sha256(render(rich(), 0).encode()).hexdigest()}\n"}


@pytest.mark.parametrize("width", [0, 80])
def test_the_width_of_the_terminal_plays_no_part(width: int) -> None:
    assert render(rich(), width) == render(rich(), 120)
