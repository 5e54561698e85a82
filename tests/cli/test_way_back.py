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


def test_the_login_that_was_named_writes_and_takes_back(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One cluster with a target that reads and, below it, one that writes."""
    fix_lab.impatient(monkeypatch)
    with Lab(pace=0) as server:
        configured = tmp_path / "unmask.toml"
        configured.write_text(
            "".join(
                f'[targets.{name}]\naddress = "pve://{server.address}"\n'
                f'ca_file = "{server.ca_file}"\ntoken_file = "{secret(tmp_path, server, login)}"\n'
                for name, login in (("reads", "audit"), ("writes", "fix"), ("all", "root"))
            )
        )
        before = dict(server.tree())
        words = ("--config", str(configured), "--vm", "101", "--cpu", "host", "--no-probe", *COSTS)
        refused = command("fix", "reads", *words)
        assert refused.code == 4, refused
        assert "it lacks VM.Config.CPU" in " ".join(refused.output.split())
        assert not fix_lab.changed(server, before)
        answer = command("fix", "writes", *words)
        assert answer.code == 0, answer
        assert fix_lab.changed(server, before)
        printed = re.search(r"unmask (undo .*) takes it back", " ".join(answer.output.split()))
        assert printed is not None
        assert command(*shlex.split(printed[1])).code == 0
        assert not fix_lab.changed(server, before)


def secret(folder: Path, server: Lab, login: str) -> Path:
    path = folder / f"{login}.token"
    path.write_text(server.tokens[login])
    path.chmod(0o600)
    return path
