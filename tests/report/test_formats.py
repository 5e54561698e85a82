"""Every format there is: what it makes of everything, of nothing, and of what is hostile.

Formats are found as the program finds them, so that a new one is tested without a word here.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support import golden
from support.documents import document
from support.hostile_document import hostile
from support.report_document import rich
from unmask import plugins
from unmask.model.finding import Outcome
from unmask.model.inventory import Inventory
from unmask.model.report import Document, Format
from unmask.report import table

FORMATS = plugins.load("unmask.report", "FORMAT", Format)
WIDTH = 100
TEXT = "\n\r"
"""Control characters that a line's end is made of; whatever else a name may hold is gone."""

ELSEWHERE = {
    "html": "report/rich.main.html",
    "sarif": "report/rich.sarif",
    "junit": "report/rich.junit.xml",
    "prometheus": "report/rich.prom",
}
"""Goldens of formats whose own tests hold them."""

every_format = pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)


def empty() -> Document:
    return document(Outcome(), Inventory())


def test_the_formats_are_those_that_were_promised() -> None:
    assert {form.name for form in FORMATS} == {
        "table", "json", "ticket", "html", "markdown", "csv", "csv-findings", "csv-workloads",
        "sarif", "junit", "prometheus",
    }  # fmt: skip
    assert len({form.name for form in FORMATS}) == len(FORMATS)
    assert all(form.summary for form in FORMATS)


@every_format
def test_everything_looks_as_it_was_read(form: Format) -> None:
    if form.name in ELSEWHERE:
        assert (golden.FIXTURES / ELSEWHERE[form.name]).stat().st_size
        return
    text = form.render(rich(), WIDTH).replace("\r\n", "\n")  # git may change how lines end
    golden.check(f"report/formats/rich.{form.name}", text)


@every_format
def test_nothing_at_all_is_a_report_too(form: Format) -> None:
    text = form.render(empty(), WIDTH)
    assert text.strip() or form.name == "prometheus"
    text.encode()


@every_format
@pytest.mark.parametrize("width", [0, 80])
def test_what_is_hostile_becomes_text(form: Format, width: int) -> None:
    text = form.render(hostile(), width)
    text.encode()
    assert "owned" not in text or form.name == "json"  # which escapes what it holds whole
    strange = {char for char in text if not char.isprintable() and char not in TEXT}
    assert strange <= ({"\u200b", "\u2060"} if form.name == "html" else set())


@every_format
def test_the_same_document_gives_the_same_text(form: Format) -> None:
    assert form.render(rich(), WIDTH) == form.render(rich(), WIDTH)
    if form.name not in ("table", "ticket"):
        assert form.render(rich(), 0) == form.render(rich(), 200)


SCRIPT = """
import hashlib, sys
from support.hostile_document import hostile
from support.report_document import rich
from unmask import plugins
from unmask.model.report import Format
for form in plugins.load("unmask.report", "FORMAT", Format):
    for document in (rich(), hostile()):
        print(form.name, hashlib.sha256(form.render(document, 100).encode()).hexdigest())
"""


def test_the_order_of_sets_does_not_matter() -> None:
    made = []
    for seed in ("0", "1", "4711"):
        search = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, sys.path)])
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": search}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        made.append(done.stdout.splitlines())
    assert len(made[0]) == 2 * len(FORMATS)
    assert made[0] == made[1] == made[2]
    ours = [
        f"{form.name} {hashlib.sha256(form.render(one, 100).encode()).hexdigest()}"
        for form in FORMATS
        for one in (rich(), hostile())
    ]
    assert made[0] == ours


NOT_SHOWN = {"ticket", "prometheus"}
"""Formats that have no place for reasons: a letter about machines of others, and numbers."""


@every_format
def test_what_is_not_known_is_not_hidden(form: Format) -> None:
    if form.name in NOT_SHOWN:
        return
    whole = table.FULL if form is table.FORMAT else form  # the short one counts some of it
    text = whole.render(rich(), 0)
    rows = form.name in ("csv", "csv-workloads")
    assert "it does not answer" in text
    assert ("tern" in text) or rows  # a target that was not read has no line among guests
    if not rows:
        assert "what host-passthrough shows is not known" in text
