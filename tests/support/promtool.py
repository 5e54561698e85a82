"""Prometheus's own checker, which `tools/promtool.sh` unpacks into ~/.cache/unmask."""

from __future__ import annotations

import shutil
from pathlib import Path

from support import peers

UNPACKED = Path.home() / ".cache/unmask/promtool/usr/bin/promtool"


def run(*arguments: str, stdin: str = "", cwd: Path | None = None) -> str:
    """Return what it says; what it finds wrong fails the test."""
    found = shutil.which("promtool", path=peers.SEARCH_PATH)
    program = found or (str(UNPACKED) if UNPACKED.exists() else "")
    if not program:
        peers.missing("promtool (tools/promtool.sh unpacks it)")
    place = ("env", "--chdir", str(cwd)) if cwd else ()
    done = peers.run((*place, program, *arguments), stdin=stdin)
    return done.stdout + done.stderr
