"""The JSON report keeps to its schema and says everything."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from support import golden
from support.documents import HOSTILE, document, lab
from support.hostile_document import hostile
from support.inventories import random_inventory
from support.report_document import STARTED, rich
from unmask.model.finding import Outcome
from unmask.model.inventory import Inventory
from unmask.model.report import Document
from unmask.report import json as report

SCHEMA: dict[str, Any] = json.loads((golden.ROOT / "docs/audit.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(
    SCHEMA, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
)


def rendered(**arguments: Any) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(report.render(document(**arguments), 80))
    return value


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_report_is_as_expected() -> None:
    golden.check("report/lab.audit.json", report.render(document(), 80))


def test_the_report_keeps_to_the_schema() -> None:
    VALIDATOR.validate(rendered())
    VALIDATOR.validate(rendered(outcome=Outcome(), inventory=Inventory()))


@pytest.mark.parametrize("seed", range(40))
def test_any_inventory_keeps_to_the_schema(seed: int) -> None:
    VALIDATOR.validate(rendered(outcome=Outcome(), inventory=random_inventory(seed)))


@pytest.mark.parametrize("page", [rich, hostile], ids=["rich", "hostile"])
def test_everything_that_there_is_keeps_to_the_schema(page: Callable[[], Document]) -> None:
    value = json.loads(report.render(page(), 80))
    VALIDATOR.validate(value)
    assert list(undescribed(value, SCHEMA, "")) == []


def test_what_was_measured_is_in_the_form_of_the_benchmark_s_own_report() -> None:
    machines = json.loads(report.render(rich(), 80))["measured"]
    places = [(one["subject"], one["started"][:10]) for one in machines]
    assert places == [
        ("coast/102", "2026-11-28"),
        ("coast/102", "2026-12-01"),
        ("coast/gull", "2026-12-01"),
        ("coast/heron", "2026-12-01"),
    ]
    before, after, models, node = machines
    assert before["changes"] == []
    assert [change["algorithm"] for change in after["changes"]]
    assert before["diagnosis"]["cause"] == "hidden"
    assert before["node"]
    assert node["node"] == []
    assert [row["model"] for row in models["what_if"]]
    schema = json.loads((golden.ROOT / "docs/bench.schema.json").read_text())
    body = {"schema": "unmask.bench/1", "run": {"version": "", "started": STARTED}}
    jsonschema.Draft202012Validator(schema).validate({**body, "machines": machines})


def test_the_schema_of_measurements_is_a_copy_of_the_benchmark_s() -> None:
    text = (golden.ROOT / "docs/bench.schema.json").read_text()
    own = json.loads(text.replace('"#/$defs/', '"#/$defs/bench_'))["$defs"]
    copied = {name: value for name, value in SCHEMA["$defs"].items() if name.startswith("bench_")}
    assert copied == {f"bench_{name}": value for name, value in own.items()}


def test_the_schema_refuses_what_is_wrong() -> None:
    value = rendered()
    value["guests"][0]["cpu"]["features"]["aes"] = "maybe"
    value["findings"][0]["severity"] = "awful"
    del value["gaps"]
    assert len(list(VALIDATOR.iter_errors(value))) == 3


def test_every_key_is_described() -> None:
    assert list(undescribed(rendered(), SCHEMA, "")) == []


def undescribed(value: Any, schema: dict[str, Any], place: str) -> Iterator[str]:
    """Yield the places of keys that the schema does not name."""
    for choice in schema.get("anyOf", ()):
        if choice.get("type") != "null" and value is not None:
            schema = choice
    if "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]]
    if isinstance(value, list):
        for item in value:
            yield from undescribed(item, schema["items"], f"{place}[]")
    elif isinstance(value, dict):
        named, others = schema.get("properties", {}), schema.get("additionalProperties")
        for key, item in value.items():
            if key in named or others:
                yield from undescribed(item, named.get(key, others), f"{place}.{key}")
            else:
                yield f"{place}.{key}"


def test_top_level_keys_come_in_their_order() -> None:
    assert list(rendered()) == [
        "schema", "run", "rules", "clusters", "hosts", "guests", "findings", "accepted", "skips",
        "gaps",
        "measured",
    ]  # fmt: skip


def test_a_guest_says_what_is_configured_and_what_it_sees() -> None:
    guests = {guest["subject"]: guest for guest in rendered()["guests"]}
    gateway, nas = guests["lab/100"]["cpu"], guests["lab/101"]["cpu"]
    assert gateway["configured"] == "kvm64"  # nothing is written: the default's name
    assert gateway["origin"] == "default"
    assert gateway["effective"] == "kvm64"
    assert gateway["features"]["aes"] == "hidden"
    assert gateway["level"] == "x86-64-v1"
    assert gateway["pending"] == "host"
    assert gateway["after_restart"]["features"]["aes"] == "shown"
    assert gateway["after_restart"]["level"] == "x86-64-v3"
    assert nas["configured"] == "x86-64-v2-AES"
    assert (nas["features"]["aes"], nas["features"]["pclmulqdq"]) == ("shown", "hidden")
    assert nas["pending"] is None
    assert nas["after_restart"] is None
    assert guests["lab/104"]["cpu"]["features"]["aes"] == "host"
    assert guests["lab/105"]["cpu"]["origin"] == "args"
    assert guests["lab/106"]["cpu"]["accelerator"] == "tcg"
    assert guests["pi/dns"]["cpu"]["level"] is None
    assert guests["pi/dns"]["cpu"]["features"]["pmull"] == "shown"


def test_what_else_is_known_of_a_host_and_keeps_a_guest() -> None:
    report = rendered()
    one, nas = report["hosts"][0], report["guests"][1]
    assert one["parameters"] == {"kvm.ignore_msrs": "N", "kvm_amd.nested": "1"}
    assert (one["cpu"]["family"], one["cpu"]["microcode"]) == (23, "0x830107c")
    assert (nas["lock"], nas["high_availability"], nas["replicas"]) == (
        "backup", "started", ["two"],
    )  # fmt: skip
    assert nas["snapshots"] == [{"name": "before-upgrade", "with_memory": True, "cpu": "kvm64"}]
    other = report["guests"][0]
    assert (other["lock"], other["high_availability"]) == (None, None)
    assert (other["replicas"], other["snapshots"]) == ([], [])


def test_a_host_that_could_not_be_read_says_why() -> None:
    two = rendered()["hosts"][1]["cpu"]
    assert two["flags"] is None
    assert two["reason"] == "no nodes/two/cpuinfo in this copy"
    assert two["needs"] == "the file nodes/two/cpuinfo"


def test_hostile_names_are_whole_and_escaped() -> None:
    inventory = lab()
    guest = replace(inventory.guests[0], name=HOSTILE)
    text = report.render(document(inventory=replace(inventory, guests=(guest,))), 80)
    assert text.isascii()
    assert "\x1b" not in text
    assert json.loads(text)["guests"][0]["name"] == HOSTILE


def test_the_same_document_gives_the_same_text() -> None:
    assert report.render(document(), 80) == report.render(document(), 0)
