"""The project's own contract cases, which need no recordings."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from support.lab_cases import FOLDER, ask, filled, fits
from support.lab_target import read
from unmask.lab.lab import Lab


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_case(path: Path) -> None:
    case = json.loads(path.read_text(encoding="utf-8"))
    kept: dict[str, Any] = {}
    with Lab(version=case["version"], pace=0) as lab:
        for number, step in enumerate(case["steps"], 1):
            _step(lab, f"step {number}: {step['ask']}", step, case["as"], kept)


def _step(lab: Lab, where: str, step: dict[str, Any], name: str, kept: dict[str, Any]) -> None:
    given = filled(step.get("params"), kept)
    who = step.get("as", name)
    status, reason, body = ask(lab, who, filled(step["ask"], kept), given)
    assert status == step["status"], (where, reason, body)
    assert reason == step.get("reason", reason), where
    if "body" in step:
        assert fits(filled(step["body"], kept), body), (where, body)
    if "lacks" in step:
        assert step["lacks"] not in body["data"], where
    for keep, key in step.get("keep", {}).items():
        kept[keep] = body["data"][key] if key else body["data"]


@pytest.mark.parametrize("version", ["7.4", "8.4", "9.2"])
def test_every_route_that_an_audit_asks_has_a_case(version: str) -> None:
    asked = {
        step["ask"]
        for path in FOLDER.glob("*.json")
        for step in json.loads(path.read_text(encoding="utf-8"))["steps"]
    }
    with Lab(version=version) as lab:
        read(lab)
        lab.set_fault("no-quorum")
        lab.set_fault("node-down=2")
        read(lab)
        routes = {route for route in lab.counts() if route != "GET "}  # one that is not there
    patterns = {route: re.compile(re.sub(r"\{\w+\}", "[^/]+", route)) for route in routes}
    assert len(patterns) >= 10
    assert not [
        route for route, pattern in patterns.items() if not any(map(pattern.fullmatch, asked))
    ]


def test_a_case_that_does_not_fit_fails() -> None:
    assert fits({"a": "<int>", "...": True}, {"a": 1, "b": 2})
    assert not fits({"a": "<int>"}, {"a": 1, "b": 2})
    assert not fits({"a": "<int>"}, {"a": "1"})
    assert not fits(["has", {"a": 1}], [{"a": 2}])
    assert not fits(["each", {"a": "<int>"}], [])
