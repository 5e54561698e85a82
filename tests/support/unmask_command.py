"""The installed `unmask` as an operator runs it: a process with a terminal-less standard output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support import peers

UNMASK = str(Path(sys.executable).with_name("unmask"))


@dataclass(frozen=True, slots=True)
class Answer:
    """What a run printed and how it ended."""

    code: int
    output: str
    errors: str

    @property
    def report(self) -> dict[str, Any]:
        """The JSON report; a run that printed something else fails the test."""
        assert self.output.startswith("{"), f"no report, but: {self.errors}"
        report: dict[str, Any] = json.loads(self.output)
        return report

    @property
    def guests(self) -> dict[str, Any]:
        """The guests of the JSON report by name."""
        return {guest["name"]: guest for guest in self.report["guests"]}

    def codes(self, guest: str) -> set[str]:
        """The codes of the findings on one guest."""
        subject = self.guests[guest]["subject"]
        return {item["code"] for item in self.report["findings"] if item["subject"] == subject}


def unmask(
    *words: str, directory: Path | None = None, through: tuple[str, ...] = (), **variables: str
) -> Answer:
    """Run `unmask WORDS` in `directory`, by way of another command where one is given.

    Without this machine's PYTHON variables: an unbuffered stream fails at other places than those
    that operators have.
    """
    ours = [name for name in os.environ if name.startswith("PYTHON") and name not in variables]
    environment = peers.environment(**variables)
    done = subprocess.run(
        [*through, UNMASK, *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=directory,
        env={name: text for name, text in environment.items() if name not in ours},
    )
    return Answer(done.returncode, done.stdout, done.stderr)


def audit(*words: str, directory: Path | None = None, through: tuple[str, ...] = ()) -> Answer:
    """Run `unmask audit WORDS` for its JSON report, whatever it finds."""
    options = ("--format", "json", "--fail-on", "never")
    return unmask("audit", *words, *options, directory=directory, through=through)
