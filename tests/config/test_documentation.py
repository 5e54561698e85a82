"""The examples in docs/configuration.md are ones that unmask takes."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

from support.golden import ROOT
from unmask.config.settings import Target, load
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


def test_the_accepted_findings_are_read() -> None:
    (entry,) = accepted.load(ACCEPTED, "accepted.toml", ["CPU004"])
    assert (entry.subject, entry.expires) == ("lab/9*", date(2027, 1, 31))
