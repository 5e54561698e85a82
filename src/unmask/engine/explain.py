"""The page on a rule: its module's docstring, which is also docs/rules/CODE.md."""

from __future__ import annotations

import importlib
import inspect

from unmask import plugins
from unmask.engine.select import suggestion
from unmask.errors import UsageError
from unmask.model.finding import Rule

HEADINGS = (
    "Why it matters",
    "How it decides",
    "Remedy",
    "What fix does",
    "When to accept it",
    "References",
)
"""What every page has, in this order."""


def codes(package: str = "unmask.rules") -> dict[str, str]:
    """Return each rule's code with the name of its module, from the file names alone."""
    return {name.split("_")[0].upper(): name for name in plugins.names(package)}


def page(code: str, package: str = "unmask.rules") -> str:
    """Return the page on one rule in Markdown, ending with a line break.

    Raises:
        UsageError: There is no such rule; the message names the nearest codes.
    """
    modules = codes(package)
    name = modules.get(code.upper())
    if name is None:
        raise UsageError(f"there is no rule {code!r}; {suggestion(code, list(modules))}")
    module = importlib.import_module(f"{package}.{name}")
    rule = module.RULE
    if not isinstance(rule, Rule):
        raise TypeError(f"plug-in {package}.{name} must define RULE, a Rule")
    text = inspect.cleandoc(module.__doc__ or "")
    return f"# {rule.code}: {rule.title}\n\n{text}\n"
