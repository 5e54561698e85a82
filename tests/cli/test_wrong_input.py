"""Wrong input of every kind: one sentence that says what is wrong and what to do, no traceback."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from support.documents import LAB
from support.golden import ROOT
from support.wrong_input import CASES, FILES, Case, rewritten

from .conftest import Command


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "dir").mkdir()
    (tmp_path / "lab").symlink_to(LAB)
    (tmp_path / "text").write_bytes((ROOT / "README.md").read_bytes())
    (tmp_path / "dangling").symlink_to("nowhere")
    os.mkfifo(tmp_path / "fifo")
    return tmp_path


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.line or "(nothing)")
def test_it_is_said_in_a_sentence(command: Command, folder: Path, case: Case) -> None:
    before = rewritten(folder)
    answer = command(*shlex.split(case.line))
    said = answer.errors + answer.output
    assert answer.code == case.code, said
    assert case.says in said
    assert "Traceback" not in said
    assert "bug" not in answer.errors
    lines = answer.errors.splitlines()
    assert len(lines) <= 1 + case.line.count("nosuch"), answer.errors
    assert all(line.startswith("unmask: ") for line in lines)
    assert all(len(line) < 420 for line in lines), max(lines, key=len)
    assert rewritten(folder) == before  # nothing was written half or by accident
