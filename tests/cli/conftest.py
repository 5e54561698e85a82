"""The command line run in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from support.unmask_command import Answer
from unmask.cli.main import main

NOT_OURS = ("UNMASK_PVE_TOKEN", "UNMASK_PVE_PASSWORD", "UNMASK_PVE_USER")

Command = Callable[..., Answer]


@pytest.fixture
def command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Command:
    """Return a function that runs a command line; no configuration is found by accident."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "100")
    for name in (
        *NOT_OURS,
        "XDG_CONFIG_HOME",
        "XDG_STATE_HOME",
        "UNMASK_DEBUG",
        "_UNMASK_COMPLETE",
    ):
        monkeypatch.delenv(name, raising=False)

    def run(*words: str) -> Answer:
        code = main(words)
        captured = capsys.readouterr()
        return Answer(code, captured.out, captured.err)

    return run
