"""The commands that a report prints are accepted: each is run as it stands."""

from __future__ import annotations

import csv
import io
import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from support.golden import FIXTURES, ROOT
from support.unmask_command import Answer
from unmask.lab.lab import Lab

Command = Callable[..., Answer]
FATAL = {"RST005", "RST006", "RST007", "RST008"}
"""Constraints that nobody can take on: a plan that has one is no advice."""


def printed(command: Command, *words: str) -> dict[str, dict[str, str]]:
    """Return each guest's line of the report."""
    answer = command("audit", *words, "--format", "csv", "--fail-on", "never")
    rows = csv.DictReader(io.StringIO(answer.output, newline=""), strict=True)
    return {row["subject"]: row for row in rows}


def accepted(command: Command, row: dict[str, str], *options: str) -> str:
    """Run what is printed for a guest, and return the CPU that the plan gives it."""
    words = shlex.split(row["command"])
    assert words[0] == "unmask"
    if words[1] == "baseline":
        assert command(*words[1:], *options).code == 0
        return ""
    assert words[-1] == "--dry-run"
    answer = command(*words[1:], *options, "--format", "json")
    assert (answer.code, answer.errors) == (0, ""), row["command"]
    (guest,) = json.loads(answer.output)["guests"]
    codes = {item["code"] for item in guest["constraints"]}
    assert not codes & FATAL, (row["command"], codes)
    plan = guest["plan"]
    assert plan["before"]["value"] != plan["after"]["value"], row["command"]
    return str(plan["after"]["value"])


def all_accepted(command: Command, rows: dict[str, dict[str, str]], *options: str) -> set[str]:
    """Run every command of ours, and return the kinds of commands that there were."""
    kinds = set()
    for row in rows.values():
        words = row["command"].split()
        if words[:1] == ["unmask"]:
            accepted(command, row, *options)
        if words:
            kinds.add(" ".join(words[:2]))
        assert row["action"] or not row["command"]
    return kinds


@pytest.mark.parametrize(
    ("target", "kinds"),
    [
        (ROOT / "examples/homelab", {"unmask fix", "unmask baseline", "qm set", "qm reboot"}),
        (FIXTURES / "report/rich.json", {"unmask fix", "qm set", "qm reboot", "virsh shutdown"}),
        (FIXTURES / "libvirt/hall", {"virsh shutdown", "virsh edit"}),
    ],
    ids=["homelab", "rich", "hall"],
)
def test_what_is_printed_for_copies_is_accepted(
    command: Command, target: Path, kinds: set[str]
) -> None:
    assert all_accepted(command, printed(command, str(target))) == kinds


def test_what_is_printed_for_a_cluster_is_accepted(command: Command) -> None:
    with Lab(pace=0) as lab:
        config = ("--config", str(lab.config_file))
        rows = printed(command, "inside", *config)
        assert len(rows) == 24
        assert {"inside"} == {
            row["command"].split()[2] for row in rows.values() if "unmask fix" in row["command"]
        }
        kinds = all_accepted(command, rows, *config)
    assert kinds == {"unmask fix", "unmask baseline", "qm set"}
    assert rows["homelab/101"]["command"].endswith("--cpu recommended --dry-run")
    assert rows["homelab/133"]["command"].endswith("--cpu +amd-ssbd,+ibpb --dry-run")
