"""`unmask audit` of the lab as it looks at 80, 120 and 200 columns, and at a real terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from support import golden, peers
from support.unmask_command import UNMASK, Answer
from unmask.lab.lab import Lab

Command = Callable[..., Answer]
RICH = str(golden.FIXTURES / "report" / "rich.json")
ESCAPE = re.compile("\x1b\\[[0-9;]*m")
COMMANDS = ("unmask ", "qm ", "virsh ")
"""What a line begins with that may be wider than the terminal: it is to be copied."""


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab(pace=0) as made:
        yield made


def shown(command: Command, lab: Lab, *words: str) -> str:
    """Return the report on the lab and its guests, the port of this run taken out."""
    options = ("--config", str(lab.config_file), "--fail-on", "never")
    answer = command("audit", "inside", *options, *words)
    assert (answer.code, answer.errors) == (0, "")
    return answer.output.replace(lab.address, "127.0.0.1:8006")


def wide(text: str, width: int) -> list[str]:
    """Return the lines that are too wide and no commands."""
    lines = [line for line in text.splitlines() if len(line) > width]
    return [line for line in lines if not line.lstrip().startswith(COMMANDS)]


@pytest.mark.parametrize("width", [80, 120, 200])
def test_the_lab_looks_as_it_was_read(
    command: Command, lab: Lab, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    text = shown(command, lab)
    assert wide(text, width) == []
    golden.check(f"report/lab/audit-{width}.txt", text)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_all_of_it_fits_too_and_says_more(
    command: Command, lab: Lab, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    short, full = shown(command, lab), shown(command, lab, "--full")
    assert wide(full, width) == []
    assert "--full shows" in " ".join(short.split())
    assert "--full" not in full
    assert 2 * len(short.splitlines()) < len(full.splitlines())
    codes = set(re.findall(r"^[A-Z]+ ([A-Z]{3}\d{3}) ", full, re.MULTILINE))
    assert codes == set(re.findall(r"^[A-Z]+ ([A-Z]{3}\d{3}) ", short, re.MULTILINE))


def at_terminal(*words: str, columns: int = 80, **variables: Any) -> str:
    """Return what `unmask audit` shows at a terminal of so many columns."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = peers.environment(**{"TERM": "xterm", **variables})
    for name in ("COLUMNS", "NO_COLOR"):
        if name not in variables:
            environment.pop(name, None)
    with subprocess.Popen(
        [UNMASK, "audit", RICH, "--fail-on", "never", *words],
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=subprocess.DEVNULL,
        env=environment,
    ) as process:
        os.close(follower)
        text = b""
        while True:
            try:
                data = os.read(leader, 65536)
            except OSError:  # how Linux says that nobody has the other end any more
                break
            if not data:
                break
            text += data
        assert process.wait(timeout=60) in (0, 3)
    os.close(leader)
    return text.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("columns", [80, 120, 200])
def test_the_width_is_the_terminal_s(columns: int) -> None:
    text = ESCAPE.sub("", at_terminal(columns=columns))
    assert wide(text, columns) == []
    assert max(len(line) for line in text.splitlines()) > columns - 15
    assert ("CONFIGURED" in text) == (columns >= 100)


def test_a_terminal_has_colours() -> None:
    assert "\x1b[31mhigh CRY001 +2\x1b[0m" in at_terminal()
    assert "\x1b[1mCould not be read\x1b[0m" in at_terminal()


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}], ids=str)
def test_unwanted_colours_are_not_there(variables: dict[str, Any]) -> None:
    text = at_terminal(**variables)
    assert "\x1b" not in text
    assert text == ESCAPE.sub("", at_terminal())


def test_other_formats_have_no_colours_at_a_terminal() -> None:
    for form in ("markdown", "csv", "json"):
        assert "\x1b" not in at_terminal("--format", form)
