"""Audits to compare: inventories judged by the real rules and read back from their JSON report."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace

from support.report_document import inventory as rich
from unmask import plugins
from unmask.dialects import audit_report
from unmask.engine import diff, document
from unmask.model.difference import Audit, Change, Difference
from unmask.model.finding import Rule
from unmask.model.inventory import Gap, Guest, Inventory
from unmask.model.visit import UNVISITED
from unmask.model.workload import Finder
from unmask.report import json as report

RULES = plugins.load("unmask.rules", "RULE", Rule)
FINDERS = plugins.load("unmask.workloads", "WORKLOAD", Finder)
STARTED = "2026-12-01T08:00:00Z"
CLUSTER = "coast"


def rendered(inventory: Inventory, rules: tuple[Rule, ...] = RULES) -> str:
    """Return an inventory's JSON report."""
    made = document.build(inventory, rules, version="1.2.3", started=STARTED, finders=FINDERS)
    return report.render(made, 0)


def audit(inventory: Inventory, rules: tuple[Rule, ...] = RULES) -> Audit:
    """Return the audit of an inventory."""
    return audit_report.load(rendered(inventory, rules))


def compared(old: Inventory, new: Inventory) -> Difference:
    """Return what changed between two inventories."""
    return diff.compare(audit(old), audit(new))


def by_change(difference: Difference) -> dict[Change, set[tuple[str, str]]]:
    """Return codes and subjects by what became of the findings."""
    found: dict[Change, set[tuple[str, str]]] = {}
    for item in difference.findings:
        found.setdefault(item.change, set()).add((item.shown.code, item.shown.subject))
    return found


def having(inventory: Inventory, subject: str, change: Callable[[Guest], Guest]) -> Inventory:
    """Return the inventory with one guest changed."""
    return replace(
        inventory,
        guests=tuple(
            sorted(
                (change(item) if item.subject == subject else item for item in inventory.guests),
                key=lambda item: item.subject,
            )
        ),
    )


def without(inventory: Inventory, subject: str) -> Inventory:
    """Return the inventory without a guest or host."""
    return replace(
        inventory,
        guests=tuple(item for item in inventory.guests if item.subject != subject),
        hosts=tuple(item for item in inventory.hosts if item.subject != subject),
    )


def mutated(seed: int) -> Inventory:
    """Return the rich inventory as it might be some days later; the same seed gives the same."""
    generator = random.Random(seed)  # noqa: S311 - test data
    found = rich()
    for _ in range(generator.randrange(6)):
        found = generator.choice(_MUTATIONS)(found, generator)
    return found


def _unvisited(found: Inventory, generator: random.Random) -> Inventory:
    subject = generator.choice(found.guests).subject
    return having(found, subject, lambda guest: replace(guest, visit=UNVISITED))


def _other_cpu(found: Inventory, generator: random.Random) -> Inventory:
    one, other = generator.sample(found.guests, 2)
    if one.platform is not other.platform:
        return found
    return having(
        found, one.subject, lambda guest: replace(guest, configured=other.configured, running=None)
    )


def _moved(found: Inventory, generator: random.Random) -> Inventory:
    guest, host = generator.choice(found.guests), generator.choice(found.hosts)
    if guest.host.partition("/")[0] != host.cluster:
        return found
    return having(found, guest.subject, lambda item: replace(item, host=host.subject))


def _gone(found: Inventory, generator: random.Random) -> Inventory:
    if len(found.guests) < 4:
        return found
    return without(found, generator.choice(found.guests).subject)


def _lost_node(found: Inventory, generator: random.Random) -> Inventory:
    host = generator.choice(found.hosts)
    if len(found.hosts) < 3:
        return found
    left = tuple(guest for guest in found.guests if guest.host != host.subject)
    gap = Gap(host.subject, f"not read within {generator.randrange(99)} s")
    gaps = (gap,) if generator.random() < 0.5 else ()
    return replace(without(found, host.subject), guests=left, gaps=(*found.gaps, *gaps))


def _gap(found: Inventory, generator: random.Random) -> Inventory:
    subject = generator.choice([*(item.subject for item in found.hosts), CLUSTER, "pve://x"])
    return replace(found, gaps=(*found.gaps, Gap(subject, "it did not answer")))


_MUTATIONS = (_unvisited, _other_cpu, _moved, _gone, _lost_node, _gap)


def shuffled(text: str, seed: int) -> str:
    """Return a JSON report with its lists in another order."""
    generator = random.Random(seed)  # noqa: S311 - test data
    body = json.loads(text)
    for value in body.values():
        if isinstance(value, list):
            generator.shuffle(value)
    for guest in body["guests"]:
        generator.shuffle(guest["workloads"])
    return json.dumps(body)
