"""JSON reports read back: what is known of them, and clear words where they are none."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from support.compared import audit, rendered
from support.documents import document, lab
from support.inventories import random_inventory
from support.report_document import inventory as rich
from unmask.dialects import audit_report
from unmask.engine.site import of_site
from unmask.errors import InputError
from unmask.model.finding import Outcome
from unmask.report import json as report


def test_what_was_written_is_read() -> None:
    made = document()
    found = audit_report.load(report.render(made, 0))
    assert found.findings == made.outcome.findings
    assert found.accepted == made.outcome.accepted
    assert found.skips == made.outcome.skips
    assert found.gaps == made.inventory.gaps
    assert [item.subject for item in found.guests] == [g.subject for g in made.inventory.guests]
    assert (found.version, found.started, found.complete) == (
        "1.2.3",
        "2026-12-01T08:00:00Z",
        False,
    )


@pytest.mark.parametrize("seed", range(40))
def test_any_inventory_is_read_back(seed: int) -> None:
    inventory = random_inventory(seed)
    found = audit_report.load(report.render(document(Outcome(), inventory), 0))
    assert [guest.subject for guest in found.guests] == [g.subject for g in inventory.guests]


def test_what_was_seen_of_a_guest() -> None:
    guests = {guest.subject: guest for guest in audit(of_site(rich(), "b")).guests}
    seen, shut = guests["b:coast/101"], guests["b:coast/103"]
    assert seen.looks >= {"inside", "cpu"}
    assert [(load.kind, load.status) for load in seen.workloads] == [("zfs", "software")]
    assert shut.looks == frozenset()
    assert (seen.site, seen.node) == ("b", "gull")
    assert dict(seen.features)["aes"] in ("shown", "hidden")


def test_a_report_of_an_older_version_has_no_rules_and_no_sites() -> None:
    body = json.loads(rendered(lab()))
    del body["rules"]
    for key in ("hosts", "guests", "clusters"):
        for item in body[key]:
            del item["site"]
    old, new = audit_report.load(json.dumps(body)), audit(lab())
    assert old == replace(new, rules=())


def test_keys_of_a_newer_version_do_no_harm() -> None:
    body = json.loads(rendered(lab()))
    body["more"] = {"a": [1]}
    body["guests"][0]["more"] = body["findings"][0]["more"] = body["run"]["more"] = None
    assert audit_report.load(json.dumps(body)) == audit(lab())


def _cut(text: str) -> str:
    return text[: len(text) // 2]


def _edited(change: Callable[[dict[str, Any]], object]) -> Callable[[str], str]:
    def edit(text: str) -> str:
        body = json.loads(text)
        change(body)
        return json.dumps(body)

    return edit


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda _: "", "not a JSON report of unmask audit: "),
        (_cut, "not a JSON report of unmask audit: "),
        (lambda _: "[]", "the JSON is not an object"),
        (lambda _: "{}", '"schema" is not "unmask.audit/1"'),
        (lambda _: '{"schema": "unmask.fix/1"}', '"schema" is not "unmask.audit/1"'),
        (lambda _: '{"schema": "unmask.audit/2"}', "this report has version '2' and this unmask"),
        (lambda _: "[" * 100_000, "nested too deeply"),
        (lambda _: '{"schema": "unmask.audit/1", "run": ' + "9" * 5000 + "}", "not a JSON report"),
        (_edited(lambda body: body.pop("guests")), "the key 'guests' is missing"),
        (_edited(lambda body: body.update(guests={})), "guests: {} is not a list"),
        (_edited(lambda body: body.update(run=[])), r"run: \[\] is not an object"),
        (_edited(lambda body: body["hosts"][0].update(name=3)), r"hosts\[0\].name: 3 is not a str"),
        (
            _edited(lambda body: body["findings"][0].update(severity="awful")),
            r"findings\[0\].severity: 'awful' is none of info, low, medium, high, critical",
        ),
        (
            _edited(lambda body: body["guests"][0]["cpu"].update(features={"aes": 1})),
            r"guests\[0\].cpu.features\[0\]\[1\]: 1 is not a string",
        ),
        (_edited(lambda body: body["guests"].append(body["guests"][0])), "appears twice"),
        (_edited(lambda body: body["skips"].append("x")), r"skips\[\d+\]: 'x' is not an object"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(spoil: Callable[[str], str], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        audit_report.load(spoil(rendered(rich())))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_text_without_end_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    small = replace(audit_report.FORM, limit=100)
    monkeypatch.setattr(audit_report, "FORM", small)
    with pytest.raises(InputError, match="a JSON report of more than 100 characters is not read"):
        audit_report.load(rendered(rich()))
