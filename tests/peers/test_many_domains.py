"""An audit of hundreds of domains: a constant number of calls for each, and no loop of virsh."""

from __future__ import annotations

import re
import time
from collections import Counter
from pathlib import Path

from support import peers
from support.domain_xml import Cpu, document
from support.libvirtd import PREFIX, Libvirtd
from support.unmask_command import unmask

CALL = re.compile(r"RPC_CLIENT_MSG_TX_QUEUE:.* prog=536903814 .* proc=(\d+) type=0 ")
"""What libvirt's client library logs for each call it sends to the daemon's main programme."""

KINDS = (
    Cpu(),
    Cpu("<cpu mode='custom'><model>Westmere</model></cpu>"),
    Cpu("<cpu mode='host-model'/>"),
    Cpu(option="Haswell"),
)


def define(libvirtd: Libvirtd, count: int) -> list[str]:
    names = [f"{PREFIX}{number:03}" for number in range(count)]
    libvirtd.define(*(document(name, KINDS[i % len(KINDS)]) for i, name in enumerate(names)))
    return names


def calls(libvirtd: Libvirtd, log: Path, guests: int) -> Counter[str]:
    """Return how often an audit that looks into no guest calls each of libvirt's procedures."""
    words = ("audit", libvirtd.uri, "--format", "json", "--fail-on", "never", "--no-probe")
    answer = unmask(*words, LIBVIRT_LOG_FILTERS="1:rpc", LIBVIRT_LOG_OUTPUTS=f"1:file:{log}")
    assert len(answer.guests) == guests
    return Counter(CALL.findall(log.read_text()))


def test_calls_grow_by_one_or_two_a_domain(empty_libvirtd: Libvirtd, tmp_path: Path) -> None:
    define(empty_libvirtd, 20)
    few = calls(empty_libvirtd, tmp_path / "few.log", 20)
    define(empty_libvirtd, 200)
    many = calls(empty_libvirtd, tmp_path / "many.log", 200)
    assert few.total() > 20
    each = (many.total() - few.total()) / 180
    assert 1 <= each <= 2, many
    assert few.total() - 20 * each <= 20, few


def test_audit_is_faster_than_a_virsh_loop(empty_libvirtd: Libvirtd) -> None:
    names = define(empty_libvirtd, 200)
    words = ("audit", empty_libvirtd.uri, "--format", "json", "--fail-on", "never")
    unmask(*words)  # the daemon probes QEMU once
    began = time.perf_counter()
    answer = unmask(*words)
    ours = time.perf_counter() - began
    began = time.perf_counter()
    for name in names:
        peers.run(["virsh", "-c", empty_libvirtd.uri, "dumpxml", name])
    theirs = time.perf_counter() - began
    assert set(answer.guests) == set(names)
    assert ours < theirs
