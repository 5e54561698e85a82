"""What a terminal shows of work that takes its time, and what is left of that in the end."""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from benchmarks.sample import inventory

from support.golden import ROOT
from support.peers import environment
from support.unmask_command import unmask
from unmask.cli import collecting, terminal
from unmask.dialects import saved

GUESTS = 1000
SOON = """
import sys
from unmask.cli import main, terminal
terminal.MOMENT = 0.01
sys.exit(main.main())
"""
"""The program, where a hundredth of a second is long: no machine is too fast for the tests."""


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("big") / "big.json"
    path.write_text(saved.dump(inventory(GUESTS)))
    return path


def shown(*words: str) -> tuple[str, str]:
    """Return what a command prints to a pipe, and what it shows on a terminal meanwhile."""
    ours, theirs = pty.openpty()
    done = subprocess.Popen(
        [sys.executable, "-c", SOON, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=environment(),
    )
    os.close(theirs)
    heard: list[bytes] = []

    def listen() -> None:
        try:
            while chunk := os.read(ours, 65536):
                heard.append(chunk)
        except OSError:  # Linux answers so when the other end is closed
            pass

    listener = threading.Thread(target=listen)
    listener.start()
    output, _ = done.communicate(timeout=120)
    listener.join()
    os.close(ours)
    return output.decode(), b"".join(heard).decode()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("audit",), rf"judging {GUESTS} guests \([0-9]+ s\)"),
        (("migrate-check",), rf"working out the moves of {GUESTS} guests \([0-9]+ s\)"),
    ],
)
def test_what_takes_long_is_told_and_taken_away(
    big: Path, words: tuple[str, ...], said: str
) -> None:
    output, screen = shown(*words, str(big))
    assert re.search(said, screen), screen
    assert "reading" in screen
    assert screen.endswith(f"\r{' ' * 79}\r")  # the line is free again
    assert "\x1b" not in screen  # which a terminal may not know
    assert "\r" not in output
    assert max(map(len, screen.split("\r"))) < 80


def test_what_was_written_is_told_to_who_waits(big: Path, tmp_path: Path) -> None:
    page, data = tmp_path / "a.md", tmp_path / "b.csv"
    words = ("--format", f"markdown={page}", "--format", f"csv={data}")
    output, screen = shown("audit", *words, str(big))
    assert output == ""
    assert f"unmask: wrote {page}, {data}" in screen
    assert page.exists()


def test_nothing_is_told_where_nobody_looks(big: Path, tmp_path: Path) -> None:
    assert unmask("audit", str(big)).errors == ""
    assert unmask("audit", str(big), "--output", str(tmp_path / "a.md")).errors == ""


def test_what_is_quick_or_asks_somebody_is_not_interrupted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []
    monkeypatch.setattr(terminal, "progress", said.append)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with terminal.working("quick work"):
        pass
    assert said == [""]
    monkeypatch.setattr(terminal, "MOMENT", 0.01)
    with terminal.working("slow work"):
        while len(said) < 4:
            time.sleep(0.01)
    assert said[1].startswith("slow work (0 s)")
    assert said[-1] == ""


@pytest.mark.parametrize(
    ("target", "told"),
    [("copies-by-ssh", True), ("ssh://127.0.0.1:1", False), ("qemu+libssh2://nowhere", False)],
)
def test_only_where_ssh_may_ask_nothing_is_told(
    target: str, *, told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(terminal, "progress", said.append)
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples" / "homelab", tmp_path / "copies-by-ssh")
    asked = collecting.Asked(target=(target,))
    settings, targets = collecting.chosen(asked)
    collecting.collected(asked, settings, targets)
    assert any(text.startswith(f"reading {target} ") for text in said) is told


def test_an_error_takes_the_line_away_too(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(terminal, "progress", said.append)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with pytest.raises(KeyboardInterrupt), terminal.working("work"):
        raise KeyboardInterrupt
    assert said == [""]
