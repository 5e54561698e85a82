"""A letter to the provider of a rented machine: what its CPU hides, the evidence, the request.

It is plain text of a fixed width, to be pasted into a form. It names the machine by its host name
only: no address, user, or name of its data stands in it.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator

from unmask.model.case import GuestCase
from unmask.model.cpu import Accelerator, FeatureView
from unmask.model.inside import Inside
from unmask.model.inventory import Platform
from unmask.model.reading import Missing
from unmask.model.report import Document, Format
from unmask.report import _ticket_facts as facts
from unmask.report import _ticket_request as request
from unmask.report._text import clean, wrap

WIDTH = 76
RULE = "-" * WIDTH
LABEL = 18
UNNAMED = "[its name or contract number]"
"""For a machine that is known by its address only."""
NOBODY = (
    "There is no ticket to write: no machine of this report was seen from inside only (ssh://)."
)


def render(document: Document, width: int) -> str:  # noqa: ARG001 - it is pasted elsewhere
    """Return a letter for each machine that was seen from inside only, apart by a line."""
    cases = [case for case in document.cases if case.guest.platform is Platform.UNSEEN]
    if not cases:
        return "\n".join([*wrap(NOBODY, WIDTH), *_gaps(document)]) + "\n"
    letters = ["\n".join(_letter(case, document)) for case in cases]
    return f"\n\n{RULE}\n\n".join(letters) + "\n"


def _gaps(document: Document) -> Iterator[str]:
    for gap in document.inventory.gaps:
        yield from wrap(f"{clean(gap.subject)}: {clean(gap.reason)}", WIDTH, "- ")


def _letter(case: GuestCase, document: Document) -> list[str]:
    seen, view = facts.inside(case), case.observed
    name = _name(case)
    if seen is None or view is None:
        return wrap(f"{name}: no ticket can be written: {_why(case)}.", WIDTH)
    flags = request.missing(case, view)
    if request.bare(case, view) or (not flags and view.accelerator is not Accelerator.TCG):
        return wrap(f"{name}: {_nothing(view, flags)}", WIDTH)
    return [
        *wrap(f"Subject: {_subject(view, name)}", WIDTH),
        "",
        "Hello,",
        "",
        *wrap(_opening(view, document), WIDTH),
        *_table("The machine", [("name", name), *facts.machine(case, seen)]),
        *_table("Missing", _missing(seen, view, flags)),
        *_listed("What the kernel says", facts.kernel(seen)),
        *_listed("What it costs", [*facts.costs(case), *facts.unread(case, seen)]),
        *_paragraphs("What I ask for", request.sentences(case, view, flags)),
        *_table("Where that is set", request.settings(case, view, flags)),
        *_listed("What was not verified", _doubts(case, seen, view, flags)),
        "",
        f"Read by unmask {clean(document.run.version, 40)}, which changed nothing.",
    ]


def _name(case: GuestCase) -> str:
    """Return the machine's host name, or a blank to fill in where only its address is known."""
    name = clean(case.guest.name, 100)
    host = name.rpartition(":")[0] if name.count(":") == 1 else name
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    return UNNAMED


def _why(case: GuestCase) -> str:
    inside = case.guest.visit.inside
    if isinstance(inside, Missing):
        return clean(inside.reason)
    cpu = inside.value.cpu
    return f"its CPU was not read: {clean(cpu.reason)}" if isinstance(cpu, Missing) else "no view"


def _nothing(view: FeatureView, flags: tuple[str, ...]) -> str:
    wanted = request.wanted(view)
    if flags:
        return (
            f"there is no ticket to write: it lacks {', '.join(flags)}, and no hypervisor shows "
            "itself that could hide them. Look for a setting in its firmware; otherwise its CPU "
            "has none."
        )
    if not wanted:
        return (
            f"there is no ticket to write: no CPU flag decides on encryption on {clean(view.arch)}."
        )
    unknown = [flag for flag in wanted if not view.shows(flag)]
    if unknown:
        return f"no ticket can be written: it is not known whether it sees {', '.join(unknown)}."
    return (
        f"there is nothing to ask its provider for: its CPU shows {', '.join(wanted)}, all that "
        "most encryption needs. Where it is slow all the same, unmask bench tells why."
    )


def _subject(view: FeatureView, name: str) -> str:
    if view.accelerator is Accelerator.TCG:
        return f"my machine {name} is emulated, which makes encryption slow"
    return f"the CPU of my machine {name} hides instructions that encryption needs"


def _opening(view: FeatureView, document: Document) -> str:
    what = (
        "My machine seems to run without hardware virtualisation, which slows all encryption down."
        if view.accelerator is Accelerator.TCG
        else "The CPU that my machine is shown lacks instructions that encryption needs."
    )
    day = clean(document.run.started[:10], 10)
    return f"{what} What follows was read inside the machine on {day}."


def _missing(seen: Inside, view: FeatureView, flags: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for flag in flags:
        yield flag, request.MEANING.get(flag, "")
    shown = [flag for flag in request.wanted(view) if view.shows(flag)]
    if shown and flags:
        yield "(shown)", ", ".join(shown)
    sure = request.certain(view, flags, facts.shown_name(seen))
    if sure:
        yield "note", sure


def _doubts(
    case: GuestCase, seen: Inside, view: FeatureView, flags: tuple[str, ...]
) -> Iterator[str]:
    yield from request.doubts(view, flags, facts.shown_name(seen))
    if facts.measured(case):
        yield "The speeds were measured with the same software elsewhere, not on this machine."
    if seen.partial:
        count = len(seen.partial)
        yield f"{count} of the readings {'is' if count == 1 else 'are'} incomplete."


def _table(title: str, rows: Iterable[tuple[str, str]]) -> list[str]:
    rows = list(rows)
    if not rows:
        return []
    lines = [line for label, text in rows for line in _row(label, text)]
    return ["", title, *lines]


def _row(label: str, text: str) -> list[str]:
    first = f"  {label:<{LABEL}}"
    return wrap(text, WIDTH, first, " " * len(first)) if text else [first.rstrip()]


def _listed(title: str, items: Iterable[str]) -> list[str]:
    lines = [line for item in items for line in wrap(item, WIDTH, "  - ", "    ")]
    return ["", title, *lines] if lines else []


def _paragraphs(title: str, items: Iterable[str]) -> list[str]:
    lines = [line for item in items for line in wrap(item, WIDTH, "  ", "  ")]
    return ["", title, *lines] if lines else []


FORMAT = Format(
    name="ticket",
    summary="a letter to the provider of a machine that was entered by ssh://",
    render=render,
)
