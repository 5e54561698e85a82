"""The wheel and the source distribution, which every other package is made of."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
UNKNOWN = 1580601600
"""The time of everything where no commit tells one; hatchling takes the same."""


def epoch() -> int:
    """Return the seconds since 1970 that all files get: SOURCE_DATE_EPOCH, else the last commit's.

    The convention is that of reproducible-builds.org.
    """
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return int(given)
    done = subprocess.run(
        ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"],
        capture_output=True,
        text=True,
        check=False,
    )
    return int(done.stdout) if done.returncode == 0 and done.stdout.strip() else UNKNOWN


def build(folder: Path) -> list[Path]:
    """Build both into a folder and return their paths, the wheel's last.

    The wheel is made of the source distribution, so that this one is known to be complete. The
    build's own packages are those of the environment: nothing is fetched.
    """
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"the wheel cannot be built:\n{done.stdout}{done.stderr}")
    version = _version()
    return [
        folder / f"unmask-{version}.tar.gz",
        folder / f"unmask-{version}-py3-none-any.whl",
    ]


def wheel(made: list[Path]) -> Path:
    """Return the wheel among what `build` has made."""
    return made[-1]


def _version() -> str:
    text = (ROOT / "src/unmask/__init__.py").read_text(encoding="utf-8")
    return text.partition('__version__ = "')[2].partition('"')[0]
