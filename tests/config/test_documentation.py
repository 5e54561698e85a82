"""The examples in docs/configuration.md are ones that unmask takes."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

from support.golden import ROOT
from unmask.config.privileges import PURPOSES, commands
from unmask.config.settings import KINDS, Target, load
from unmask.engine import accepted

PAGE = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
TARGETS, ACCEPTED = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


def test_the_targets_are_read(tmp_path: Path) -> None:
    path = tmp_path / "unmask.toml"
    path.write_text(TARGETS)
    assert load(path).targets == (
        Target("home", "qemu:///system"),
        Target("site", "/srv/copies/etc-pve", str(tmp_path / "accepted.toml")),
    )


def test_the_targets_of_other_pages_are_read(tmp_path: Path) -> None:
    page = (ROOT / "docs/proxmox.md").read_text(encoding="utf-8")
    for number, text in enumerate(re.findall(r"```toml\n(.*?)```", page, re.DOTALL)):
        path = tmp_path / f"{number}.toml"
        path.write_text(text)
        (target,) = load(path).targets
        assert target.reference.token_id == "unmask@pve!audit"
        assert target.reference.nodes == ("pve2.example", "pve3.example")


def test_every_key_of_a_target_is_described() -> None:
    for key in ("address", "accept", *KINDS):
        assert f"`{key}`" in PAGE


def test_the_commands_that_make_a_token_are_those_that_are_printed() -> None:
    page = (ROOT / "docs/proxmox.md").read_text(encoding="utf-8")
    assert "\n".join(commands(PURPOSES[0], "9.2.11")) in page


def test_the_accepted_findings_are_read() -> None:
    (entry,) = accepted.load(ACCEPTED, "accepted.toml", ["CPU004"])
    assert (entry.subject, entry.expires) == ("lab/9*", date(2027, 1, 31))
