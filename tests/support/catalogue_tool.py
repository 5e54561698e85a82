"""`tools/cpu_catalogue.py` as a module: the one place that speaks QMP about CPU models."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]


@cache
def load() -> ModuleType:
    """Return the tool as a module."""
    name = "unmask_cpu_catalogue_tool"
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools/cpu_catalogue.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
