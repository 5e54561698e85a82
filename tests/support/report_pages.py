"""Reports as HTML files, each with what the JSON report of the same inventory says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from benchmarks import sample

from support.bench_results import HIDDEN, NODE, result
from support.hostile_document import hostile
from support.report_document import AFTER, SHOWN, SILICON, WHAT_IF, rich
from support.unmask_command import unmask
from unmask import plugins
from unmask.dialects import saved_bench
from unmask.engine import document
from unmask.lab.lab import Lab
from unmask.model.bench import BenchResult
from unmask.model.finding import Rule
from unmask.model.report import Document, Format
from unmask.model.workload import Finder

HOMELAB = Path(__file__).parents[2] / "examples" / "homelab"
MANY = 2000
"""Guests of the big inventory, on twenty nodes of two clusters."""


@dataclass(frozen=True, slots=True)
class Written:
    """One report."""

    name: str
    html: Path
    report: Any
    """Of `--format json`."""
    moves: Any
    """Of `unmask migrate-check --format json`; None where it was not asked."""


def measured() -> tuple[tuple[BenchResult, ...], tuple[BenchResult, ...]]:
    """Return what could have been measured in the lab: a guest and nodes, and the guest later."""
    guest: dict[str, Any] = {"subject": "homelab/101", "name": "truenas", "host": "homelab/pve1"}
    first: dict[str, Any] = {"subject": "homelab/pve1", "name": "pve1", "host": "homelab/pve1"}
    other: dict[str, Any] = {"subject": "homelab/pve2", "name": "pve2", "host": "homelab/pve2"}
    before = (
        result(HIDDEN, started="2026-11-28T21:00:00Z", **guest),
        result(NODE, flags=SHOWN, around=SILICON, way="ssh root@pve1", **first),
        result(WHAT_IF, flags=SHOWN, around=SILICON, method="quick what-if", **other),
    )
    return before, (result(AFTER, flags=SHOWN, **guest),)


def _commanded(name: str, folder: Path, target: tuple[str, ...], *bench: Path) -> Written:
    """Let the program write the page and save what it read; the rest is made of what it saved."""
    page, kept = folder / f"{name}.html", folder / f"{name}.json"
    more = [word for file in bench for word in ("--bench", str(file))]
    words = (*target, *more, "--fail-on", "never", "--save", str(kept))
    done = unmask("audit", *words, "--format", "html", "--output", str(page))
    assert (done.code, done.errors) == (0, "")
    report = unmask("audit", str(kept), *more, "--fail-on", "never", "--format", "json").report
    moves = unmask("migrate-check", str(kept), "--format", "json").report
    return Written(name, page, report, moves)


def _rendered(name: str, folder: Path, told: Document) -> Written:
    formats = {one.name: one for one in plugins.load("unmask.report", "FORMAT", Format)}
    page = folder / f"{name}.html"
    page.write_text(formats["html"].render(told, 0), encoding="utf-8")
    return Written(name, page, json.loads(formats["json"].render(told, 0)), None)


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of all pages."""
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="session")
def lab_report(pages: Path) -> Iterator[Written]:
    """The emulated cluster, looked into its guests, with results of benchmarks."""
    bench = [pages / "lab-before.json", pages / "lab-after.json"]
    for file, results in zip(bench, measured(), strict=True):
        file.write_text(saved_bench.dump(results), encoding="utf-8")
    with Lab(pace=0) as lab:
        yield _commanded("lab", pages, ("--config", str(lab.config_file), "inside"), *bench)


@pytest.fixture(scope="session")
def homelab_report(pages: Path) -> Written:
    """The example: configuration files of a Proxmox VE cluster, of which nobody saw a guest."""
    return _commanded("homelab", pages, (str(HOMELAB),))


@pytest.fixture(scope="session")
def rich_report(pages: Path) -> Written:
    """Something of everything."""
    return _rendered("rich", pages, rich())


@pytest.fixture(scope="session")
def hostile_report(pages: Path) -> Written:
    """Texts that want to break out."""
    return _rendered("hostile", pages, hostile())


@pytest.fixture(scope="session")
def big_report(pages: Path) -> Written:
    """Many guests and nodes, moves among them."""
    rules = plugins.load("unmask.rules", "RULE", Rule)
    told = document.build(
        sample.inventory(MANY),
        rules,
        version="1.2.3",
        started="2026-12-01T08:00:00Z",
        finders=plugins.load("unmask.workloads", "WORKLOAD", Finder),
    )
    return _rendered("big", pages, document.with_moves(told, rules))
