"""Whatever is read or judged twice is the same twice: no order of threads, sets or files shows."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from support.golden import FIXTURES, ROOT
from support.unmask_command import unmask
from unmask.cli import choices
from unmask.lab.lab import Lab

HOMELAB = ROOT / "examples" / "homelab"
RICH = FIXTURES / "report" / "rich.json"
SEEDS = ("0", "1", "4242")


def test_a_live_cluster_gives_the_same_file_each_time(tmp_path: Path) -> None:
    with Lab() as lab:
        for seed, parallel, fault in zip(
            SEEDS, ("1", "16", "64"), ("", "latency=0.02", "latency=0.05@qemu/10"), strict=True
        ):
            if fault:
                lab.set_fault(fault)
            words = ("--config", str(lab.config_file), "--site", "lab", "--parallel", parallel)
            answer = unmask(
                "collect", "lab", "--save", f"{seed}.json", *words,
                directory=tmp_path, PYTHONHASHSEED=seed,
            )  # fmt: skip
            assert answer.code == 0, answer.errors
    first, *others = ((tmp_path / f"{seed}.json").read_bytes() for seed in SEEDS)
    assert b'"lab:homelab/101"' in first
    assert all(other == first for other in others)


@pytest.mark.parametrize("form", [name for name in choices.formats() if name != "ticket"])
def test_a_report_is_the_same_bytes_each_time(tmp_path: Path, form: str) -> None:
    texts = [
        unmask(
            "audit", str(RICH), "--format", form, "--fail-on", "never",
            directory=tmp_path, PYTHONHASHSEED=seed, SOURCE_DATE_EPOCH="1764576000",
        )
        for seed in SEEDS[:2]
    ]  # fmt: skip
    assert texts[0].code == 0, texts[0].errors
    assert len(texts[0].output) > 200
    assert texts[0].output == texts[1].output


def test_a_comparison_is_the_same_bytes_each_time(tmp_path: Path) -> None:
    unmask("audit", str(HOMELAB), "--save", "homelab.json", directory=tmp_path)
    texts = [
        unmask(
            "diff", str(RICH), "homelab.json", "--format", form, "--all",
            directory=tmp_path, PYTHONHASHSEED=seed,
        ).output
        for form in ("json", "markdown", "table")
        for seed in SEEDS[:2]
    ]  # fmt: skip
    assert texts[0].startswith("{")
    assert texts[0::2] == texts[1::2]


def test_the_order_of_files_does_not_show(tmp_path: Path) -> None:
    files = sorted(path for path in HOMELAB.rglob("*") if path.is_file())
    found = []
    for name, order in (("a", files), ("b", files[::-1])):
        for path in order:
            copy = tmp_path / name / "homelab" / path.relative_to(HOMELAB)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
        saved = tmp_path / name / "saved.json"
        words = ("collect", "homelab", "--save", "saved.json", "--site", "s")
        assert unmask(*words, directory=tmp_path / name).code == 0
        found.append(saved.read_bytes())
    assert found[0] == found[1]
