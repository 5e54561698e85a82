"""A lab in a process of its own, for tests that fork theirs: its state by commands.

with started() as lab:
    lab.address, lab.ca, lab.token
    lab.tell("reset")
    lab.tell("state")  # {"files": {...}, "running": [...]}
"""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from unmask.lab.lab import Lab


@dataclass(frozen=True, slots=True)
class LabProcess:
    """A running one."""

    process: subprocess.Popen[str]
    address: str
    ca: str
    token: str

    def tell(self, command: str) -> Any:
        """Give a command and return its answer."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


@contextmanager
def started() -> Iterator[LabProcess]:
    """Run a lab for as long as the context lasts."""
    search = os.pathsep.join(filter(None, sys.path))
    process = subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": search},
    )
    assert process.stdin
    assert process.stdout
    try:
        yield LabProcess(process, **json.loads(process.stdout.readline()))
    finally:
        process.stdin.close()
        process.wait(timeout=30)
        process.stdout.close()


def main() -> None:
    """Serve, and obey what comes on standard input until it ends."""
    with Lab(pace=0) as lab:
        files, running = dict(lab.cluster.files), copy.deepcopy(lab.cluster.running)
        said: Any = {"address": lab.address, "ca": str(lab.ca_file), "token": lab.tokens["fix"]}
        print(json.dumps(said), flush=True)  # noqa: T201 - this is how it talks
        for line in sys.stdin:
            if line.strip() == "reset":
                with lab.cluster.lock:
                    lab.cluster.files = dict(files)
                    lab.cluster.running = copy.deepcopy(running)
            else:
                assert line.strip() == "state"
            said = {"files": lab.tree(), "running": sorted(lab.cluster.running)}
            print(json.dumps(said), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
