"""`unmask fix --bench`: figures before and after, and what they are put down to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from support import fix_lab
from support.benches import environment, result, samples
from support.fix_command import Command, FixLab
from unmask.cli import proving
from unmask.lab.lab import Lab
from unmask.model.bench import PLAIN, BenchResult, Tool
from unmask.model.change import Plan

WORDS = (
    "--ack", "MIG002,MIG009,RST001", "--yes", "--restart", "--verify", "--bench",
    "--format", "json",
)  # fmt: skip


@pytest.fixture
def lab(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FixLab]:
    fix_lab.impatient(monkeypatch)
    with Lab(pace=0) as made:
        yield FixLab(made, command, tmp_path, token="root", options=())


def gcm(rate: float, flags: str) -> BenchResult:
    """Return a benchmark of AES-GCM, in MB/s, on a CPU with these flags."""
    runs = samples({"aes-256-gcm": {PLAIN: rate}}, Tool.OPENSSL)
    return replace(result({}, environment(flags)), subject="homelab/101", samples=runs)


def proof(lab: FixLab) -> list[str]:
    answer = lab.fix("101", "host", *WORDS)
    assert answer.code == 0, answer.output
    proof: list[str] = answer.report["guests"][0]["result"]["proof"]
    return proof


def test_throughput_before_and_after_is_put_down_to_the_cpu(
    lab: FixLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [gcm(310, "ssse3 hypervisor"), gcm(4850, "ssse3 aes pclmulqdq hypervisor")]
    states: list[str] = []

    def measured(_where: object, plans: Sequence[Plan]) -> dict[str, BenchResult]:
        states.append(lab.lab.tree()["nodes/pve1/qemu-server/101.conf"])
        return {plan.place.subject: made.pop(0) for plan in plans}

    monkeypatch.setattr(proving, "measured", measured)
    (told,) = [sentence for sentence in proof(lab) if "aes-256-gcm" in sentence.lower()]
    assert "310" in told
    assert "4.8" in told or "4850" in told or "4,850" in told
    assert ["cpu: host" in text for text in states] == [False, True]


def test_a_guest_that_cannot_be_measured_says_why(
    lab: FixLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    none = replace(gcm(1, ""), samples=(), problems=("It has no openssl.",))
    monkeypatch.setattr(proving, "measured", lambda *_: {"homelab/101": none})
    assert proof(lab)[-1] == "It has no openssl."
