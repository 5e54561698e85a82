"""What CPU models leave of a node's speed: `python -m benchmarks.bench_what_if [ROUNDS]`.

The node is this machine by a real sshd. Figures beside it are of another processor (an Intel Xeon
with AVX-512 and VAES, OpenSSL 3.0.22; see `src/unmask/crypto/data/SOURCES.md`).
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from support import masked_machine, sshd
from unmask.benches import bench
from unmask.benches.bench import Effort, Wanted
from unmask.measure import reference
from unmask.model.source import CollectOptions

MODELS = ("kvm64", "x86-64-v2", "x86-64-v2-AES", "Westmere", "x86-64-v3", "Haswell", "host")


def main(effort: str = "standard") -> int:
    """Print each model's share of the node's own speed."""
    with tempfile.TemporaryDirectory(prefix="unmask-") as directory:
        user = sshd.client(Path(directory, "client"))
        with masked_machine.serving(Path(directory, "node"), user) as server:
            options = CollectOptions(ssh=user.options())
            job = bench.node((), server.place, MODELS, Wanted(Effort(effort)), options)
            result = job.work()
    for problem in result.problems:
        print(problem)
    rows = reference.what_if(result)
    for algorithm in dict.fromkeys(row.algorithm for row in rows):
        print(algorithm)
        for row in rows:
            if row.algorithm == algorithm and row.rate and row.of_host:
                print(f"  {row.model:15} {row.rate / 1e6:8.0f} MB/s  {row.of_host:6.1%} of host")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
