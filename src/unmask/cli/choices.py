"""What the options of a command choose: format, rules, accepted findings, configuration."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from unmask import plugins
from unmask.cli import files
from unmask.config import settings
from unmask.config.settings import Settings, Target
from unmask.dialects import saved_bench
from unmask.engine import accepted, select
from unmask.engine.accepted import Acceptance
from unmask.errors import InputError, UsageError
from unmask.model.bench import BenchResult
from unmask.model.finding import Rule
from unmask.model.report import Format

ACCEPT_LIMIT = 1024 * 1024
"""Bytes of a file of accepted findings that are looked at."""


TABLE = "table"
SUFFIXES = {
    ".json": "json",
    ".html": "html",
    ".htm": "html",
    ".md": "markdown",
    ".csv": "csv",
    ".sarif": "sarif",
    ".xml": "junit",
    ".prom": "prometheus",
}
"""The formats that files of these names have, unless another one is asked for."""


def formats(incomplete: str = "") -> list[str]:
    """Return the names of the formats that begin so."""
    return [form.name for form in _formats() if form.name.startswith(incomplete)]


def format_named(name: str) -> Format:
    """Return the format of this name.

    Raises:
        UsageError: There is none.
    """
    for form in _formats():
        if form.name == name:
            return form
    raise UsageError(f"there is no format {name[:80]!r}: choose one of {', '.join(formats())}")


def format_for(path: Path) -> Format:
    """Return the format that a file's name asks for by its suffix, the table for any other."""
    name = SUFFIXES.get(path.suffix.lower(), TABLE)
    return format_named(name)


def _formats() -> tuple[Format, ...]:
    return plugins.load("unmask.report", "FORMAT", Format)


def rules(selected: Sequence[str] | None, ignored: Sequence[str] | None) -> tuple[Rule, ...]:
    """Return the rules to run.

    Raises:
        UsageError: A code fits no rule, or none is left.
    """
    return select.choose(plugins.load("unmask.rules", "RULE", Rule), selected or (), ignored or ())


def acceptances(
    paths: Sequence[Path] | None, targets: Sequence[Target], chosen: Sequence[Rule]
) -> tuple[Acceptance, ...]:
    """Return the accepted findings of `--accept` and of the targets, for the rules that run.

    Raises:
        UsageError: A file cannot be read, or an entry in it is wrong.
    """
    known = [rule.code for rule in plugins.load("unmask.rules", "RULE", Rule)]
    running = {rule.code for rule in chosen}
    named = [*(paths or ()), *(Path(target.accept) for target in targets if target.accept)]
    entries = (
        accepted.load(files.read(path, ACCEPT_LIMIT), str(path), known)
        for path in dict.fromkeys(named)
    )
    return tuple(entry for group in entries for entry in group if entry.code in running)


def figures(paths: Sequence[Path] | None) -> tuple[BenchResult, ...]:
    """Return what CPU models were measured to amount to on nodes: the results of `--figures`.

    Raises:
        UsageError: A file cannot be read, is wrong, or has none.
    """
    found: list[BenchResult] = []
    for path in dict.fromkeys(paths or ()):
        asked = [result for result in _results("--figures", path) if result.asks_what_if]
        if not asked:
            raise UsageError(
                f"--figures {path}: nothing in it was measured under CPU models: make it with "
                "unmask bench --node NODE --as MODELS --save FILE"
            )
        found += asked
    return tuple(found)


def measured(paths: Sequence[Path] | None) -> tuple[BenchResult, ...]:
    """Return what was measured of guests and nodes: the results of `--bench`.

    Raises:
        UsageError: A file cannot be read, is wrong, or has none.
    """
    found: list[BenchResult] = []
    for path in dict.fromkeys(paths or ()):
        results = _results("--bench", path)
        if not results:
            raise UsageError(f"--bench {path}: holds no results: unmask bench --save writes them")
        found += results
    return tuple(found)


def _results(option: str, path: Path) -> tuple[BenchResult, ...]:
    try:
        return saved_bench.load(files.read(path, saved_bench.LIMIT))
    except InputError as error:
        raise UsageError(f"{option} {path}: {error}") from error


def configuration(path: Path | None) -> Settings:
    """Return the settings of the named file, else of the one that is found, else empty ones.

    Raises:
        UsageError: The file cannot be read, is wrong, or could have been written by others.
    """
    if path:
        return settings.load(path)
    try:
        folder = Path.cwd()
    except FileNotFoundError as error:
        raise UsageError("the working directory no longer exists; change to another") from error
    return settings.find(folder, os.environ, os.geteuid())
