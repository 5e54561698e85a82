"""Comparisons as they are shown: as expected, complete, and harmless whatever they hold."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import replace

import jsonschema
import pytest

from support import golden
from support.compared import audit, having, mutated, without
from support.hostile_document import hostile
from support.report_document import inventory as rich
from unmask.dialects import audit_report
from unmask.engine import diff
from unmask.model.difference import Change, Difference
from unmask.model.inventory import Gap, Inventory
from unmask.model.visit import UNVISITED
from unmask.report import _diff, _diff_parts, _diff_records
from unmask.report import json as report
from unmask.report._paint import Paint

SCHEMA = json.loads((golden.ROOT / "docs/diff.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
PLAIN, COLOURED = Paint(enabled=False), Paint(enabled=True)


def later() -> Inventory:
    """Return the rich inventory after a change, a move, a loss and a guest that was shut out."""
    host = next(guest for guest in rich().guests if guest.configured.brief == "host")
    found = having(
        rich(), "coast/102", lambda g: replace(g, configured=host.configured, running=None)
    )
    found = having(found, "coast/101", lambda g: replace(g, visit=UNVISITED))
    found = having(found, "coast/105", lambda g: replace(g, host="coast/heron"))
    found = without(found, "coast/104")
    return replace(found, gaps=(*found.gaps, Gap("coast/101", "nobody looked inside: shut")))


def example() -> Difference:
    old, new = audit(rich()), audit(later())
    return diff.compare(replace(old, file="monday.json"), replace(new, file="friday.json"))


@pytest.mark.parametrize("width", [80, 120])
def test_the_table_is_as_expected(width: int) -> None:
    text = _diff.table(example(), width, PLAIN)
    golden.check(f"report/diff-{width}.txt", text)
    assert max(map(len, text.splitlines())) <= width


def test_the_page_and_the_json_are_as_expected() -> None:
    golden.check("report/diff.md", _diff.markdown(example()))
    golden.check("report/diff.json", _diff_records.render(example()))


def test_colours_add_nothing_but_colours() -> None:
    text = _diff.table(example(), 100, COLOURED)
    assert "\x1b[31m" in text
    for code in ("\x1b[31m", "\x1b[33m", "\x1b[36m", "\x1b[2m", "\x1b[1m", "\x1b[0m"):
        text = text.replace(code, "")
    assert text == _diff.table(example(), 100, PLAIN)


@pytest.mark.parametrize("seed", range(20))
def test_any_comparison_keeps_to_the_schema(seed: int) -> None:
    found = diff.compare(audit(mutated(seed)), audit(mutated(seed + 500)))
    VALIDATOR.validate(json.loads(_diff_records.render(found, every=True)))
    assert _diff.table(found, 80, PLAIN).endswith(".\n")


def test_the_schema_refuses_what_is_wrong() -> None:
    body = json.loads(_diff_records.render(example()))
    body["findings"][0]["change"] = "better"
    del body["gaps"]
    assert len(list(VALIDATOR.iter_errors(body))) == 2


def test_findings_are_described_as_in_an_audit() -> None:
    audits = json.loads((golden.ROOT / "docs/audit.schema.json").read_text())
    for name in ("finding", "skip", "gap"):
        assert SCHEMA["$defs"][name] == audits["$defs"][name]


def test_the_schema_has_every_change_in_order() -> None:
    assert SCHEMA["$defs"]["change"]["properties"]["change"]["enum"] == [str(c) for c in Change]


@pytest.mark.parametrize("turned", [False, True])
def test_hostile_names_are_text(turned: bool) -> None:  # noqa: FBT001
    made = hostile()
    bad = audit_report.load(report.render(made, 0))
    good = replace(audit(rich()), file="<script>\x1b[31m\u202e.json")
    pair = (bad, good) if turned else (good, bad)
    found = diff.compare(*pair)
    for text in (
        _diff.table(found, 80, PLAIN, every=True),
        _diff.markdown(found, every=True),
        _diff_records.render(found, every=True),
    ):
        text.encode()
        odd = {char for char in text if unicodedata.category(char) in ("Cc", "Cf", "Cs")} - {"\n"}
        assert not odd
    assert "\n<script>" not in _diff.markdown(found, every=True)


def test_very_much_is_counted_and_not_listed() -> None:
    old = audit(rich())
    first = old.findings[0]
    many = tuple(
        replace(first, problem=replace(first.problem, message=f"{n} a" * n)) for n in range(1, 300)
    )
    found = diff.compare(replace(old, findings=()), replace(old, findings=many))
    text = _diff.table(found, 80, PLAIN)
    assert f"and {299 - _diff_parts.MOST} more: --format json has all" in text
    assert len(text) < 200_000


def test_alike_findings_share_a_line() -> None:
    old = audit(rich())
    first = old.findings[0]
    named = [f"coast/{n}" for n in range(1000, 1300)]
    many = tuple(replace(first, subject=subject, name="x") for subject in named)
    guests = (*old.guests, *(replace(old.guests[0], subject=subject) for subject in named))
    both = replace(old, guests=guests, findings=())
    found = diff.compare(both, replace(both, findings=many))
    text = " ".join(_diff.table(found, 80, PLAIN).split())
    assert "and 288 more: ZFS encryption" in text
    assert "and 288 more: ZFS encryption" in _diff.markdown(found).replace("\n", " ")
