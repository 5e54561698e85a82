"""A document to render: the inventory fixtures/report/lab.json with findings made up here.

The findings are not those of the real rules, so that reports are tested apart from them.
"""

from __future__ import annotations

from support.golden import FIXTURES
from unmask.dialects.saved import load
from unmask.engine.cases import guest_cases
from unmask.model.finding import Accepted, Confidence, Finding, Outcome, Problem, Severity, Skip
from unmask.model.inventory import Inventory
from unmask.model.report import Document, Run

LAB = FIXTURES / "report" / "lab.json"
HOSTILE = "x\x1b]0;owned\x07\x1b[31mred\u202egnp\nline"
"""A title change, a colour, a reversal and a line break."""


def lab() -> Inventory:
    """Return the fixture's inventory."""
    return load(LAB.read_text(encoding="utf-8"))


def document(outcome: Outcome | None = None, inventory: Inventory | None = None) -> Document:
    """Return a document of the lab with these findings, by default `outcome()`."""
    held = inventory or lab()
    run = Run("1.2.3", "2026-12-01T08:00:00Z", held.targets, complete=False)
    return Document(run, held, guest_cases(held), outcome or made_up())


def finding(code: str, subject: str, name: str, problem: Problem) -> Finding:
    """Return a finding of a rule that does not exist."""
    return Finding(code, f"Title of {code}", subject, name, "lab/one", problem)


def made_up() -> Outcome:
    """Return findings of several severities, skips, and an accepted finding."""
    shared = ("The host has AES.", "This fact is about both guests.")
    remedy = "Choose a model that has the flag, then stop the guest and start it again."
    hidden = Problem(
        Severity.HIGH,
        "the model hides AES",
        shared,
        remedy,
        "qm set 100 --cpu host",
        Confidence.CERTAIN,
        ("aes",),
    )
    milder = Problem(
        Severity.MEDIUM,
        "the model hides PCLMULQDQ, which matters to AES-GCM and to little else that runs here",
        (*shared, "Only this guest has this fact."),
        remedy,
        "qm set 101 --cpu host",
        Confidence.TENTATIVE,
        ("pclmulqdq",),
    )
    note = Problem(Severity.INFO, "something is worth a note", confidence=Confidence.FIRM)
    return Outcome(
        findings=(
            finding("TST001", "lab/100", "vpn-gateway", hidden),
            finding("TST001", "lab/101", "nas", milder),
            finding("TST002", "lab/100", "vpn-gateway", note),
            finding("TST002", "lab/102", "db", note),
            finding("TST002", "lab/103", HOSTILE, note),
        ),
        skips=(
            Skip("TST003", "lab/104", "the host's flags are not known", "the file cpuinfo"),
            Skip("TST004", "lab/104", "the host's flags are not known", "the file cpuinfo"),
            Skip("TST003", "lab/105", "the host's flags are not known", "the file cpuinfo"),
            Skip("TST003", "pi/dns", "nobody asked"),
        ),
        accepted=(Accepted(finding("TST002", "lab/106", "emulated", note), "a toy", "2027-01-31"),),
    )


def many(code: str, count: int) -> list[Finding]:
    """Return so many findings of one code, each of a guest of its own and with a command."""
    return [
        finding(
            code,
            f"lab/{number}",
            f"vm{number}",
            Problem(Severity.LOW, f"says {number}", command=f"do {number}"),
        )
        for number in range(100, 100 + count)
    ]
