"""`--figures` of `unmask audit` and `unmask fix`: what was measured on nodes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.benches import environment, samples
from support.unmask_command import Answer
from unmask.dialects import saved, saved_bench
from unmask.lab.lab import Lab
from unmask.model.bench import PLAIN, BenchResult

Command = Callable[..., Answer]
RATES = {"aes-256-gcm": {PLAIN: 3000, "x86-64-v2-AES": 450, "kvm64": 88, "host": 2900}}
SAID = "aes-256-gcm measured on {} with OpenSSL 3.0.20 on 2026-12-01: 88.0 of 2900 MB/s"


@pytest.fixture
def target(command: Command, tmp_path: Path) -> Path:
    """Return the lab, with what was found in its guests, as a saved inventory."""
    path = tmp_path / "lab.json"
    with Lab() as lab:
        words = ("--config", str(lab.config_file), "--fail-on", "never", "--save", str(path))
        command("audit", "inside", *words)
    return path


def figures(target: Path, **changes: Any) -> Path:
    """Return a file with what was measured on each node of an inventory."""
    path = target.with_name("figures.json")
    found = tuple(
        replace(
            BenchResult(
                host.subject, host.name, host.subject, "2026-12-01T08:00:00Z", "quick what-if",
                "ssh", replace(environment(), cpu=host.cpu), samples(RATES),
            ),
            **changes,
        )
        for host in saved.load(target.read_text()).hosts
    )  # fmt: skip
    path.write_text(saved_bench.dump(found))
    return path


def guests(answer: Answer) -> dict[str, Any]:
    return {guest["ident"]: guest for guest in json.loads(answer.output)["guests"]}


def test_an_audit_uses_them_in_workloads_and_findings(command: Command, target: Path) -> None:
    words = ("audit", str(target), "--fail-on", "never", "--format", "json")
    general, answer = command(*words), command(*words, "--figures", str(figures(target)))
    assert (answer.code, answer.errors) == (0, "")
    measured = {
        (ident, item["name"]): item
        for ident, guest in guests(answer).items()
        for item in guest["workloads"]
        if "measured on" in (item["factor_origin"] or "")
    }
    assert measured
    for ident, name in measured:
        old = next(it for it in guests(general)[ident]["workloads"] if it["name"] == name)
        assert old["status"] == measured[ident, name]["status"]
    sentence = SAID.format("pve1")
    assert sentence in answer.output
    said = [item for item in json.loads(answer.output)["findings"] if sentence in json.dumps(item)]
    assert {item["code"][:3] for item in said} == {"CRY"}
    assert "measured on pve1" not in general.output


def test_a_plan_uses_them(command: Command, target: Path) -> None:
    words = ("fix", str(target), "--vm", "102", "--cpu", "host", "--dry-run", "--format", "json")
    answer = command(*words, "--figures", str(figures(target)))
    assert answer.code == 0, answer.errors
    (guest,) = json.loads(answer.output)["guests"]
    (nginx,) = [item for item in guest["plan"]["workloads"] if item["workload"] == "tls nginx"]
    assert (nginx["before"], nginx["after"]) == ("software, keeps 3 %", "hardware")
    assert "Measured on pve1: aes-256-gcm has 88.0 MB/s before and 2900 MB/s" in nginx["why"]


@pytest.mark.parametrize("command_line", [("audit",), ("fix", "--vm", "101", "--cpu", "host")])
def test_a_file_without_any_is_an_error(
    command: Command, target: Path, command_line: tuple[str, ...]
) -> None:
    words = (command_line[0], str(target), *command_line[1:])
    for path, said in (
        (figures(target, method="quick"), "nothing in it was measured under CPU models"),
        (target, "not saved by unmask bench"),
        (target.with_name("none.json"), "cannot be read"),
    ):
        answer = command(*words, "--figures", str(path))
        assert (answer.code, answer.output) == (2, "")
        assert said in answer.errors
        assert str(path) in answer.errors
