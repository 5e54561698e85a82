"""The examples for continuous integration: what they run is run, and gives what they hand on."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import defusedxml.ElementTree
import pytest
import yaml

from support import peers
from support.golden import ROOT
from support.unmask_command import UNMASK, unmask

EXAMPLES = ROOT / "examples/ci"
PAGE = (ROOT / "docs/ci.md").read_text("utf-8")
LIVE = 'pve://pve1.example --token-file "$UNMASK_TOKEN" --ca-file pve-root-ca.pem'
"""What a test has no cluster for: it audits what was collected instead."""
ACCEPT = '[[accept]]\ncode = "CPU005"\nsubject = "*homelab/30*"\nreason = "moves to new nodes"\n'


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a folder as the examples expect it: what was collected, and what is accepted."""
    (tmp_path / "sites").mkdir()
    saved = tmp_path / "sites/home.json"
    answer = unmask("collect", str(ROOT / "examples/homelab"), "--save", str(saved))
    assert answer.code == 0, answer.errors
    (tmp_path / "accept.toml").write_text(ACCEPT)
    return tmp_path


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    summary = folder / "summary.md"
    return subprocess.run(
        ["/bin/bash", "-e", "-c", command],
        cwd=folder,
        env=peers.environment(
            PATH=f"{Path(UNMASK).parent}:{peers.SEARCH_PATH}",
            GITHUB_STEP_SUMMARY=str(summary),
        ),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def example(name: str) -> Any:
    return yaml.safe_load((EXAMPLES / name).read_text("utf-8"))


def test_the_workflow_uploads_what_is_not_accepted(repository: Path) -> None:
    peers.program("jq")
    job = example("github-workflow.yml")["jobs"]["audit"]
    assert job["permissions"]["security-events"] == "write"
    steps = {step["name"]: step for step in job["steps"] if "name" in step}
    audit = shell(steps["Audit"]["run"], repository)
    assert audit.returncode == 1, audit.stderr  # a finding is high
    for name in ("Show the report", "Leave out what is accepted"):
        assert steps[name]["if"] == "always()"
        done = shell(steps[name]["run"], repository)
        assert done.returncode == 0, done.stderr
    assert steps["Upload findings"]["with"]["sarif_file"] == "open.sarif"
    written, left = (
        json.loads((repository / name).read_text())["runs"][0]["results"]
        for name in ("unmask.sarif", "open.sarif")
    )
    suppressed = [result for result in written if "suppressions" in result]
    assert {result["ruleId"] for result in suppressed} == {"CPU005"}
    assert left == [result for result in written if "suppressions" not in result]
    assert "homelab" in (repository / "summary.md").read_text()


def test_the_job_for_gitlab_hands_on_what_it_writes(repository: Path) -> None:
    job = example("gitlab-ci.yml")["unmask"]
    assert job["artifacts"]["when"] == "always"
    check_audit(job["script"][-1], repository)
    written = {path.name for path in repository.iterdir()}
    assert {*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"]} <= written


def test_the_pipeline_for_jenkins_hands_on_what_it_writes(repository: Path) -> None:
    text = (EXAMPLES / "Jenkinsfile").read_text("utf-8")
    command = re.search(r"sh '(unmask audit .*)'", text)
    assert command
    check_audit(command[1], repository)
    assert "junit testResults: 'unmask.xml', skipMarkingBuildUnstable: true" in text
    assert (repository / "unmask.html").exists()


def check_audit(command: str, repository: Path) -> None:
    assert LIVE in command
    audit = shell(command.replace(LIVE, "sites/home.json"), repository)
    assert audit.returncode == 1, audit.stderr
    root = defusedxml.ElementTree.fromstring((repository / "unmask.xml").read_bytes())
    types = [item.get("type") for item in root.iter("skipped")]
    assert "accepted" in types
    assert int(root.attrib["failures"]) > 0


def test_the_page_names_every_example() -> None:
    named = set(re.findall(r"\(\.\./examples/ci/([^)]+)\)", PAGE))
    assert named == {path.name for path in EXAMPLES.iterdir()}


def test_the_page_s_accepted_findings_are_such_a_file(tmp_path: Path) -> None:
    block = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert block
    (tmp_path / "accept.toml").write_text(block[1])
    shutil.copytree(ROOT / "examples/homelab", tmp_path / "homelab")
    answer = unmask("audit", str(tmp_path / "homelab"), "--accept", str(tmp_path / "accept.toml"))
    assert "nothing is encrypted in these guests" in answer.output
