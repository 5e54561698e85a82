"""docs/usage.md says what --help says."""

from __future__ import annotations

import subprocess
import sys

from support.golden import ROOT
from unmask.cli.overview import COMMANDS


def test_the_usage_page_is_fresh() -> None:
    command = [sys.executable, str(ROOT / "tools/usage_page.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_usage_page_has_every_command() -> None:
    text = (ROOT / "docs/usage.md").read_text(encoding="utf-8")
    for name in COMMANDS:
        assert f"\n## unmask {name}\n" in text
