"""Hold a rule on changes to its fixtures: the compact inventories of `move_case`, and a new CPU.

A case has `to`, the CPU that each guest would have (as `rule_case.spec` reads it), or `to_host` for
passing the host through; `custom` is the name of a model that has to be made first. A guest may
have `ha` and `replicas` beside what `move_case` knows. `findings` are what the rule must say of the
first guest, in order: `words`, `never`, `flags`, `fatal`; `skips` are the `words` of what it cannot
tell.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from support import move_case, rule_case
from unmask.engine.cases import guest_cases
from unmask.errors import UnreadError
from unmask.fixes import constraints
from unmask.model.change_case import ChangeCase
from unmask.model.finding import Problem, Rule

OWN = frozenset({"ha", "replicas"})
SAID = frozenset({"words", "never", "flags", "fatal"})
KNOWN = frozenset({"name", "why", "hosts", "guest", "models", "to", "custom", "findings", "skips"})


@dataclass(frozen=True)
class ChangeFixture:
    """One case of a fixture file, expanded."""

    name: str
    change: ChangeCase
    findings: tuple[Mapping[str, Any], ...]
    skips: tuple[Mapping[str, Any], ...]


def cases(code: str) -> list[ChangeFixture]:
    """Return the cases of all three files of a rule."""
    found = []
    for kind in rule_case.KINDS:
        text = (rule_case.FOLDER / code / f"{kind}.json").read_text(encoding="utf-8")
        found += [expand(case) for case in json.loads(text)["cases"]]
    return found


def expand(case: Mapping[str, Any]) -> ChangeFixture:
    """Return a case with its guest before and after."""
    assert not set(case) - KNOWN, f"{case['name']}: unknown keys {set(case) - KNOWN}"
    entry = dict(case.get("guest", {}))
    own = {key: entry.pop(key) for key in OWN & set(entry)}
    read = move_case.inventory(case.get("hosts", {}), [entry], case.get("models", {}))
    guest = replace(
        read.guests[0],
        high_availability=own.get("ha", ""),
        replicas=tuple(own.get("replicas", ())),
    )
    (now,) = guest_cases(replace(read, guests=(guest,)))
    spec = rule_case.spec(case.get("to", "host"), guest.platform)
    then = constraints.as_changed(now, spec)
    change = ChangeCase(now, then, custom_model=case.get("custom", ""))
    return ChangeFixture(
        case["name"], change, tuple(case.get("findings", [])), tuple(case.get("skips", []))
    )


def hold(rule: Rule, case: ChangeFixture) -> None:
    """Assert that a rule says exactly what a case expects."""
    said: list[Problem] = []
    unread: list[UnreadError] = []
    try:
        said += rule.check(case.change)
    except UnreadError as error:
        unread.append(error)
    assert len(said) == len(case.findings), said
    for problem, entry in zip(said, case.findings, strict=True):
        _hold(problem, entry)
    assert len(unread) == len(case.skips), unread
    for unknown, entry in zip(unread, case.skips, strict=True):
        for word in entry["words"]:
            assert word in f"{unknown.reason} | {unknown.needs}"


def _hold(problem: Problem, entry: Mapping[str, Any]) -> None:
    assert not set(entry) - SAID, entry
    assert problem.message.endswith("."), problem
    assert problem.fatal == entry.get("fatal", False), problem
    if "flags" in entry:
        assert list(problem.flags) == entry["flags"].split(), problem
    for word in entry["words"]:
        assert word in problem.message, problem
    for word in entry.get("never", ()):
        assert word not in problem.message, problem
