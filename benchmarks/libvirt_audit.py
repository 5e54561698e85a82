"""An audit of a libvirt host beside the loop that people write: `virsh dumpxml` of each domain."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.figure import Figure
from support import peers
from support.domain_xml import document
from support.libvirtd import PREFIX, Libvirtd, private_libvirtd

DOMAINS = 200
ROUNDS = 3


def measure(domains: int = DOMAINS, rounds: int = ROUNDS) -> list[Figure]:
    """Return the ratio; without libvirtd a figure that says so."""
    what = f"unmask audit of {domains} domains beside a virsh dumpxml loop"
    target = "faster (under 1x)"
    try:
        with private_libvirtd() as daemon:
            names = [f"{PREFIX}{number}" for number in range(domains)]
            daemon.define(*(document(name) for name in names))
            ours, theirs = _times(daemon, names, rounds)
    except pytest.skip.Exception as reason:
        return [Figure(what, str(reason), target)]
    ratio = ours / theirs
    measured = f"{ratio:.2f}x ({ours:.2f} s, {theirs:.2f} s)"
    return [Figure(what, measured, target, ratio < 1)]


def _times(daemon: Libvirtd, names: list[str], rounds: int) -> tuple[float, float]:
    unmask = str(Path(sys.executable).with_name("unmask"))
    audit = [unmask, "audit", daemon.uri, "--fail-on", "never"]
    virsh = [peers.program("virsh"), "-c", daemon.uri, "dumpxml"]
    subprocess.run(audit, check=True, capture_output=True)  # libvirtd probes QEMU once
    ours, theirs = [], []
    for _ in range(rounds):
        began = time.perf_counter()
        subprocess.run(audit, check=True, capture_output=True)
        ours.append(time.perf_counter() - began)
        began = time.perf_counter()
        for name in names:
            subprocess.run([*virsh, name], check=True, capture_output=True)
        theirs.append(time.perf_counter() - began)
    return statistics.median(ours), statistics.median(theirs)
