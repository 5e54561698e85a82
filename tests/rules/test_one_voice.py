"""Rules that look at one guest agree on what is to be done with it, and what they say helps."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

import pytest

from support import rule_case
from unmask import plugins
from unmask.engine.cases import guest_cases
from unmask.engine.run import judge
from unmask.model.finding import Finding, Rule

RULES = [
    rule
    for rule in plugins.load("unmask.rules", "RULE", Rule)
    if rule.code in ("CPU001", "CPU002") or rule.code.startswith("CRY")
]
LUKS = {"kind": "luks", "name": "data", "consumer": "dm-crypt", "cipher": "aes-xts-plain64"}
TLS = {"kind": "tls", "name": "nginx", "consumer": "openssl", "version": "3.0.20"}
ZFS = {"kind": "zfs", "name": "tank", "consumer": "openzfs", "cipher": "aes-256-gcm"}
WIREGUARD = {"kind": "wireguard", "name": "wg0", "consumer": "wireguard", "version": "6.1"}
GELI = {"kind": "geli", "name": "ada0.eli", "consumer": "freebsd", "cipher": "AES-XTS"}
RESTIC = {"kind": "backup", "name": "restic", "consumer": "restic", "version": "1.24"}
EVERYTHING = [LUKS, TLS, ZFS, WIREGUARD, GELI, RESTIC]


def findings(guest: Mapping[str, Any], host: str = "broadwell") -> dict[str, Finding]:
    inventory = rule_case.inventory({"lab/one": host}, [guest])
    cases = guest_cases(inventory, rule_case.finders([guest]))
    outcome = judge(inventory, RULES, cases)
    assert outcome.skips == ()
    return {finding.code: finding for finding in outcome.findings}


def cpu_of(finding: Finding) -> str:
    """Return the `cpu` value that a finding's command sets."""
    words = shlex.split(finding.problem.command)
    assert words[:3] == ["qm", "set", "101"]
    return words[-1]


def configured(value: str) -> Mapping[str, Any]:
    """Return a `cpu` value in the form of the fixtures."""
    model, _, flags = value.partition(",flags=")
    on = " ".join(flag.removeprefix("+").replace(".", "_") for flag in flags.split(";") if flag)
    return {"like": model, "written": value, "on": on}


@pytest.mark.parametrize("host", ["broadwell", "cascadelake", "rome"])
@pytest.mark.parametrize("model", ["kvm64", "qemu64", "x86-64-v2", "x86-64-v2-AES", "x86-64-v3"])
@pytest.mark.parametrize("workload", EVERYTHING, ids=lambda item: item["kind"])
def test_what_a_finding_says_cures_it(workload: Mapping[str, Any], model: str, host: str) -> None:
    guest = {"cpu": model, "workloads": [workload]}
    found = {code: each for code, each in findings(guest, host).items() if code.startswith("CRY")}
    for code, finding in found.items():
        cured = {**guest, "cpu": configured(cpu_of(finding))}
        assert code not in findings(cured, host), finding


@pytest.mark.parametrize("model", ["kvm64", "x86-64-v2", "x86-64-v2-AES"])
def test_one_change_cures_all(model: str) -> None:
    guest = {"cpu": model, "workloads": EVERYTHING}
    found = findings(guest)
    told = {each.problem.remedy.rpartition("served at once by ")[2] for each in found.values()}
    commands = {text.removesuffix(".") for text in told if text.startswith("qm set")}
    assert len(commands) == 1
    value = shlex.split(commands.pop())[-1]
    assert findings({**guest, "cpu": configured(value)}) == {}


def test_a_guest_with_encrypted_disks_alone_is_sent_nowhere_else_by_cpu001() -> None:
    found = findings({"cpu": "kvm64", "workloads": [LUKS]})
    assert cpu_of(found["CPU001"]) == cpu_of(found["CRY002"]) == "kvm64,flags=+aes"


def test_cpu002_cures_itself_although_only_wireguard_is_slow() -> None:
    guest = {"cpu": "x86-64-v2-AES", "workloads": [WIREGUARD]}
    cured = {**guest, "cpu": configured(cpu_of(findings(guest)["CPU002"]))}
    assert findings(cured) == {}


@pytest.mark.parametrize("workload", EVERYTHING, ids=lambda item: item["kind"])
def test_the_smallest_change_is_no_larger_than_need_be(workload: Mapping[str, Any]) -> None:
    smallest = {
        "luks": "kvm64,flags=+aes",
        "tls": "Westmere",
        "zfs": "SandyBridge",
        "wireguard": "x86-64-v3",
        "geli": "x86-64-v2-AES",
        "backup": "x86-64-v2-AES",
    }
    found = findings({"cpu": "kvm64", "workloads": [workload]})
    values = {cpu_of(each) for code, each in found.items() if code.startswith("CRY")}
    assert values == {smallest[workload["kind"]]}
