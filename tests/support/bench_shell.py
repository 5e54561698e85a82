"""Run the program that measures in the shells that there are, with programs of the test's own."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from support.probe_shell import MARK, shell
from unmask.benches import _answer, _script
from unmask.benches._answer import Answer
from unmask.benches._plan import Plan, Run
from unmask.model.bench import PLAIN, Tool

NONE: Mapping[str, str] = MappingProxyType({})
SHELLS = ("dash", "bash", "busybox")

SPEED = r"""
trap 'over=yes' ALRM
name=$(echo "$*" | sed 's/.*-evp //' | tr a-z A-Z)
over=
printf '+DT:%s:1:16384\n' "$name" >&2
n=0
while [ -z "$over" ]; do sleep 0.02; n=$((n + 1)); done
printf '+R:%s:%s:0.300000\n' "$n" "$name" >&2
printf '+H:16384\n+F:25:%s:%s\n' "$name" "${RATE:-1000000000.00}"
"""
"""An `openssl speed` that measures until it is told to stop."""


@dataclass(frozen=True, slots=True)
class Place:
    """A directory of programs that come before all others, and a shell."""

    argv: list[str]
    path: str
    programs: Path

    def has(self, name: str, text: str) -> None:
        program = self.programs / name
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)

    def start(
        self, plan: Plan, variables: Mapping[str, str] = NONE, *, held: bool = True
    ) -> subprocess.Popen[bytes]:
        """Start the program; its input stays open until the end of the context."""
        process = subprocess.Popen(
            self.argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"PATH": self.path, **variables},
            start_new_session=True,
        )
        assert process.stdin is not None
        process.stdin.write(_script.script(MARK, plan, held=held).encode())
        process.stdin.flush()
        return process

    def run(self, plan: Plan, **variables: str) -> Answer:
        """Run the program to its end and return what came of it."""
        with self.start(plan, variables) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            output, errors = process.stdout.read(), process.stderr.read()
            assert process.wait(timeout=60) == 0
        assert errors == b""
        return _answer.read(b"Welcome!\n" + output, MARK, plan)


def place(name: str, directory: Path) -> Place:
    """Return a shell with an openssl of the test's own."""
    argv, path = shell(name, directory / "shell")
    programs = directory / "programs"
    programs.mkdir()
    made = Place(argv, f"{programs}:{path}:/usr/sbin:/usr/bin:/sbin:/bin", programs)
    made.has("openssl", SPEED)
    return made


def speed(
    algorithm: str = "aes-256-gcm",
    setting: str = PLAIN,
    variables: Mapping[str, str] | None = None,
    *,
    seconds: int = 30,
    measured: float = 0.1,
) -> Run:
    """Return a run of `openssl speed`."""
    return Run(
        Tool.OPENSSL,
        algorithm,
        ("openssl", "speed", "-evp", algorithm),
        setting,
        tuple((variables or {}).items()),
        seconds=seconds,
        slice=measured,
        block=16384,
    )
