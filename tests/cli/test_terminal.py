"""Width and colour: from the terminal, and only for a terminal."""

from __future__ import annotations

import os
import pty
import subprocess

import pytest

from support.documents import LAB
from support.peers import environment
from support.unmask_command import UNMASK, unmask


def on_a_terminal(*words: str, **variables: str) -> str:
    """Return what a command prints to a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    settings = environment(COLUMNS="80", TERM="xterm", **variables)
    done = subprocess.Popen([UNMASK, *words], stdout=theirs, stderr=theirs, env=settings)
    os.close(theirs)
    text = b""
    try:
        while chunk := os.read(ours, 65536):
            text += chunk
    except OSError:  # Linux answers so when the other end is closed
        pass
    os.close(ours)
    assert done.wait(60) == 0
    return text.decode()


@pytest.fixture(autouse=True)
def _no_wish(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.mark.parametrize("words", [("audit", str(LAB)), ("models",), ("models", "kvm64")])
def test_a_terminal_gets_colours_unless_they_are_unwanted(words: tuple[str, ...]) -> None:
    assert "\x1b[" in on_a_terminal(*words)
    assert "\x1b[" not in on_a_terminal(*words, NO_COLOR="1")
    assert "\x1b[" not in unmask(*words).output


def test_a_dumb_terminal_gets_none() -> None:
    answer = subprocess.run(
        [UNMASK, "models", "kvm64"], env=environment(TERM="dumb"), capture_output=True, check=True
    )
    assert b"\x1b" not in answer.stdout


@pytest.mark.parametrize("width", [80, 120])
def test_columns_decides_the_width(width: int) -> None:
    for words in (("audit", str(LAB), "--select", "CPU011"), ("models",)):
        lines = unmask(*words, COLUMNS=str(width)).output.splitlines()
        assert max(map(len, lines)) <= width
    assert "SINCE" in unmask("models", COLUMNS="120").output
    assert "SINCE" not in unmask("models", COLUMNS="80").output
