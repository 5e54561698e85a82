"""What to do, guest by guest: one sentence and one command for each, the worst first."""

from __future__ import annotations

from unmask.model.case import GuestCase
from unmask.model.report import Document
from unmask.report import _cells
from unmask.report._actions import TARGET, actions
from unmask.report._detail import HOW, Detail
from unmask.report._paint import Paint
from unmask.report._text import clean, wrap

PLANS = (
    "unmask fix with --dry-run shows what a change costs and changes nothing. Give it the options "
    "that this audit had (--config, --token-file); where several logins are configured for an "
    "address, write a target's name in its place."
)
WHICH = f"{TARGET} is the target that has the guest."
AGAIN = "One change may settle several findings, so audit again after it."


def section(document: Document, width: int, paint: Paint, detail: Detail) -> list[str]:
    """Return the lines, an empty one first; none where nothing is to be done to any guest.

    A command is one line however long it is, so that it can be copied.
    """
    found = actions(document)
    if not found:
        return []
    # One more line for one more guest would save nothing.
    shown = found[: detail.guests] if len(found) > detail.guests + 1 else found
    cases = {case.guest.subject: case for case in document.cases}
    lines = ["", paint.heading("What to do, one guest at a time")]
    for item in shown:
        word = item.severity.word
        text = f"{_guest(cases[item.subject])}: {item.what}"
        first, *rest = wrap(text, width, f"  {word:<8}  ", " " * 12)
        lines += [first.replace(word, paint.severity(word, item.severity), 1), *rest]
        lines += [f"            {clean(item.command)}"] if item.command else []
    if len(shown) < len(found):
        lines += wrap(f"and {len(found) - len(shown)} more guests: {HOW}", width, "  ")
    commands = [item.command for item in shown]
    said = [PLANS] if any(command.endswith("--dry-run") for command in commands) else []
    said += (
        [WHICH] if any(command.startswith(f"unmask fix {TARGET} ") for command in commands) else []
    )
    return [*lines, "", *wrap(" ".join((*said, AGAIN)), width)]


def _guest(case: GuestCase) -> str:
    return f"{case.guest.site}: {_cells.guest(case)}" if case.guest.site else _cells.guest(case)
