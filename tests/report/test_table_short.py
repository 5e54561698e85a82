"""Of many findings the table shows what is wrong, and says how to see the rest."""

from __future__ import annotations

import re
from dataclasses import replace

from support import golden
from support.documents import document, finding, lab, many
from unmask.model.cpu import Remark, RemarkKind
from unmask.model.finding import Outcome, Problem, Severity
from unmask.model.inventory import Gap, Inventory
from unmask.model.report import Document
from unmask.report import _detail
from unmask.report.table import FULL, render


def crowded() -> Inventory:
    """Return the lab with 60 guests more."""
    inventory = lab()
    guests = tuple(
        replace(inventory.guests[1], subject=f"lab/{number}", ident=str(number), name=f"vm{number}")
        for number in range(107, 167)
    )
    return replace(inventory, guests=(*inventory.guests, *guests))


def full(page: Document, width: int = 0) -> str:
    return FULL.render(page, width)


def test_of_many_findings_the_report_is_short_and_says_so() -> None:
    """More than a newcomer reads: what is wrong, and how to see why."""
    severe = finding(
        "TST001", "lab/100", "vpn", Problem(Severity.HIGH, "bad", ("why",), "Mend it.")
    )
    host = finding("TST003", "lab/one", "one", Problem(Severity.LOW, "old", ("x",), "Renew it."))
    page = document(Outcome((severe, host, *many("TST002", 40))), crowded())
    short = render(page, 0)
    assert "lab/100 vpn: bad" in short
    assert "- why" not in short
    assert "lab/one: old" in short
    assert "remedy: Renew it." in short  # no guest, whose remedies have a part of their own
    assert "lab/105 vm105 and 34 more" in short
    assert "says 100" not in short.partition("What to do")[0]
    assert "--full shows the evidence" in short
    assert FULL.coloured
    for text in (full(page), re.sub("\x1b\\[[0-9;]*m", "", FULL.coloured(page, 0))):
        assert "- why" in text
        assert "remedy: Mend it." in text
        assert all(f"says {number}" in text for number in range(100, 140))
        assert "--full" not in text


def test_few_findings_are_shown_with_all_that_is_known() -> None:
    page = document(Outcome(tuple(many("TST002", _detail.MANY))))
    assert f"says {99 + _detail.MANY}" in render(page, 0)
    assert "short report" not in render(page, 0)
    page = document(Outcome(tuple(many("TST002", _detail.MANY + 1))))
    assert "short report" in render(page, 0)


def test_the_whole_report_leaves_nothing_out() -> None:
    gaps = tuple(Gap(f"lab/{n}", f"10.0.0.{n} does not answer") for n in range(100))
    page = document(Outcome(tuple(many("TST002", 60))))
    held = replace(page, inventory=replace(page.inventory, gaps=gaps))
    assert "10.0.0.99" in full(held)
    assert "10.0.0.99" not in render(held, 0)
    assert "more: --full shows them" in render(held, 0)


def test_words_that_declare_nothing_are_told() -> None:
    inventory = lab()
    remark = Remark(RemarkKind.NOTE, '"espresso" in its notes is no kind of workload: known are x.')
    guest = replace(inventory.guests[0], remarks=(remark,))
    text = render(document(Outcome(), replace(inventory, guests=(guest,))), 0)
    assert '  lab/100: "espresso" in its notes is no kind of workload' in text


def test_the_number_from_which_reports_are_short_is_documented() -> None:
    page = (golden.ROOT / "docs/formats.md").read_text(encoding="utf-8")
    assert f"With more than {_detail.MANY} findings the table is short" in page
