"""`unmask doctor` run in this process, and what it has told of one area."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import jsonschema

from support.golden import ROOT
from support.unmask_command import Answer

SCHEMA = json.loads((ROOT / "docs/doctor.schema.json").read_text(encoding="utf-8"))
Doctor = Callable[..., Answer]


def doctor_of(command: Callable[..., Answer]) -> Doctor:
    """Return a function that runs the command for its JSON, which keeps to the schema."""

    def run(*words: str) -> Answer:
        answer = command("doctor", "--format", "json", *words)
        jsonschema.Draft202012Validator(SCHEMA).validate(answer.report)
        problems = [item for item in answer.report["checks"] if item["status"] == "problem"]
        assert answer.report["problems"] == len(problems)
        assert answer.code == (1 if problems else 0), answer.errors
        assert all(item["todo"] for item in problems), problems
        return answer

    return run


def told(answer: Answer, area: str, status: str) -> list[dict[str, Any]]:
    """Return what was told of an area."""
    return [
        item for item in answer.report["checks"] if (item["area"], item["status"]) == (area, status)
    ]


def only(answer: Answer, area: str, status: str = "problem") -> str:
    """Return the only thing told of an area in this status, with what to do."""
    found = told(answer, area, status)
    assert len(found) == 1, answer.report
    return f"{found[0]['subject']}: {found[0]['what']} -> {found[0]['todo']}"
