"""docs/unmask.1 says what the commands say, and is a page that man programs understand."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from support import peers
from support.golden import ROOT
from support.unmask_command import unmask
from unmask.cli.overview import COMMANDS

PAGE = ROOT / "docs/unmask.1"
DATELESS = "missing date"
"""A date would have to be today's, or a lie."""


def shown() -> str:
    """Return the page as mandoc shows it, without what it does for bold letters."""
    done = peers.run([peers.program("mandoc"), "-T", "utf8", "-O", "width=200", str(PAGE)])
    text = done.stdout
    while "\x08" in text:
        place = text.index("\x08")
        text = text[: place - 1] + text[place + 1 :]
    return text


def test_the_page_is_fresh() -> None:
    command = [sys.executable, str(ROOT / "tools/man_page.py"), "--check"]
    environment = {**os.environ, "COLUMNS": "40"}  # nothing of the terminal gets into it
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.peer
def test_mandoc_has_nothing_against_it() -> None:
    done = peers.run([peers.program("mandoc"), "-T", "lint", str(PAGE)], check=False)
    assert [line for line in done.stdout.splitlines() if DATELESS not in line] == []


@pytest.mark.peer
def test_groff_has_nothing_against_it() -> None:
    man = peers.program("man")
    if "man" not in peers.run([man, "--version"], check=False).stdout:
        pytest.skip("man is not man-db's, which asks groff")
    done = peers.run([man, "--warnings", "-l", str(PAGE)], check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.peer
def test_the_page_has_every_command_with_every_option() -> None:
    text = shown()
    titles = ("NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "EXIT STATUS", "ENVIRONMENT")
    for title in (*titles, "FILES", "EXAMPLES", "SEE ALSO"):
        assert f"\n{title}\n" in text
    for name in COMMANDS:
        part = text.partition(f"\n   unmask {name}\n")[2].partition("\n   unmask ")[0]
        words = unmask(name, "--help").output.split()
        options = {word.rstrip(",") for word in words if word.startswith("--")}
        missing = {option for option in options if option.isascii() and option not in part}
        assert not missing, name
    assert "UNMASK_PVE_TOKEN='auditor@pve!unmask=SECRET' \\" in text
    assert "<list[str]>" not in text
