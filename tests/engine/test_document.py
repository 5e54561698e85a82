"""The document of one run, and the exit code that it leads to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from support import rule_case
from unmask import plugins
from unmask.engine.accepted import Acceptance
from unmask.engine.document import build, exit_code, worst
from unmask.model.finding import Rule, Severity
from unmask.model.inventory import Gap, Inventory
from unmask.model.report import Document

RULES = plugins.load("unmask.rules", "RULE", Rule)
STARTED = "2026-12-01T10:00:00+00:00"


def document(inventory: Inventory, accepted: Sequence[Acceptance] = ()) -> Document:
    """Return the document of one run."""
    return build(inventory, RULES, version="1.0", started=STARTED, acceptances=accepted)


def one(cpu: str, host: str | None = "broadwell") -> Inventory:
    """Return an inventory of one guest."""
    return rule_case.inventory({"lab/one": host}, [{"cpu": cpu}])


CLEAN = rule_case.inventory({"lab/one": "broadwell"}, [{"cpu": "host"}])
UNREAD = replace(CLEAN, gaps=(Gap("test", "connection refused"),))
HALF = replace(CLEAN, gaps=(Gap("lab/one", "no cpuinfo"),))


def test_it_holds_the_run_the_inventory_and_a_case_a_guest() -> None:
    whole = one("kvm64")
    result = document(whole)
    assert (result.run.version, result.run.started) == ("1.0", STARTED)
    assert result.run.targets == ("test",)
    assert result.inventory is whole
    assert [case.guest for case in result.cases] == list(whole.guests)
    assert worst(result.outcome) is Severity.LOW


@pytest.mark.parametrize(
    ("inventory", "complete"),
    [(CLEAN, True), (one("kvm64"), True), (HALF, False), (one("kvm64", None), False)],
)
def test_gaps_and_skips_make_a_run_incomplete(
    inventory: Inventory,
    complete: bool,  # noqa: FBT001
) -> None:
    assert document(inventory).run.complete is complete


def test_accepted_findings_are_left_out_of_the_worst() -> None:
    codes = {finding.code for finding in document(one("kvm64")).outcome.findings}
    accepted = [Acceptance(code, "lab/*", "known", None, "f:1") for code in codes]
    result = document(one("kvm64"), accepted)
    assert result.outcome.findings == ()
    assert {item.finding.code for item in result.outcome.accepted} == codes
    assert worst(result.outcome) is None
    assert exit_code(result, Severity.INFO) == 0


@pytest.mark.parametrize(
    ("inventory", "fail_on", "strict", "code"),
    [
        (CLEAN, Severity.INFO, True, 0),
        (one("kvm64"), None, True, 0),
        (one("kvm64"), Severity.MEDIUM, True, 0),
        (one("kvm64"), Severity.LOW, False, 1),
        (one("kvm64"), Severity.INFO, False, 1),
        (one("kvm64", None), Severity.INFO, False, 0),
        (one("kvm64", None), Severity.INFO, True, 3),
        (HALF, None, False, 0),
        (HALF, None, True, 3),
        (UNREAD, None, False, 3),
        (replace(one("kvm64"), gaps=UNREAD.gaps), Severity.LOW, False, 3),
        (replace(one("kvm64"), gaps=HALF.gaps), Severity.LOW, False, 1),
        (replace(one("kvm64"), gaps=HALF.gaps), Severity.LOW, True, 3),
    ],
)
def test_exit_code(
    inventory: Inventory,
    fail_on: Severity | None,
    strict: bool,  # noqa: FBT001
    code: int,
) -> None:
    assert exit_code(document(inventory), fail_on, strict=strict) == code
