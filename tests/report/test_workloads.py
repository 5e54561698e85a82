"""What is encrypted in the guests, in the table and in the JSON report."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from support import golden
from support.documents import HOSTILE, document
from support.inventories import random_inventory
from support.visited_document import judged, visited
from unmask import plugins
from unmask.engine.cases import guest_cases
from unmask.model.finding import Outcome
from unmask.model.inside import Partial
from unmask.model.outlook import Status
from unmask.model.reading import Known
from unmask.model.report import Document
from unmask.model.workload import Finder, JudgedWorkload, WorkloadKind
from unmask.report import _detail, _workloads, table
from unmask.report import json as json_report
from unmask.report._paint import Paint

SCHEMA: dict[str, Any] = json.loads((golden.ROOT / "docs/audit.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(scope="module")
def guests() -> dict[str, Any]:
    """Return the guests of the JSON report by subject."""
    report = json.loads(json_report.render(visited(), 0))
    VALIDATOR.validate(report)
    return {item["subject"]: item for item in report["guests"]}


def test_the_json_report_is_as_expected() -> None:
    golden.check("report/visited.audit.json", json_report.render(visited(), 0))


@pytest.mark.parametrize("width", [80, 120])
def test_the_table_is_as_expected(width: int) -> None:
    golden.check(f"report/visited-{width}.txt", table.render(visited(), width))


def test_the_contract_of_a_workload(guests: dict[str, Any]) -> None:
    vpn = guests["lab/100"]["workloads"][0]
    assert (vpn["kind"], vpn["status"]) == ("openvpn", "software")
    assert vpn["missing"] == ["aes", "pclmulqdq"]
    assert (vpn["factor"], vpn["of_best"]) == (0.0283, 0.0205)
    assert vpn["evidence"] == ["It was seen."]
    assert vpn["confidence"] == "firm"
    assert vpn["notes"][0]["kind"] == "faster"
    unknown = guests["lab/100"]["workloads"][2]
    assert (unknown["status"], unknown["consumer"], unknown["missing"]) == ("unknown", None, [])
    by_host = guests["lab/102"]["workloads"][1]
    assert (by_host["status"], by_host["host_side"]) == ("not-affected", True)
    assert guests["lab/101"]["workloads"][0]["status"] == "not-affected"


def test_who_got_in_and_who_did_not(guests: dict[str, Any]) -> None:
    inside = guests["lab/101"]["inside"]
    assert (inside["way"], inside["by"], inside["root"]) == ("ssh", "audit@192.0.2.8:22", False)
    assert inside["attempts"] == [
        {"way": "agent", "reason": "it does not answer", "needs": "the package qemu-guest-agent"}
    ]
    assert [item["probe"] for item in inside["missing"]] == ["listeners", "tls_processes"]
    assert [item["probe"] for item in inside["partial"]] == ["dm_crypt", "zfs"]
    assert guests["lab/101"]["unread"][0]["kind"] == "tls"
    shut = guests["lab/104"]["inside"]
    assert (shut["way"], shut["system"]) == (None, None)
    assert shut["reason"].startswith("not by the guest agent")
    assert guests["pi/dns"]["inside"] is None
    assert guests["lab/100"]["inside"]["resources"]["steal_permille"] == 3


def test_disks_observed_and_endpoints(guests: dict[str, Any]) -> None:
    first, second = guests["lab/102"]["disks"]["items"]
    assert [part["encrypted"] for part in first["parts"]] == [False, True]
    assert second["parts"] is None
    assert second["reason"] == "its first sectors were not read"
    assert second["encryption"][0]["kind"] == "zfs"
    assert guests["lab/104"]["disks"]["items"] is None
    assert guests["pi/dns"]["disks"] is None
    assert guests["lab/100"]["observed"]["features"]["aes"] == "hidden"
    assert guests["pi/dns"]["observed"] is None
    assert guests["lab/100"]["endpoints"][0]["prefers_chacha"] is False
    assert guests["lab/103"]["declared"][0]["kind"] == "luks"


def test_every_key_is_in_the_schema() -> None:
    report = json.loads(json_report.render(visited(), 0))
    report["guests"][0]["workloads"][0]["status"] = "awful"
    report["guests"][0]["inside"]["way"] = "telepathy"
    assert len(list(VALIDATOR.iter_errors(report))) == 2
    named = SCHEMA["$defs"]["workload"]["properties"]
    assert set(report["guests"][0]["workloads"][0]) == set(named)
    assert set(report["guests"][0]) == set(SCHEMA["$defs"]["guest"]["properties"])
    assert set(report["guests"][0]["inside"]) == set(SCHEMA["$defs"]["inside"]["properties"])


@pytest.mark.parametrize("seed", range(40))
def test_any_inventory_with_its_workloads_keeps_to_the_schema(seed: int) -> None:
    inventory = random_inventory(seed)
    finders = plugins.load("unmask.workloads", "WORKLOAD", Finder)
    page = replace(document(Outcome(), inventory), cases=guest_cases(inventory, finders))
    VALIDATOR.validate(json.loads(json_report.render(page, 0)))
    for text in (table.render(page, 80), ESCAPE.sub("", table.render_coloured(page, 80))):
        assert all(char.isprintable() or char == "\n" for char in text)


def row(text: str, name: str) -> list[str]:
    line = next(line for line in text.splitlines() if name in line)
    return re.split(r"  +", line.strip())


def test_each_workload_is_a_line() -> None:
    text = table.render(visited(), 0)
    assert row(text, "tls nginx")[1:] == [
        "tls nginx", "gcm", "OpenSSL 3.0.20, port 443", "software", "3 %", "aes, pclmulqdq",
    ]  # fmt: skip
    assert row(text, "zfs tank/secure")[4:] == ["partial?", "0.7 %", "pclmulqdq, avx"]
    assert row(text, "tls port 8443")[4:] == ["unknown", "-", "-"]
    assert row(text, "luks luks-data (closed)")[1] == "luks luks-data (closed)"
    assert "? tentative" in text
    assert (
        "10 encrypted workloads: 3 software, 1 partial, 1 unknown, 3 hardware, 2 not-affected"
        in (text)
    )


def test_without_workloads_nothing_is_said_of_them() -> None:
    text = table.render(document(), 80)
    assert "Encrypted" not in text
    assert "encrypted" not in text


def test_what_could_not_be_seen_is_one_line_a_remedy() -> None:
    text = table.render(visited(), 0)
    assert "lab/101: more of dm crypt, tls processes needs root in the guest" in text
    assert "lab/101: listeners: the guest's answer ended before it" in text
    assert "lab/101: zfs: the guest printed more than 64 KiB" in text
    assert text.count("not by the guest agent: it does not answer") == 1
    assert "lab/104, lab/105: not by the guest agent" in text


def test_many_guests_without_root_are_one_line() -> None:
    page = visited()
    nas = next(item for item in page.inventory.guests if item.subject == "lab/101")
    assert isinstance(nas.visit.inside, Known)
    partial = (Partial("dm_crypt", "without root it lacks the ciphers", "root in the guest"),)
    inside = Known(replace(nas.visit.inside.value, partial=partial))
    many = tuple(
        replace(nas, subject=f"lab/{number}", visit=replace(nas.visit, inside=inside))
        for number in range(200, 230)
    )
    text = table.render(replace(page, inventory=replace(page.inventory, guests=many)), 0)
    assert text.count("needs root in the guest") == 1


def crowded(count: int) -> Document:
    """Return the document with one guest that has very many workloads."""
    page = visited()
    fine = [judged(WorkloadKind.TLS, f"fine{n}", Status.HARDWARE, factor=1.0) for n in range(count)]
    bad = judged(WorkloadKind.TLS, "bad", Status.SOFTWARE, factor=0.5)
    worse = judged(WorkloadKind.TLS, "worse", Status.SOFTWARE, factor=0.01)
    found: tuple[JudgedWorkload, ...] = (*fine, bad, worse)
    return replace(page, cases=(replace(page.cases[0], workloads=found),))


def test_of_very_many_workloads_the_worst_are_shown() -> None:
    text = table.render(crowded(100), 0)
    assert "tls bad" in text
    assert "tls worse" in text
    assert f"fine{_detail.NORMAL.workloads - 3}" in text
    assert f"fine{_detail.NORMAL.workloads - 2}" not in text
    assert "62 more workloads fare no worse: --full shows them" in text
    assert "102 encrypted workloads" in text


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
def test_the_section_fits_the_terminal(width: int) -> None:
    lines = _workloads.section(visited(), width, Paint(enabled=False), _detail.NORMAL)
    assert max(map(len, lines)) <= width


def test_nothing_of_a_guest_reaches_the_terminal_unwashed() -> None:
    for text in (table.render(visited(), 0), ESCAPE.sub("", table.render_coloured(visited(), 0))):
        assert all(char.isprintable() or char == "\n" for char in text)
        assert "owned" not in text
    assert (
        HOSTILE in json.loads(json_report.render(visited(), 0))["guests"][3]["workloads"][0]["name"]
    )
    assert json_report.render(visited(), 0).isascii()


def test_a_verdict_has_its_colour() -> None:
    text = table.render_coloured(visited(), 0)
    assert "\x1b[31msoftware\x1b[0m" in text
    assert "\x1b[33mpartial?\x1b[0m" in text
    assert "\x1b[32mhardware\x1b[0m" in text
    assert ESCAPE.sub("", text) == table.render(visited(), 0)
