"""CPU001 against its fixtures, and its advice where many models would do."""

from __future__ import annotations

import pytest

from support import rule_case
from support.rule_case import RuleCase
from unmask.engine.cases import guest_cases
from unmask.engine.run import judge
from unmask.rules.cpu001_generic_model_hides_aes import RULE


@pytest.mark.parametrize("case", rule_case.cases(RULE.code), ids=lambda case: case.name)
def test_it_says_what_its_fixtures_expect(case: RuleCase) -> None:
    rule_case.hold(RULE, case)


def outcome(**changes: object) -> tuple[str, str]:
    """Return remedy and command for one guest."""
    hosts = changes.pop("hosts", {"lab/one": "broadwell"})
    inventory = rule_case.inventory(hosts, [changes])  # type: ignore[arg-type]
    (finding,) = judge(inventory, [RULE]).findings
    return finding.problem.remedy, finding.problem.command


def test_a_suggested_model_really_shows_both_on_every_node() -> None:
    hosts = {"lab/one": "cascadelake", "lab/two": "broadwell"}
    _, command = outcome(hosts=hosts, cpu="x86-64-v2")
    inventory = rule_case.inventory(hosts, [{"cpu": command.split()[-1]}])
    (case,) = guest_cases(inventory)
    assert case.view.shows("aes", "pclmulqdq")
    assert case.view.starts
    assert judge(inventory, [RULE]).findings == ()


def test_a_guest_identifier_cannot_smuggle_a_command() -> None:
    _, command = outcome(platform="libvirt", subject="lab/x; reboot", guest_name="y; reboot")
    assert command == "virsh edit 'x; reboot'"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("web-2.lan", "web-2.lan"),
        ("7", "UUID"),
        ("--help", "UUID"),
        ("two words", "UUID"),
        ("f0bca3e3-1d44-4b4e-8f3a-0a2f1c7d9e55", "UUID"),
        ("", "UUID"),
    ],
)
def test_virsh_is_told_a_name_only_where_it_takes_it_for_one(name: str, said: str) -> None:
    _, command = outcome(platform="libvirt", subject="lab/UUID", guest_name=name)
    assert command == f"virsh edit {said}"


def test_one_finding_a_guest_and_none_twice() -> None:
    guests = [{"subject": f"lab/{number}"} for number in range(5)]
    found = judge(rule_case.inventory({"lab/one": "broadwell"}, guests), [RULE]).findings
    assert [finding.subject for finding in found] == [f"lab/{number}" for number in range(5)]


def test_a_running_guest_is_certain_and_a_stopped_one_firm() -> None:
    for state, confidence in (("running", "certain"), ("paused", "certain"), ("stopped", "firm")):
        inventory = rule_case.inventory({"lab/one": "broadwell"}, [{"state": state}])
        (finding,) = judge(inventory, [RULE]).findings
        assert finding.problem.confidence == confidence


def test_windows_is_never_sent_to_host() -> None:
    for hosts in ({"lab/one": "broadwell", "lab/two": "rome"}, {"lab/one": "rome"}):
        remedy, command = outcome(hosts=hosts, os="win11")
        assert "or host where" not in remedy
        assert "--cpu host" not in command


def test_openzfs_is_not_sent_to_a_model_without_avx_unwarned() -> None:
    remedy, command = outcome(cpu="x86-64-v2")
    assert command.endswith("Westmere")
    assert "For OpenZFS's encryption take one that shows AVX too" in remedy
    no_avx = {"like": "broadwell", "without": "avx avx2 fma f16c xsave xsaveopt bmi1 bmi2 movbe"}
    assert "OpenZFS" not in outcome(cpu="x86-64-v2", hosts={"lab/one": no_avx})[0]
    assert "OpenZFS" not in outcome(cpu="x86-64-v2", os="win11")[0]
