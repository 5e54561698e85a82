"""The command that takes a change back, as `unmask fix` prints it, works as it is printed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from support import fix_lab
from support.fix_command import Command, FixLab
from unmask.cli.main import main
from unmask.lab.lab import Lab

COSTS = ("--ack", "MIG002", "--ack", "MIG009", "--ack", "RST001", "--yes")


def test_undo_gets_in_as_fix_did(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fix_lab.impatient(monkeypatch)
    with Lab(pace=0) as server:
        lab = FixLab(server, command, tmp_path)
        before = dict(server.tree())
        answer = lab.fix("101", "host", *COSTS)
        assert answer.code == 0, answer.errors
        assert fix_lab.changed(server, before)
        printed = re.search(r"unmask (undo .*) takes it back", " ".join(answer.output.split()))
        assert printed is not None
        assert "--ca-file" in printed[1]
        assert main(shlex.split(printed[1])) == 0
        assert not fix_lab.changed(server, before)
