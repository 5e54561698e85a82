"""The report of a benchmark: what people read, and what programs read."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from support import golden
from support.bench_results import ILLEGAL, result, samples
from support.bench_results import node as node_result
from unmask.measure.compare import Limits
from unmask.model.bench import PLAIN, BenchResult, Ended, Sample, Tool
from unmask.report._bench import document, table
from unmask.report._bench import json as report
from unmask.report._bench.document import Asked

SCHEMA: dict[str, Any] = json.loads((golden.ROOT / "docs/bench.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(
    SCHEMA, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
)
STARTED = "2026-12-01T10:00:00Z"
WHAT_IF = {
    "aes-256-gcm": {PLAIN: 3200, "kvm64": 84, "x86-64-v2-AES": 450, "host": 3190},
    "chacha20-poly1305": {PLAIN: 3390, "kvm64": 484, "x86-64-v2-AES": 885, "host": 3400},
}


def built(*results: BenchResult, **asked: Any) -> document.BenchDocument:
    return document.build(results, Asked(**asked), version="1.0", started=STARTED)


def everything() -> document.BenchDocument:
    """Return a document that has something of everything."""
    guest = result(services=("nginx",), problems=("cryptsetup is not there",))
    before = result({"aes-256-gcm": {PLAIN: 90}}, started="2026-11-01T10:00:00Z")
    other = result(subject="lab/102", name="old", more=(ILLEGAL,), way="the guest agent")
    models = result(WHAT_IF, subject="lab/pve1", name="pve1", method="quick what-if")
    failed = BenchResult("lab/103", "gone", "lab/pve1", problems=("It could not be measured.",))
    return built(guest, other, node_result(), models, failed, before=(before,), advise=True)


def test_the_table_is_as_expected() -> None:
    golden.check("report/bench.txt", table.render(everything(), 100))


def test_the_json_is_as_expected() -> None:
    golden.check("report/bench.json", report.render(everything()))


def test_the_json_keeps_to_its_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    VALIDATOR.validate(json.loads(report.render(everything())))


@pytest.mark.parametrize("name", ["machines", "run", "schema"])
def test_the_schema_asks_for_what_is_there(name: str) -> None:
    value = json.loads(report.render(everything()))
    del value[name]
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(value)


def test_a_guest_is_held_against_its_node() -> None:
    first, second = built(result(), node_result()).machines
    assert first.headline == "GCM at 6 % of this node's speed"
    assert second.headline == ""
    assert "6 % of this node's speed" in table.render(built(result(), node_result()), 0)


def test_a_result_is_compared_with_the_same_machine_and_method() -> None:
    slow = replace(result(), method="thorough", samples=samples({"aes-256-gcm": {PLAIN: 1}}))
    quick = replace(result(), samples=samples({"aes-256-gcm": {PLAIN: 90}}))
    other = replace(result(), subject="lab/999")
    (machine,) = built(result(), before=(other, slow, quick)).machines
    assert machine.earlier == quick
    (machine,) = built(result(), before=(other,)).machines
    assert machine.earlier is None
    assert machine.changes == ()


def test_a_change_that_ends_at_the_link_is_not_the_cpus() -> None:
    before = replace(result({}), samples=(Sample(Tool.FILE, "read", rate=42e6),))
    after = replace(result({}), samples=(Sample(Tool.FILE, "read", rate=1.2e9),))
    said = table.render(built(after, before=(before,), limits=Limits(link=1.25e9)), 100)
    assert "at the link's limit" in said


def test_bars_are_to_one_scale_for_each_kind_of_figure() -> None:
    tls = (
        Sample(Tool.TLS, "requests", rate=25.7),
        Sample(Tool.TLS, "requests-reused", rate=51.4),
        Sample(Tool.TLS, "transfer", rate=9.8e6),
    )
    text = table.render(built(replace(result({}), samples=tls)), 100)
    bars = {line.split()[0]: line.count("#") for line in text.splitlines() if "#" in line}
    assert bars == {"requests": 12, "requests-reused": 24, "transfer": 24}


def test_a_node_that_is_a_guest_itself_is_told() -> None:
    nested = replace(node_result(), environment=result().environment)
    assert table.NESTED in table.render(built(result(), nested), 0)
    assert table.NESTED not in table.render(built(result(), node_result()), 0)


def test_a_run_without_figure_says_how_it_ended() -> None:
    text = table.render(built(result({}, more=(ILLEGAL,))), 100)
    assert "illegal instruction" in text


@pytest.mark.parametrize("width", [0, 20, 40, 80, 200])
def test_lines_keep_to_the_width(width: int) -> None:
    text = table.render(everything(), width)
    rows = [line for line in text.splitlines() if not line.startswith("      ")]
    assert not width or max(map(len, rows)) <= max(width, 60)


def test_nothing_of_a_guest_reaches_the_terminal_raw() -> None:
    evil = "\x1b]0;owned\x07\u202e"
    sample = Sample(Tool.OPENSSL, f"aes{evil}", ended=Ended.FAILED, note=evil)
    bad = result({}, name=evil, subject=evil, way=evil, more=(sample,), problems=(evil,))
    text = table.render(built(bad, advise=True), 80)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert report.render(built(bad)).isascii()
