"""Commands that pages show with what they print: read from the page, run, and compared.

Two kinds of blocks are held to the program:

- `console`: run in a directory that has the checkout's `examples/`;
- `sh-session`: the same, with an emulated cluster (`unmask lab`) as the targets of `TARGETS`.

Each line that begins with `$ ` is run by a shell, with `unmask` on its path, at 100 columns; `> `
goes on with the command. What Proxmox VE's own tools would do is done to the lab (`played.py`). The
commands of one page follow each other in one directory, so that a file that one has saved is there
for the next. A line `...` stands for lines that the page leaves out. Run ids, times and the lab's
address differ each time and are compared as what they are.

`UNMASK_GOLDEN=write pytest ...` writes what is printed now into the page, but not where lines are
left out.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from support import peers, played
from support.golden import ROOT
from unmask.lab.lab import Lab

LEFT_OUT = "..."
COLUMNS = "100"
RUN = re.compile(r"\b[0-9]{8}-[0-9]{6}-[0-9a-f]{6}\b")
_VARIES = (
    (RUN, "RUN"),
    (re.compile(r"\b\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d)?Z?)?"), "TIME"),
    (re.compile(r"\bunmask \d+\.\d+\.\d+"), "unmask VERSION"),
    (re.compile(r"\b127\.0\.0\.1:\d+"), "pve1.example:8006"),
)
TARGETS = {"lab": "root", "homelab": "agent", "homelab-fix": "root", "cluster": "audit"}
"""The targets of the lab's directory, with the token that each logs in with."""


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a page, and the output that the page shows for it."""

    page: Path
    line: int
    command: str
    output: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}: $ {self.command}"


def steps(page: Path, kind: str) -> list[Step]:
    """Return the commands of the page's blocks of one kind, in order."""
    found: list[Step] = []
    text = page.read_text(encoding="utf-8")
    for block in re.finditer(rf"^```{kind}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        first = text.count("\n", 0, block.start(1)) + 1
        for number, line in enumerate(block[1].splitlines(), first):
            if line.startswith("$ "):
                found.append(Step(page, number, line[2:], ""))
            elif line.startswith("> ") and found and not found[-1].output:
                found[-1] = Step(page, found[-1].line, f"{found[-1].command}\n{line}", "")
            else:
                assert found, f"{page.name}:{number}: a block begins with a command"
                last = found[-1]
                found[-1] = Step(page, last.line, last.command, f"{last.output}{line}\n")
    return found


def pages(kind: str) -> list[Path]:
    """Return the pages that have blocks of this kind."""
    every = (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md"))
    return sorted(page for page in every if steps(page, kind))


class Stage:
    """A directory in which the commands of one page are run."""

    def __init__(self, directory: Path, lab: Lab | None = None) -> None:
        self.directory = directory
        self._lab = lab
        self._ident = ""
        self._programs = directory / ".programs"
        self._programs.mkdir()
        self.add("unmask", f'#!/bin/sh\nexec "{sys.executable}" -m unmask "$@"\n')
        (directory / "examples").symlink_to(ROOT / "examples")
        self._path = os.pathsep.join((str(self._programs), "/usr/bin", "/bin"))

    def add(self, name: str, script: str) -> None:
        """Put a program on the path of the commands."""
        (self._programs / name).write_text(script)
        (self._programs / name).chmod(0o755)

    def printed(self, step: Step) -> str:
        """Return what the command prints, with a page's words for what differs each time."""
        if self._lab and played.play(self._lab, step.command):
            return ""
        if "jq " in step.command:
            peers.program("jq")
        done = subprocess.run(
            ["/bin/sh", "-c", RUN.sub(self._ident, step.command.replace("\n> ", "\n"))],
            cwd=self.directory,
            env={"COLUMNS": COLUMNS, "PATH": self._path, "HOME": str(self.directory)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.stderr == "", f"{step}\n{done.stderr}"
        runs = RUN.findall(done.stdout)
        self._ident = runs[0] if runs else self._ident
        return done.stdout.replace(str(self.directory), "/home/you")


def hold(stage: Stage, page: Path, kind: str) -> None:
    """Run the page's blocks of this kind, and compare each with what the page shows."""
    for step in steps(page, kind):
        printed = stage.printed(step)
        if os.environ.get("UNMASK_GOLDEN") == "write":
            _write(step, printed)
            continue
        problem = difference(step.output, printed)
        assert not problem, f"{step}\n{problem}\nIt prints:\n{printed}"


def difference(shown: str, printed: str) -> str:
    """Return what of a page's output is not in what was printed; empty where all of it is."""
    have = _comparable(printed)
    parts = [part.splitlines() for part in re.split(r"^\.\.\.$", _plain(shown), flags=re.MULTILINE)]
    parts = [_stripped(part) for part in parts]
    place = 0
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        if not part and number and last:
            return ""
        starts = range(place, place + 1) if number == 0 else range(place, len(have) + 1)
        found = [start for start in starts if have[start : start + len(part)] == part]
        if not found:
            return f"Not printed there:\n{chr(10).join(part)}"
        place = (found[-1] if last else found[0]) + len(part)
    return "" if place == len(have) else f"More is printed:\n{chr(10).join(have[place:])}"


def _comparable(text: str) -> list[str]:
    return _plain(text).rstrip().splitlines()


def _plain(text: str) -> str:
    for pattern, word in _VARIES:
        text = pattern.sub(word, text)
    return text


def _stripped(lines: list[str]) -> list[str]:
    """Return the lines without the empty ones that splitting has left at the ends."""
    while lines and not lines[0].strip():
        lines = lines[1:]
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return lines


def _write(step: Step, printed: str) -> None:
    shown = step.output
    if LEFT_OUT in shown.splitlines() or not difference(shown, printed):
        return
    text = step.page.read_text(encoding="utf-8")
    old = f"$ {step.command}\n{shown}"
    assert text.count(old) == 1, f"{step} is there more than once"
    new = re.sub(r"\b127\.0\.0\.1:\d+", "pve1.example:8006", printed).rstrip("\n")
    step.page.write_text(text.replace(old, f"$ {step.command}\n{new}\n"), encoding="utf-8")


@contextmanager
def lab_stage(directory: Path) -> Iterator[Stage]:
    """Make a stage whose unmask.toml has the lab's cluster as its targets."""
    with Lab() as lab:
        tables = []
        for target, name in TARGETS.items():
            token, _, secret = lab.tokens[name].partition("=")
            (directory / f"{target}.token").write_text(secret)
            (directory / f"{target}.token").chmod(0o600)
            tables.append(
                f'[targets.{target}]\naddress = "pve://{lab.address}"\n'
                f'ca_file = "pve-root-ca.pem"\ntoken_id = "{token}"\n'
                f'token_file = "{target}.token"\n'
            )
        (directory / "pve-root-ca.pem").write_bytes(Path(lab.ca_file).read_bytes())
        (directory / "unmask.toml").write_text("\n".join(tables))
        yield Stage(directory, lab)
