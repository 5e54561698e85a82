"""Formats for programs, as the command writes them: several in one run, and by a file's suffix."""

from __future__ import annotations

import json
from pathlib import Path

import defusedxml.ElementTree
import pytest

from support import promtool
from support.golden import ROOT
from support.unmask_command import unmask

HOMELAB = str(ROOT / "examples/homelab")
SHUT = "pve://127.0.0.1:1"
"""A target that nobody has credentials for: it is not even asked."""


def test_a_target_that_was_not_read_shows_in_each_of_them(tmp_path: Path) -> None:
    paths = {name: tmp_path / name for name in ("sarif", "junit", "prometheus")}
    formats = [word for name, path in paths.items() for word in ("--format", f"{name}={path}")]
    answer = unmask("audit", HOMELAB, SHUT, "--fail-on", "never", *formats)
    assert answer.code == 3
    invocation = json.loads(paths["sarif"].read_text())["runs"][0]["invocations"][0]
    assert invocation["executionSuccessful"] is False
    assert invocation["toolExecutionNotifications"][0]["properties"]["subject"] == SHUT
    suites = defusedxml.ElementTree.fromstring(paths["junit"].read_bytes())
    assert suites[-1][0].attrib["name"] == SHUT
    assert suites[-1][0][0].tag == "error"
    metrics = paths["prometheus"].read_text()
    assert f'unmask_target_read{{target="{SHUT}"}} 0\n' in metrics
    assert f'unmask_target_read{{target="{HOMELAB}"}} 1\n' in metrics
    assert "unmask_audit_complete 0\n" in metrics


@pytest.mark.parametrize(
    ("name", "begins"),
    [("a.sarif", '{\n  "$schema"'), ("a.xml", "<?xml "), ("a.prom", "# HELP unmask_")],
)
def test_the_suffix_of_the_file_tells_the_format(name: str, begins: str, tmp_path: Path) -> None:
    answer = unmask("audit", HOMELAB, "--output", str(tmp_path / name))
    assert answer.code == 1  # something is high
    assert (tmp_path / name).read_text("utf-8").startswith(begins)


def test_the_real_rules_give_metrics_that_promtool_takes() -> None:
    answer = unmask("audit", HOMELAB, "--format", "prometheus", "--fail-on", "never")
    assert answer.code == 0
    assert promtool.run("check", "metrics", stdin=answer.output) == ""
