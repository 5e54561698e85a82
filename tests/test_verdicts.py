"""Every figure in docs/verdicts.md is what the program's data say."""

from __future__ import annotations

import json
import re

import pytest

from support import proxmox_oracle as oracle
from support.golden import ROOT
from unmask import plugins
from unmask.cpu import catalogue
from unmask.crypto.consumers import consumers
from unmask.crypto.sentence import percent
from unmask.model.finding import Confidence, Rule, Severity
from unmask.model.outlook import Status
from unmask.model.workload import Activity
from unmask.rules import _workloads

PAGE = (ROOT / "docs/verdicts.md").read_text(encoding="utf-8")
MEASURED = [
    measured
    for consumer in json.loads(
        (ROOT / "src/unmask/crypto/data/consumers.json").read_text(encoding="utf-8")
    )["consumers"].values()
    for path in consumer["paths"].values()
    for measured in path.get("measured", ())
]
OURS = [item for item in MEASURED if item["where"] == "a Sapphire Rapids with flags masked"]
RULES = plugins.load("unmask.rules", "RULE", Rule)
RELEASES = sorted(catalogue.releases(), key=lambda text: [int(part) for part in text.split(".")])
FIGURES = (
    f"{len(catalogue.names())} names of models and versions",
    f"as QEMU {', '.join(RELEASES[:-1])} and {RELEASES[-1]}",
    f"{len(consumers())} kinds of software",
    f"{len(MEASURED)} measured ladders, {len(OURS)} of them made for this project",
    f"there are {len(RULES)} of them",
    f"in software, and {percent(_workloads.MUCH)} of its speed or less is left",
    f"and less than {percent(_workloads.LITTLE)} is left",
    f"and {percent(_workloads.LITTLE)} or more is left",
    "200 configurations and 35 settings",
    "a real Proxmox VE 9.2",
    "Proxmox VE 7 and 8",
    "9.2 was recorded",
    "exit code 3",
    "Guest 101",
    "steps 2 and 3",
)
"""The phrases of the page that have a figure in them."""


def prose() -> str:
    """Return the page's running text, without code, addresses of links and numbers of lists."""
    text = re.sub(r"^```.*?^```$", "", PAGE, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"`[^`]*`|\]\([^)]*\)", "", text)
    text = re.sub(r"^\d+\. ", "", text, flags=re.MULTILINE)
    return " ".join(text.split())


def test_the_figures_are_those_of_the_data() -> None:
    text = prose()
    for phrase in FIGURES:
        assert phrase in text
        text = text.replace(phrase, "")
    text = re.sub(rf"\b(?:{'|'.join(sorted(rule.code for rule in RULES))})\b", "", text)
    assert not re.findall(r"\S*\d\S*", text), "a figure that no data is held against"


def test_the_recordings_are_as_many_as_it_says() -> None:
    assert len(oracle.recorded("conf-oracle.json")["cases"]) == 200
    assert len(oracle.recorded("cpu-cmdline.json")) == 35


@pytest.mark.parametrize("word", [*Activity, *Confidence])
def test_every_word_of_a_workload_is_explained(word: str) -> None:
    assert f"`{word}`" in PAGE


def test_every_status_is_explained() -> None:
    for status in Status:
        word = "not-affected" if status is Status.NOT_APPLICABLE else status.value
        assert re.search(rf"^\| `{word}` \|", PAGE, re.MULTILINE)


def test_the_severities_that_workloads_have_are_explained() -> None:
    for severity in (Severity.LOW, Severity.MEDIUM, Severity.HIGH):
        assert re.search(rf"^\| `{severity.word}` \|", PAGE, re.MULTILINE)
