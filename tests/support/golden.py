"""Expected output kept as files: `UNMASK_GOLDEN=write pytest ...` writes them anew, to be read."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"


def check(name: str, text: str) -> None:
    """Hold `text` against the file `name` under fixtures/."""
    path = FIXTURES / name
    if os.environ.get("UNMASK_GOLDEN") == "write":
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), f"{path} differs from what is made now"
