"""The configuration file: which one counts, and whether it can be used."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

from unmask.checks._check import Check, Surroundings, note, ok, problem
from unmask.model.checkup import Remark

NAME = "configuration"


def run(around: Surroundings) -> Iterator[Remark]:
    """Yield remarks on the file, and on files with secrets that it names."""
    if around.fault:
        yield problem(NAME, around.fault, "correct it; docs/configuration.md has every key")
        return
    path = around.settings.path
    if not path:
        yield note(
            NAME,
            "there is none, so every command needs its target named",
            "write targets into ~/.config/unmask/unmask.toml (docs/configuration.md)",
        )
        return
    names = [item.name for item in around.settings.targets]
    targets = f"targets: {', '.join(names)}" if names else "no targets"
    yield ok(NAME, f"{path}, {targets}")
    mode = _mode(Path(path))
    if mode & stat.S_IWGRP:
        what = "its group can write to it, and a target in it can start a program"
        yield note(NAME, what, f"chmod g-w {path}")
    for item in around.settings.targets:
        for file in (item.reference.token_file, item.reference.password_file):
            yield from _secret(item.name, file)


def _secret(name: str, file: str) -> Iterator[Remark]:
    """Yield a remark on a file with a secret, which is not opened."""
    if not file:
        return
    try:
        mode = Path(file).stat().st_mode
    except OSError as error:
        what = f"the file with its secret, {file}: {error.strerror}"
        yield problem(name, what, "write the secret into it, alone in one line, with mode 600")
        return
    if stat.S_ISREG(mode) and mode & (stat.S_IRWXG | stat.S_IRWXO):
        yield note(name, f"{file} holds a secret that others can read", f"chmod 600 {file}")


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except OSError:
        return 0


CHECK = Check(40, "Configuration", run)
