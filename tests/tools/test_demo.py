"""`make demo`: what tools/demo.sh does when it is left alone, and when Ctrl-C ends it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[2] / "tools" / "demo.sh"


def started(folder: Path) -> subprocess.Popen[str]:
    """Start the demo of a checkout that is ready, in a process group of its own."""
    (folder / "tools").mkdir()
    shutil.copy(DEMO, folder / "tools")
    (folder / ".venv").mkdir()
    (folder / ".venv/bin").symlink_to(Path(sys.executable).parent)
    (folder / "tmp").mkdir()
    return subprocess.Popen(
        [str(folder / "tools/demo.sh")],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(folder / "tmp")},
        start_new_session=True,
    )


def test_it_audits_the_lab_and_leaves_nothing(tmp_path: Path) -> None:
    process = started(tmp_path)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert re.search(r"101 truenas +zfs tank .* software +0\.6 % ", output)  # as its last lines say
    assert "101 truenas keeps 0.6 % of its speed" in output
    assert "it is gone again" in output
    assert not list((tmp_path / "tmp").iterdir())


# The shell forks the lab at once after the first line, and the audit at once after the second.
@pytest.mark.parametrize(
    ("line", "seconds"),
    [("starting", 0), ("starting", 0.01), ("starting", 0.2), ("audit", 0), ("audit", 0.05)],
)
def test_control_c_ends_it_at_once_and_leaves_nothing(
    tmp_path: Path, line: str, seconds: float
) -> None:
    process = started(tmp_path)
    assert process.stderr is not None
    while line not in process.stderr.readline():
        assert process.poll() is None
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGINT)
    began = time.monotonic()
    try:
        process.communicate(timeout=20)
    finally:
        with_it = subprocess.run(
            ["pgrep", "-g", str(process.pid)], capture_output=True, text=True, check=False
        ).stdout
        for number in with_it.split():
            os.kill(int(number), signal.SIGKILL)
    assert time.monotonic() - began < 10
    assert process.returncode == 130
    assert with_it == ""
    assert not list((tmp_path / "tmp").iterdir())
