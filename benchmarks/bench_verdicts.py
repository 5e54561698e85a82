"""Whether the same machine gets the same verdict each time: `python -m benchmarks.bench_verdicts`.

Three guests that are this machine by real sshd: nothing hidden, AES-NI and PCLMULQDQ hidden, and
PCLMULQDQ alone hidden. It takes a quarter of an hour, and is no part of `make bench`.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from support import masked_machine, sshd
from unmask.benches import bench
from unmask.benches.bench import Effort, Wanted
from unmask.measure.diagnosis import diagnose
from unmask.model.bench import Cause
from unmask.model.source import CollectOptions

RUNS = 20
GUESTS = {
    Cause.ACTIVE: (),
    Cause.HIDDEN: masked_machine.BOTH,
    Cause.PARTIAL: masked_machine.PCLMULQDQ,
}


def verdicts(hidden: tuple[str, ...], runs: int) -> Iterator[tuple[Cause, float]]:
    """Yield the verdict of each run, and the seconds that it took with its login."""
    with tempfile.TemporaryDirectory(prefix="unmask-") as directory:
        user = sshd.client(Path(directory, "client"))
        with masked_machine.serving(Path(directory, "guest"), user, hidden) as server:
            for _ in range(runs):
                options = CollectOptions(ssh=user.options())
                job = bench.machine(f"ssh://{server.place}", options, Wanted(Effort.QUICK))
                began = time.perf_counter()
                result = job.work()
                seconds = time.perf_counter() - began
                yield diagnose(result).cause, seconds


def main() -> int:
    """Print how many verdicts were right; the exit code is 1 where one was not."""
    wrong = 0
    for expected, hidden in GUESTS.items():
        found = list(verdicts(hidden, RUNS))
        counts = Counter(cause for cause, _ in found)
        longest = max(seconds for _, seconds in found)
        wrong += RUNS - counts[expected]
        others = ", ".join(f"{cause} {count}" for cause, count in counts.items())
        print(f"{expected}: {counts[expected]} of {RUNS} ({others}); the longest {longest:.1f} s")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
