"""A document with something of everything, for tests of every format.

It is what the real rules and finders say of the saved inventory fixtures/report/rich.json: two
Proxmox VE clusters and a libvirt host, guests that were entered and some that were not, pending
changes, a template, a container, hosts that could not be read, and measured results beside.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Any

from support.bench_results import HIDDEN, NODE, result
from support.golden import FIXTURES
from unmask import plugins
from unmask.dialects import saved
from unmask.engine import document
from unmask.engine.accepted import Acceptance
from unmask.model.bench import PLAIN, BenchResult
from unmask.model.finding import Rule
from unmask.model.inside import Virtualisation
from unmask.model.inventory import Inventory
from unmask.model.report import Document
from unmask.model.workload import Finder

RICH = FIXTURES / "report" / "rich.json"
STARTED = "2026-12-01T08:00:00Z"
WHAT_IF = {
    "aes-256-gcm": {PLAIN: 3205, "kvm64": 86, "x86-64-v2-AES": 378, "Westmere": 2210, "host": 3201},
    "aes-256-ctr": {PLAIN: 6211, "kvm64": 101, "x86-64-v2-AES": 6190, "host": 6207},
}
"""MB/s of a node under the masks of CPU models."""
AFTER = {"aes-256-gcm": {PLAIN: 2980}, "aes-256-ctr": {PLAIN: 5920}}
"""MB/s of the guest of `HIDDEN` once it has been given the flags."""
SHOWN = frozenset({"ssse3", "sse4_1", "aes", "pclmulqdq"})
SILICON = Virtualisation()
"""What a machine says of itself that is nobody's guest."""
ACCEPTED = (
    Acceptance("CPU001", "*/106", "clones get a CPU of their own", None, "accept.toml:1"),
    Acceptance("CPU009", "hall/mail", "restarts in the window", date(2027, 1, 31), "accept.toml:6"),
)


def inventory() -> Inventory:
    """Return the saved inventory."""
    return saved.load(RICH.read_text(encoding="utf-8"))


@cache
def rich() -> Document:
    """Return the whole document."""
    rules = plugins.load("unmask.rules", "RULE", Rule)
    judged = document.build(
        inventory(),
        rules,
        version="1.2.3",
        started=STARTED,
        acceptances=ACCEPTED,
        finders=plugins.load("unmask.workloads", "WORKLOAD", Finder),
        measured=measured(),
    )
    return document.with_moves(judged, rules)


def measured() -> tuple[BenchResult, ...]:
    """Return a guest before and after a change, its node, and another node under CPU models."""
    web = {"subject": "coast/102", "name": "web", "host": "coast/heron"}
    heron = {"subject": "coast/heron", "name": "heron", "host": "coast/heron", "around": SILICON}
    gull = {"subject": "coast/gull", "name": "gull", "host": "coast/gull", "around": SILICON}
    before = _result(HIDDEN, started="2026-11-28T21:00:00Z", **web)
    after = _result(AFTER, flags=SHOWN, **web)
    node = _result(NODE, flags=SHOWN, way="ssh root@heron", **heron)
    models = _result(WHAT_IF, flags=SHOWN, way="ssh root@gull", method="quick what-if", **gull)
    return before, after, node, models


def _result(rates: Mapping[str, Mapping[str, float]], **fields: Any) -> BenchResult:
    return result(rates, **fields)
