"""Find plug-ins: a plug-in is a module of a package that defines one constant.

`load("unmask.rules", "RULE", Rule)` lists the package's modules and collects their `RULE`. There is
no central list to keep and no decorator with a side effect: to add a plug-in, copy a neighbour. A
module whose name starts with an underscore is not a plug-in.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import TypeVar

T = TypeVar("T")


@cache
def load(package: str, constant: str, kind: type[T]) -> tuple[T, ...]:
    """Return the `constant` of every plug-in module of `package`, in order of module name.

    Raises:
        TypeError: A module lacks the constant, or it is not a `kind`; a bug in that module.
    """
    return tuple(_constant(f"{package}.{name}", constant, kind) for name in names(package))


def names(package: str) -> list[str]:
    """Return the plug-in module names of `package`, sorted."""
    paths = importlib.import_module(package).__path__
    return sorted(info.name for info in pkgutil.iter_modules(paths) if info.name[0] != "_")


def _constant(module: str, constant: str, kind: type[T]) -> T:
    value = getattr(importlib.import_module(module), constant, None)
    if not isinstance(value, kind):
        raise TypeError(f"plug-in {module} must define {constant}, a {kind.__name__}")
    return value
