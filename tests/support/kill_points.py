"""End a process at any chosen line of what it runs, as `kill -9` would.

A fork counts the lines of Python that it executes in the modules that matter, and sends itself
SIGKILL before one of them. Between two lines lies every call to the system that a kill could fall
between: each write and sync of the journal, each request to a hypervisor. Which line is chosen by
number, so a failure can be had again; no clock is involved.

    count = fork(job, ("unmask/fixes/",), 0, folder)  # runs to its end
    fork(job, ("unmask/fixes/",), 17, folder)  # is killed before the 17th line
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any


def fork(job: Callable[[], None], parts: Sequence[str], line: int, scratch: Path) -> int:
    """Run `job` in a fork of this process, which ends before its `line`th line; 0: at its end.

    Only where this process has no other threads.

    Args:
        job: What to run.
        parts: Lines count in files whose path has one of these parts, in all threads.
        line: The one to end before, from 1.
        scratch: A directory for the number of lines.

    Returns:
        The lines there were, 0 where it was killed.
    """
    counted = scratch / "lines"
    counted.unlink(missing_ok=True)
    child = os.fork()
    if not child:
        code = 1
        try:
            lines = _counting(parts, line)
            job()
            counted.write_text(str(lines()), encoding="ascii")
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, -signal.SIGKILL), code
    return int(counted.read_text(encoding="ascii")) if not code else 0


def _counting(parts: Sequence[str], last: int) -> Callable[[], int]:
    """Count lines from here on, and return what stops that and tells how many there were."""
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

    def stop() -> int:
        sys.settrace(None)
        return seen

    threading.settrace(enter)
    sys.settrace(enter)
    return stop


def points(lines: int, count: int, seed: int) -> list[int]:
    """Return `count` different lines of `lines`, or all where there are fewer, in order."""
    everything = range(1, lines + 1)
    if count >= lines:
        return list(everything)
    return sorted(random.Random(seed).sample(everything, count))  # noqa: S311 - no secret
