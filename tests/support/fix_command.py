"""`unmask fix` on the lab: the options it needs, and what has reached the server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from support.lab_target import address
from support.unmask_command import Answer
from unmask.lab.lab import Lab

Command = Callable[..., Answer]
LOOKS = ("agent/exec",)
"""Ends of paths that are sent with POST and change nothing."""


@dataclass
class FixLab:
    """A lab, and the command line run against it."""

    lab: Lab
    command: Command
    folder: Path
    token: str = "fix"
    options: tuple[str, ...] = ("--no-probe",)
    since: int = field(default=0)

    def fix(self, vm: str, cpu: str, *words: str) -> Answer:
        """Run `unmask fix --vm VM --cpu CPU`."""
        return self.run("fix", address(self.lab), "--vm", vm, "--cpu", cpu, *self.options, *words)

    def run(self, *words: str) -> Answer:
        """Run a command with what it takes to get in."""
        path = self.folder / "token"
        path.write_text(self.lab.tokens[self.token])
        path.chmod(0o600)
        self.since = len(self.lab.seen)
        access = ("--token-file", str(path), "--ca-file", str(self.lab.ca_file))
        return self.command(*words, *access)

    @property
    def writes(self) -> list[str]:
        """Return the requests of the last command that are no reads."""
        return [
            f"{seen.method} {seen.route or seen.path}"
            for seen in self.lab.seen[self.since :]
            if seen.method != "GET" and not seen.path.endswith(LOOKS)
        ]
