"""End a process at any chosen line of what it runs, as `kill -9` would.

A child counts the lines of Python that it executes in the modules that matter, and sends itself
SIGKILL before one of them. Between two lines lies every call to the system that a kill could fall
between: each write and sync of the journal, each request to a hypervisor. Which line is chosen by
number, so a failure can be had again; no clock is involved.

    count = lines_of(argv, environment)       # runs to its end
    killed_at(argv, environment, line)        # is killed before that line

The program that is run calls `arm()` first, when everything is imported:

    from support.kill_points import arm
    arm("unmask/fixes/", "unmask/connect/proxmox")
"""

from __future__ import annotations

import atexit
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

LINE = "UNMASK_TEST_KILL_AT"
"""The line before which the process ends; 0 for none."""
COUNT = "UNMASK_TEST_KILL_COUNT"
"""A file into which a process that comes to its end writes how many lines there were."""


def fork(job: Callable[[], None], parts: Sequence[str], line: int, scratch: Path) -> int:
    """Run `job` in a fork of this process, which ends before its `line`th line; 0: at its end.

    Much faster than a program of its own; only where this process has no other threads.

    Returns:
        The lines there were, 0 where it was killed.
    """
    counted = scratch / "lines"
    counted.unlink(missing_ok=True)
    child = os.fork()
    if not child:
        os.environ.update({LINE: str(line), COUNT: str(counted)})
        code = 1
        try:
            disarm = _arm(parts)
            job()
            disarm()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, -signal.SIGKILL), code
    return int(counted.read_text(encoding="ascii")) if not code else 0


def arm(*parts: str) -> None:
    """Count lines from here on in files whose path has one of these parts, in all threads."""
    atexit.register(_arm(parts))


def _arm(parts: Sequence[str]) -> Callable[[], None]:
    last = int(os.environ.get(LINE, "0"))
    seen = 0

    def local(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal seen
        if event == "line":
            seen += 1
            if seen == last:
                os.kill(os.getpid(), signal.SIGKILL)
        return local

    def enter(frame: FrameType, _event: str, _argument: Any) -> Any:
        inside = any(part in frame.f_code.co_filename for part in parts)
        return local if inside else None

    threading.settrace(enter)
    sys.settrace(enter)

    def disarm() -> None:
        sys.settrace(None)
        if os.environ.get(COUNT):
            Path(os.environ[COUNT]).write_text(str(seen), encoding="ascii")

    return disarm


def lines_of(argv: Sequence[str], environment: Mapping[str, str], scratch: Path) -> int:
    """Run a program to its end, and return how many lines there were to be killed at."""
    counted = scratch / "lines"
    _run(argv, {**environment, LINE: "0", COUNT: str(counted)}, 0)
    return int(counted.read_text(encoding="ascii"))


def killed_at(argv: Sequence[str], environment: Mapping[str, str], line: int) -> bool:
    """Run a program that ends before its `line`th line; return whether it came that far.

    Where threads share the work the number of lines varies a little, and the last may not come.
    """
    return _run(argv, {**environment, LINE: str(line)}, -signal.SIGKILL, 0) != 0


def points(lines: int, count: int, seed: int) -> list[int]:
    """Return `count` different lines of `lines`, or all where there are fewer, in order."""
    everything = range(1, lines + 1)
    if count >= lines:
        return list(everything)
    return sorted(random.Random(seed).sample(everything, count))  # noqa: S311 - no secret


def _run(argv: Sequence[str], environment: Mapping[str, str], *expected: int) -> int:
    search = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        list(argv),
        env={**os.environ, **environment, "PYTHONPATH": search},
        capture_output=True,
        check=False,
    )
    assert done.returncode in expected, (done.returncode, done.stdout, done.stderr)
    return done.returncode
