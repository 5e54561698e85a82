"""Run every benchmark and print the figures; the exit code is 1 where a target is missed."""

from __future__ import annotations

import sys

from benchmarks import (
    bench_spread,
    guests_by_ssh,
    html_page,
    judging,
    libvirt_audit,
    moves,
    proxmox_api,
    proxmox_ssh,
    start_up,
)
from benchmarks.figure import table

BENCHMARKS = (
    start_up,
    judging,
    moves,
    html_page,
    libvirt_audit,
    proxmox_ssh,
    proxmox_api,
    guests_by_ssh,
    bench_spread,
)


def main() -> int:
    """Measure, print, and return the exit code."""
    figures = []
    for benchmark in BENCHMARKS:
        print(f"measuring: {benchmark.__doc__}", file=sys.stderr)
        figures += benchmark.measure()
    print(table(figures))
    return int(any(figure.met is False for figure in figures))


if __name__ == "__main__":
    sys.exit(main())
