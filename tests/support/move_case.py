"""Hold a rule on moves to its fixtures: the compact inventories of `rule_case`, and then some.

A host may be `{"cpu": ..., "qemu": ..., "kernel": ..., "hypervisor": ..., "nested": "Y"}` where
its CPU alone is not enough. A guest may have `machine`, `lock`, `ties`, `confined` (both none by
default, or a word: the reason why they were not read), `snapshots` and `properties` of its CPU.
`models` are custom models by cluster and name.

Every guest is judged against every other host: of its cluster, or of all with `"everywhere": true`.
`findings` are what the rule must say, each with `to`, `stops`, `unsure`, `flags` and `words`, and
`guest` where it is not the first one; `skips` are what it cannot tell: `to` and `words`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from support import rule_case
from unmask.dialects.records import codec
from unmask.engine import moves
from unmask.model.cpu import CpuSpec
from unmask.model.finding import Rule
from unmask.model.inventory import Guest, Host, Inventory, Platform, Snapshot, Software
from unmask.model.move import Move, Reason
from unmask.model.reading import Known, Missing, Reading
from unmask.model.tie import Confinement, Tie

OWN = frozenset({"qemu", "kernel", "hypervisor", "nested", "cpu"})
GUESTS = frozenset(
    {"machine", "lock", "ties", "confined", "snapshots", "properties", "custom", "origin"}
)
SAID = frozenset({"guest", "to", "stops", "unsure", "flags", "words", "never"})
UNKNOWN = "Not known: "


@dataclass(frozen=True)
class MoveFixture:
    """One case of a fixture file, expanded."""

    name: str
    inventory: Inventory
    asked: moves.Asked
    findings: tuple[Mapping[str, Any], ...]
    skips: tuple[Mapping[str, Any], ...]


def cases(code: str) -> list[MoveFixture]:
    """Return the cases of all three files of a rule."""
    found = []
    for kind in rule_case.KINDS:
        text = (rule_case.FOLDER / code / f"{kind}.json").read_text(encoding="utf-8")
        found += [expand(case) for case in json.loads(text)["cases"]]
    return found


def expand(case: Mapping[str, Any]) -> MoveFixture:
    """Return a case with its inventory."""
    known = {"name", "hosts", "guests", "models", "everywhere", "cpu", "findings", "skips", "why"}
    assert not set(case) - known, f"{case['name']}: unknown keys {set(case) - known}"
    read = inventory(case.get("hosts", {}), case.get("guests", [{}]), case.get("models", {}))
    everything = frozenset(host.subject for host in read.hosts)
    specs = {}
    if "cpu" in case:
        specs = {guest.subject: rule_case.spec(case["cpu"]) for guest in read.guests}
    asked = moves.Asked(
        targets=everything if case.get("everywhere") else frozenset(),
        cpu="as asked" if specs else "",
        specs=specs,
    )
    return MoveFixture(
        case["name"], read, asked, tuple(case.get("findings", [])), tuple(case.get("skips", []))
    )


def inventory(
    hosts: Mapping[str, Any],
    guests: Sequence[Mapping[str, Any]],
    models: Mapping[str, Mapping[str, Any]] | None = None,
) -> Inventory:
    """Return the inventory; two broadwells where no host is named."""
    hosts = hosts or {"lab/one": "broadwell", "lab/two": "broadwell"}
    plain = {subject: _cpu(entry) for subject, entry in hosts.items()}
    base = rule_case.inventory(plain, [_without(entry, GUESTS) for entry in guests])
    return replace(
        base,
        hosts=tuple(_host(host, hosts[host.subject]) for host in base.hosts),
        guests=tuple(
            _guest(guest, entry) for guest, entry in zip(base.guests, guests, strict=True)
        ),
        clusters=tuple(
            replace(cluster, custom_models=_models((models or {}).get(cluster.subject, {})))
            for cluster in base.clusters
        ),
    )


def _cpu(entry: Any) -> Any:
    return entry["cpu"] if isinstance(entry, dict) and "cpu" in entry else entry


def _without(entry: Mapping[str, Any], keys: frozenset[str]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key not in keys}


def _host(host: Host, entry: Any) -> Host:
    own = entry if isinstance(entry, dict) and "cpu" in entry else {"cpu": entry}
    assert not set(own) - OWN, own
    software = Software(
        own.get("hypervisor", "Proxmox VE 9.1.4"),
        own.get("qemu", "10.1.2"),
        own.get("kernel", "6.14.11-4-pve"),
    )
    nested = own.get("nested", "")
    parameters = (("kvm_intel.nested", nested),) if nested else ()
    return replace(host, software=software, parameters=parameters)


def _guest(guest: Guest, entry: Mapping[str, Any]) -> Guest:
    configured = guest.configured
    if "properties" in entry:
        pairs = tuple(sorted(entry["properties"].items()))
        configured = replace(configured, properties=pairs)
    if "custom" in entry:
        configured = replace(custom(entry["custom"]), label=f"custom-{entry['custom']['name']}")
    return replace(
        guest,
        configured=configured,
        machine=entry.get("machine", ""),
        lock=entry.get("lock", ""),
        ties=_reading(Tie, entry.get("ties", [])),
        confined=_reading(Confinement, entry.get("confined", [])),
        snapshots=tuple(
            Snapshot(item["name"], rule_case.spec(item["cpu"]), item.get("with_memory", True))
            for item in entry.get("snapshots", [])
        ),
    )


def _reading(kind: Any, entry: Any) -> Reading[tuple[Any, ...]]:
    if isinstance(entry, str):
        return Missing(entry)
    return Known(tuple(codec(kind).load(item) for item in entry))


def custom(entry: Mapping[str, Any]) -> CpuSpec:
    """Return the CPU of a custom model."""
    rest = {key: value for key, value in entry.items() if key != "name"}
    return rule_case.spec({"like": "kvm64", "origin": "custom", **rest})


def _models(entries: Mapping[str, Any]) -> tuple[tuple[str, CpuSpec], ...]:
    return tuple((name, custom(entry)) for name, entry in sorted(entries.items()))


def judged(rule: Rule, case: MoveFixture) -> tuple[Move, ...]:
    """Return what the engine makes of a case with this rule alone."""
    return moves.moves(case.inventory, [rule], case.asked)


def hold(rule: Rule, case: MoveFixture) -> None:
    """Assert that a rule says exactly what a case expects."""
    first = case.inventory.guests[0].subject
    told = [(move, reason) for move in judged(rule, case) for reason in move.reasons]
    said = [item for item in told if not _unread(item[1])]
    unread = [item for item in told if _unread(item[1])]
    expected = [(entry.get("guest", first), entry["to"]) for entry in case.findings]
    assert [(move.guest, move.target) for move, _ in said] == expected, told
    for (_, reason), entry in zip(said, case.findings, strict=True):
        _hold_reason(reason, entry)
    assert [move.target for move, _ in unread] == [entry["to"] for entry in case.skips], told
    for (move, reason), entry in zip(unread, case.skips, strict=True):
        assert reason.unsure == rule.decides
        assert all(getattr(move, kind.value) != "possible" for kind in reason.unsure)
        for word in entry["words"]:
            assert word in f"{reason.message} | {reason.needs}", reason


def _unread(reason: Reason) -> bool:
    return reason.message.startswith(UNKNOWN)


def _hold_reason(reason: Reason, entry: Mapping[str, Any]) -> None:
    assert not set(entry) - SAID, entry
    assert [kind.value for kind in reason.stops] == entry.get("stops", "").split(), reason
    assert [kind.value for kind in reason.unsure] == entry.get("unsure", "").split(), reason
    assert list(reason.features) == entry.get("flags", "").split(), reason
    assert reason.message.endswith("."), reason
    assert bool(reason.needs) == bool(reason.unsure), reason
    for word in entry["words"]:
        assert word in reason.message, reason
    for word in entry.get("never", ()):
        assert word not in reason.message, reason


def on_libvirt(case: Inventory) -> Inventory:
    """Return an inventory whose hosts and guests are libvirt's, without a cluster."""
    return replace(
        case,
        hosts=tuple(
            replace(
                host,
                platform=Platform.LIBVIRT,
                cluster="",
                software=replace(host.software, hypervisor="libvirt 11.3.0"),
            )
            for host in case.hosts
        ),
        guests=tuple(replace(guest, platform=Platform.LIBVIRT) for guest in case.guests),
        clusters=(),
    )
