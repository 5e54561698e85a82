"""The report on a baseline: the table for people, and JSON that keeps to its schema."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from support import golden
from support.nodes import HOST, arm, guest, host, model, offering
from unmask.engine import baseline
from unmask.engine.baseline import Question
from unmask.engine.cases import guest_cases
from unmask.model.baseline import BaselineDocument
from unmask.model.inventory import Gap, Host, Inventory
from unmask.report import _baseline, _baseline_records
from unmask.report._paint import Paint

SCHEMA: dict[str, Any] = json.loads((golden.ROOT / "docs/baseline.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(
    SCHEMA, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
)
INTEL = (host("one", "Haswell-noTSX"), host("two", "Westmere", more="rdrand"))
GUESTS = (
    guest(101, model("Haswell-noTSX"), name="db"),
    guest(102, HOST, name="exchange", os="win11"),
)


def document(*hosts: Host, **question: Any) -> BaselineDocument:
    inventory = Inventory(("lab",), hosts or INTEL, GUESTS, gaps=(Gap("lab/9", "offline"),))
    cases = guest_cases(inventory)
    asked = Question(**question)
    return baseline.build(inventory, cases, asked, version="0.1", started="2026-12-01T10:00:00Z")


def full() -> BaselineDocument:
    earlier = Inventory(hosts=(host("one", "Haswell"), host("gone", "Haswell")))
    new = (host("new", "Nehalem"), host("dark", None))
    return document(*INTEL, host("off", None), arriving=new, earlier=earlier, compared="old.json")


DOCUMENTS: dict[str, Callable[[], BaselineDocument]] = {
    "full": full,
    "plain": document,
    "unknown": lambda: document(host("off", None)),
    "arm": lambda: document(arm("one", "aes pmull"), arm("two", "aes")),
    "both": lambda: document(arm("one", "aes"), INTEL[0]),
    "mixed": lambda: document(INTEL[0], host("three", "EPYC")),
    "libvirt": lambda: document(offering("kvm", "Haswell", {"Haswell": True, "Westmere": False})),
}


def table(found: BaselineDocument, width: int = 120) -> str:
    return _baseline.render(found, width, Paint(enabled=False))


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_report_keeps_to_the_schema(name: str) -> None:
    text = _baseline_records.render(DOCUMENTS[name]())
    assert text.isascii()
    VALIDATOR.validate(json.loads(text))


def test_the_schema_refuses_what_is_wrong() -> None:
    body = json.loads(_baseline_records.render(full()))
    for key in body:
        with pytest.raises(jsonschema.ValidationError):
            VALIDATOR.validate({name: value for name, value in body.items() if name != key})
    body["models"][0]["level"] = "v9"
    assert not VALIDATOR.is_valid(body)


def test_json_says_what_the_issue_asks_for() -> None:
    body = json.loads(_baseline_records.render(full()))
    assert body["level"] == "x86-64-v2"
    assert "aes" in body["common_flags"]
    assert "avx" in body["held_back"]["two"]
    first = body["models"][0]
    assert (first["name"], first["runs_everywhere"]) == ("Westmere", True)
    assert first["shows"] == ["aes", "pclmulqdq"]
    haswell = next(item for item in body["models"] if item["name"] == "Haswell-noTSX")
    assert haswell["obstacles"][0]["node"] == "two"
    assert body["custom"]["proxmox"]["text"].startswith("cpu-model: baseline\n")
    assert body["custom"]["libvirt"]["text"].startswith("<cpu ")
    assert body["unknown_nodes"][0]["reason"] == "the node is offline"
    new, dark = body["with"]
    assert "aes" in new["flags_lost"]
    assert dark["models_lost"] == []
    assert [item["node"] for item in body["drift"]["nodes"]] == [
        "lab/gone", "lab/off", "lab/one", "lab/two",
    ]  # fmt: skip
    assert body["run"]["complete"] is False


def test_nodes_that_are_alike_are_shown() -> None:
    twins = (host("a", "Haswell", microcode="1"), host("b", "Haswell", microcode="1"))
    found = document(*twins)
    said = "Alike in CPU, flags and microcode: a, b; a guest of type host can move between them."
    assert said in table(found)
    assert json.loads(_baseline_records.render(found))["alike"] == [["a", "b"]]


def test_without_a_custom_model_json_says_why() -> None:
    body = json.loads(_baseline_records.render(DOCUMENTS["arm"]()))
    assert body["custom"] is None
    assert body["level"] is None
    assert "not of x86" in body["remarks"][-1]


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("width", [60, 80, 120, 0])
def test_the_table_fits(name: str, width: int) -> None:
    text = table(DOCUMENTS[name](), width)
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    long = [line for line in text.splitlines() if width and len(line) > width]
    # Lines that are to be copied are not broken.
    assert all(line.startswith(("  \tflags", "  <cpu", "    <")) for line in long), long


def test_the_table_says_it_all() -> None:
    text = table(full())
    for words in (
        "two   CPU Westmere",
        "Models that all nodes can run, best first",
        "Westmere",
        "cpu-models.conf",
        "qm set VMID --cpu custom-baseline",
        "With new",
        "Flags lost: aes pclmulqdq",
        "Models lost: Westmere",
        "Its flags are not known: nothing can be said of what would be lost.",
        "lab/101 (db) wants",
        "Since old.json",
        "lab/one lost hle rtm.",
        "lab/gone is no longer there.",
        "The flags of off are not known (the node is offline)",
        "lab/9: offline",
        "Windows runs in exchange: take Westmere there rather than host",
    ):
        assert words in text, words
    # The nodes are Proxmox VE's: the form for libvirt is in the JSON report alone.
    assert "<cpu" not in text


def test_the_form_for_libvirt_is_shown_for_its_nodes() -> None:
    text = table(document(offering("kvm", "Haswell", {"Westmere": True}), INTEL[0]))
    assert "Custom model for libvirt" in text
    assert "Custom model for Proxmox VE" in text


def test_names_from_outside_cannot_reach_the_terminal() -> None:
    evil = "a\x1b]0;t\x07\x1b[31m\u202eb"
    hosts = (replace(INTEL[0], name=evil), INTEL[1])
    found = document(*hosts, arriving=(replace(host("new", "Nehalem"), name=evil),))
    text = table(found)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\x1b" not in _baseline_records.render(found)


def test_colours_are_for_terminals_alone() -> None:
    assert "\x1b[" in _baseline.render(full(), 100, Paint(enabled=True))
    assert "\x1b" not in table(full())
