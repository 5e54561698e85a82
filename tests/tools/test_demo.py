"""tools/demo.sh: starts the lab, audits it, ends it, and says how to go on."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(
    not (ROOT / ".venv/bin/unmask").exists(), reason="the demo runs from .venv, which make makes"
)
def test_the_demo_shows_the_lab_and_leaves_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [ROOT / "tools/demo.sh"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    table, _, rest = done.stdout.partition("That was an emulated cluster, and it is gone again.")
    assert "101 truenas" in table
    assert "24 guests on 4 hosts" in table
    assert "unmask audit pve://YOUR-NODE" in rest
    assert not list(tmp_path.iterdir())
