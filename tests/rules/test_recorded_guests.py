"""What the rules say of guests that were really booted, taken as guests under KVM.

The recordings are of TCG; what they printed of a model is what the same model shows under KVM, but
for the names of drivers where PCLMULQDQ is hidden, for which there are boots made to look alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from support import rule_case
from support.recorded_guest import Recording
from support.visited import parsed
from unmask import plugins
from unmask.engine.cases import guest_cases
from unmask.engine.run import judge
from unmask.model.finding import Finding, Rule
from unmask.model.inside import Inside
from unmask.model.inventory import Inventory
from unmask.model.reading import Known
from unmask.model.visit import Visit, Way
from unmask.model.workload import Finder

RULES = [
    rule
    for rule in plugins.load("unmask.rules", "RULE", Rule)
    if rule.code.startswith("CRY") or rule.code in ("CPU012", "CPU013", "REQ002", "REQ003")
]
FINDERS = [
    finder
    for finder in plugins.load("unmask.workloads", "WORKLOAD", Finder)
    if finder.kind not in ("luks", "bitlocker", "zfs", "geli", "files")
]
"""What the recordings hold of networks and programs; storage has tests of its own."""


def findings(inside: Inside, model: str) -> Sequence[Finding]:
    guest = rule_case.guest({"cpu": model, "running": model})
    visit = Visit(Known(inside), Way.AGENT, "the guest agent")
    one = rule_case.host("lab/one", "broadwell")
    inventory = Inventory(hosts=(one,), guests=(replace(guest, visit=visit),))
    return judge(inventory, RULES, guest_cases(inventory, FINDERS)).findings


def said(inside: Inside, model: str) -> list[str]:
    return sorted(f"{f.code} {f.problem.severity.word}" for f in findings(inside, model))


def test_qemu64() -> None:
    assert said(Recording("bookworm", "qemu64").inside(), "qemu64") == [
        "CRY004 high",
        "CRY004 high",
        "CRY005 high",
        "CRY005 high",
        "CRY006 medium",
        "CRY007 medium",
        "CRY007 medium",
        "CRY009 low",
        "CRY009 low",
    ]


def test_a_guest_that_shows_aes_without_pclmulqdq() -> None:
    recording = Recording("bookworm", "x86-64-v2-AES.kvmlike").inside()
    found = findings(recording, "x86-64-v2-AES")
    assert sorted({finding.code for finding in found}) == ["CRY004", "CRY005", "CRY006", "CRY009"]
    gcm = [f for f in found if f.code in ("CRY004", "CRY005")]
    assert {finding.problem.flags for finding in gcm} == {("pclmulqdq",)}
    assert not any("IPsec" in finding.problem.message for finding in gcm)


@pytest.mark.parametrize("model", ["Haswell-noTSX", "EPYC", "max"])
def test_nothing_that_encrypts_is_slow_in_guests_that_see_all(model: str) -> None:
    found = said(Recording("bookworm", model).inside(), "Haswell-noTSX")
    assert [text for text in found if text.startswith("CRY")] == []


def openssl(recording: Recording, output: str) -> Inside:
    said_by = parsed(
        "openssl", version=recording.text("openssl_version_a"), capabilities=recording.text(output)
    )
    return replace(recording.inside(), openssl=Known(said_by))


def test_a_mask_of_openssl_is_noticed_and_its_absence_is_not() -> None:
    recording = Recording("bookworm", "Westmere")
    (finding,) = [
        each
        for each in findings(openssl(recording, "openssl_version_c_masked"), "Westmere")
        if each.code == "CRY010"
    ]
    assert finding.problem.flags == ("aes", "pclmulqdq")
    (finding,) = [
        each
        for each in findings(openssl(recording, "openssl_version_c_pclmasked"), "Westmere")
        if each.code == "CRY010"
    ]
    assert finding.problem.flags == ("pclmulqdq",)
    plain = findings(openssl(recording, "openssl_version_c"), "Westmere")
    assert not [each for each in plain if each.code == "CRY010"]


def test_an_openssl_that_was_made_to_use_what_is_hidden_is_no_alarm() -> None:
    recording = Recording("bookworm", "qemu64")
    forced = findings(openssl(recording, "openssl_version_c_forced"), "qemu64")
    plain = findings(openssl(recording, "openssl_version_c"), "qemu64")
    for found, severity in ((forced, "low"), (plain, "high")):
        (nginx,) = [each for each in found if "nginx" in each.problem.message]
        assert nginx.problem.severity.word == severity
