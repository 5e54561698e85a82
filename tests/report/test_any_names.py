"""Whatever things are called, every format gives a whole report that can be encoded and read."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings

from support import golden
from support.spoilt import FUZZ, NAMES, spoilt
from unmask import plugins
from unmask.model.report import Format
from unmask.report import json as report

FORMATS = plugins.load("unmask.report", "FORMAT", Format)
SCHEMA: dict[str, Any] = json.loads((golden.ROOT / "docs/audit.schema.json").read_text("utf-8"))
FEW = settings(FUZZ, max_examples=30)


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_every_format_stands_any_name(form: Format) -> None:
    @FEW
    @given(NAMES)
    def check(names: list[str]) -> None:
        of = spoilt(names)
        text = form.render(of, 80)
        text.encode()
        assert text.endswith("\n")
        assert "\0" not in text
        assert "\x1b" not in text
        assert form.render(of, 80) == text

    check()


@FEW
@given(NAMES)
def test_json_keeps_to_its_schema_and_to_the_names(names: list[str]) -> None:
    of = spoilt(names)
    value = json.loads(report.render(of, 80))
    jsonschema.Draft202012Validator(SCHEMA).validate(value)
    assert [guest["name"] for guest in value["guests"]] == [case.guest.name for case in of.cases]


@pytest.mark.parametrize(
    "form", [form for form in FORMATS if form.name.startswith("csv")], ids=lambda form: form.name
)
def test_each_row_has_as_many_cells_as_the_first_and_no_spreadsheet_runs_one(form: Format) -> None:
    @FEW
    @given(NAMES)
    def check(names: list[str]) -> None:
        rows = list(csv.reader(io.StringIO(form.render(spoilt(names), 80), newline="")))
        assert len({len(row) for row in rows}) == 1
        assert not any(
            cell.startswith(("=", "+", "-", "@", "\t", "\r")) for row in rows for cell in row
        )

    check()
