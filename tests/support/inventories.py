"""Inventories made at random from the model's own type hints: any shape that the types allow."""

from __future__ import annotations

import dataclasses
import random
import types
from enum import StrEnum
from typing import Any, Union, get_args, get_origin, get_type_hints

from unmask.model.inventory import Inventory
from unmask.model.reading import Known

AWKWARD = ("", "kvm64", "x86-64-v2-AES", 'quo"te\\', "line\nbreak", "\x1b]0;t\x07", "é\u202e\ud800")
"""Strings that formats get wrong: empty, quoted, control characters, a lone surrogate."""


def random_inventory(seed: int) -> Inventory:
    """Return an inventory with unique subjects; the same seed gives the same one."""
    generator = random.Random(seed)  # noqa: S311 - test data
    inventory: Inventory = _value(Inventory, generator, 0)
    unique = {
        what: tuple(
            dataclasses.replace(item, subject=f"{number}/{item.subject}")
            for number, item in enumerate(getattr(inventory, what))
        )
        for what in ("hosts", "guests", "clusters")
    }
    return dataclasses.replace(inventory, **unique)


def _value(kind: Any, generator: random.Random, depth: int) -> Any:
    if dataclasses.is_dataclass(kind):
        hints = get_type_hints(kind)
        values = {name: _value(hint, generator, depth + 1) for name, hint in hints.items()}
        return kind(**values)  # type: ignore[operator]
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return generator.choice(list(kind))
    if kind is str:
        return generator.choice(AWKWARD)
    if kind is bool:
        return generator.random() < 0.5
    if kind is int:
        return generator.choice((0, 1, -1, 2**70))
    return _composed(kind, generator, depth)


def _composed(kind: Any, generator: random.Random, depth: int) -> Any:
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Known:
        return Known(_value(parts[0], generator, depth))
    if origin in (Union, types.UnionType):
        return _value(generator.choice(parts), generator, depth)
    if kind is type(None):
        return None
    if origin is frozenset:
        return frozenset(generator.sample(AWKWARD, generator.randrange(4)))
    if origin is tuple and parts[-1] is ...:
        count = generator.randrange(5 if depth < 2 else 3)
        return tuple(_value(parts[0], generator, depth + 1) for _ in range(count))
    if origin is tuple:
        return tuple(_value(part, generator, depth + 1) for part in parts)
    raise TypeError(f"no random value for {kind!r}")
