"""Choose rules by code or by the beginning of a code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from unmask.errors import UsageError
from unmask.model.finding import Rule


def choose(
    rules: Sequence[Rule], select: Sequence[str] = (), ignore: Sequence[str] = ()
) -> tuple[Rule, ...]:
    """Return the rules that are selected and not ignored, in order of code.

    Args:
        rules: All rules there are.
        select: Codes ("CPU001") or beginnings of codes ("CPU", "CPU0"), in any case; several may
            be joined with commas. Empty selects all.
        ignore: The same, for rules to leave out; ignoring is stronger than selecting.

    Raises:
        UsageError: A word fits no rule, or no rule is left.
    """
    codes = [rule.code for rule in rules]
    wanted = [checked(word, codes) for word in _words(select)]
    unwanted = [checked(word, codes) for word in _words(ignore)]
    chosen = [
        rule
        for rule in rules
        if (not wanted or rule.code.startswith(tuple(wanted)))
        and not rule.code.startswith(tuple(unwanted))
    ]
    if rules and not chosen:
        raise UsageError("no rule is left to run: everything that is selected is also ignored")
    return tuple(sorted(chosen, key=lambda rule: rule.code))


def checked(word: str, codes: Sequence[str]) -> str:
    """Return `word` in upper case if at least one code begins with it.

    Raises:
        UsageError: None does; the message names the nearest codes.
    """
    start = word.upper()
    if not any(code.startswith(start) for code in codes):
        raise UsageError(f"there is no rule {word!r}; {suggestion(word, codes)}")
    return start


def suggestion(word: str, codes: Sequence[str]) -> str:
    """Return a half sentence that names the codes nearest to a wrong one."""
    families = sorted({code.rstrip("0123456789") for code in codes})
    # What was written may be the beginning of codes, where only a whole one will do.
    others = [other for other in [*codes, *families] if other != word.upper()]
    near = get_close_matches(word.upper(), others, n=3, cutoff=0.5)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"codes begin with {', '.join(families)}" if families else "there are no rules at all"


def _words(texts: Iterable[str]) -> list[str]:
    return [word.strip() for text in texts for word in text.split(",") if word.strip()]
