"""How long `unmask --version` and `--help` take beside an interpreter that does nothing."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.figure import Figure

ROUNDS = 21
RATIOS = {"--version": 3.0, "--help": 6.0}


def measure(rounds: int = ROUNDS) -> list[Figure]:
    """Return the ratios; the commands take turns, so that a busy machine slows all alike."""
    unmask = Path(sys.executable).with_name("unmask")
    commands = {"": [sys.executable, "-c", "pass"]}
    commands |= {option: [str(unmask), option] for option in RATIOS}
    seconds: dict[str, list[float]] = {option: [] for option in commands}
    for turn in range(rounds + 1):
        for option, command in commands.items():
            began = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            if turn:  # the first one fills the caches
                seconds[option].append(time.perf_counter() - began)
    median = {option: statistics.median(times) for option, times in seconds.items()}
    nothing = median.pop("")
    figures = [Figure("python -c pass", f"{nothing * 1000:.0f} ms", "")]
    for option, took in median.items():
        ratio = took / nothing
        measured = f"{ratio:.2f}x ({took * 1000:.0f} ms)"
        most = RATIOS[option]
        figures.append(Figure(f"unmask {option}", measured, f"within {most:g}x", ratio <= most))
    return figures
