"""Sentences for SARIF: what its plain text messages take for markup is made harmless."""

from __future__ import annotations

import inspect
import re
import sys

from unmask.model.finding import Finding, Rule, Skip
from unmask.model.inventory import Gap
from unmask.report._text import called, clean


def finding(item: Finding) -> str:
    """Return all that is to be known of a finding, the message first, a line each.

    GitHub shows the first sentence in its list and all of it on the alert's page.
    """
    problem = item.problem
    lines = [sentence(f"{called(item.subject, item.name)}: {clean(problem.message)}")]
    lines += [f"- {clean(fact)}" for fact in problem.evidence]
    if problem.remedy:
        lines.append(f"Remedy: {clean(problem.remedy)}")
    if problem.command:
        lines.append(f"Command: {clean(problem.command)}")
    lines.append(f"More: unmask explain {item.code}")
    return escaped("\n".join(lines))


def page(code: str, rule: Rule | None) -> str:
    """Return what `unmask explain` prints of a rule, in Markdown: its module's docstring.

    GitHub shows it beside the alert, to people who may not have unmask at hand.
    """
    module = sys.modules.get(rule.check.__module__) if rule else None
    text = inspect.cleandoc(module.__doc__ or "") if module else ""
    return f"{text}\n\nThe same in a terminal: `unmask explain {code}`".strip()


def notice(item: Gap | Skip) -> str:
    """Return what could not be read or checked, why, and what would help."""
    code = f" {item.code}" if isinstance(item, Skip) else ""
    needs = f"; needs {clean(item.needs)}" if item.needs else ""
    return escaped(sentence(f"{clean(item.subject, 120)}{code}: {clean(item.reason)}{needs}"))


def sentence(text: str) -> str:
    """Return the text with a full stop at its end."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def escaped(text: str) -> str:
    """Return text of which nothing is a placeholder or a link.

    Braces are doubled (3.11.5). "[text](target)" would be a link (3.11.6), wherever the name of a
    guest has it: a space between makes it none.
    """
    return text.replace("{", "{{").replace("}", "}}").replace("](", "] (")


def pascal(title: str) -> str:
    """Return a title as an identifier, as 3.49.7 has them: "CpuModelHidesAes"."""
    words = re.findall(r"[A-Za-z0-9]+", title.replace("'s ", " "))
    return "".join(word.capitalize() for word in words if len(word) > 1 and word != "The")
