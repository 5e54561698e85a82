"""What the report is not sure of: skipped checks, gaps, remarks, and what was accepted."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields

from unmask.model.cpu import RemarkKind
from unmask.model.finding import Accepted, Skip
from unmask.model.inside import UNASKED
from unmask.model.inventory import Gap, Guest
from unmask.model.reading import Known, Missing
from unmask.model.report import Document
from unmask.report._paint import Paint
from unmask.report._text import LISTED, clean, listed, wrap

GAPS = 40
"""Different reasons why something was not read that are shown."""
REMARKS = (RemarkKind.UNRESOLVED, RemarkKind.NOTE)
"""Remarks that no rule turns into a finding."""


def section(document: Document, width: int, paint: Paint) -> list[str]:
    """Return the lines of every part that has something to say, an empty line before each."""
    outcome = document.outcome
    parts = (
        ("Could not be read", _gaps(document.inventory.gaps, width)),
        ("Not seen in full inside guests", _inside(document.inventory.guests, width)),
        ("Could not be checked", _skips(outcome.skips, width)),
        ("Noticed in the configuration", _remarks(document.inventory.guests, width)),
        ("Accepted", _accepted(outcome.accepted, width)),
    )
    lines = []
    for title, body in parts:
        if body:
            lines += ["", paint.heading(title), *body]
    return lines


def _gaps(gaps: Sequence[Gap], width: int) -> list[str]:
    """Return a line for each reason, so that a node's hundred guests do not make a hundred."""
    alike = gaps_alike(gaps)
    lines = []
    for (reason, needs), same in list(alike.items())[:GAPS]:
        subjects = listed([clean(gap.subject) for gap in same])
        why = _why(reason, needs)
        lines += wrap(f"{subjects}: {why}", width, "  ", "    ")
    if len(alike) > GAPS:
        lines += wrap(f"and {len(alike) - GAPS} more: see --format json", width, "  ", "    ")
    return lines


def gaps_alike(gaps: Iterable[Gap]) -> dict[tuple[str, str], list[Gap]]:
    """Return the gaps by reason and by what would fill them, both as they hold for all of them."""
    alike: dict[tuple[str, str], list[Gap]] = defaultdict(list)
    for gap in gaps:
        alike[gap.reason, _of_each(gap)].append(gap)
    return {
        (reason, needs if len(same) > 1 else same[0].needs): same
        for (reason, needs), same in alike.items()
    }


def _of_each(gap: Gap) -> str:
    """Return what would fill a gap in the words for several guests: "on /vms/VMID"."""
    ident = gap.subject.rpartition("/")[2]
    return re.sub(rf"/vms/{re.escape(ident)}(?![0-9])", "/vms/VMID", gap.needs[:1000])


def _inside(guests: Iterable[Guest], width: int) -> list[str]:
    lines = []
    for (reason, needs), probes in lacking(guests).items():
        found = sorted(set[str]().union(*probes.values()))
        subjects = listed([clean(subject, 120) for subject in found])
        what = listed([probe.replace("_", " ") for probe in sorted(probes)])
        said = f"{what}: {clean(reason)}" if reason else f"more of {what} needs {clean(needs)}"
        lines += wrap(f"{subjects}: {said}", width, "  ", "    ")
    return lines


def lacking(guests: Iterable[Guest]) -> dict[tuple[str, str], dict[str, set[str]]]:
    """Return what those who got into guests could not see there.

    By the reason or the remedy: probes, and the subjects of the guests.
    """
    found: dict[tuple[str, str], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for guest in guests:
        for probe, reason, needs in _lacks(guest):
            # What one remedy cures is one line, whatever each probe says of it.
            why = ("", needs) if needs else (reason, "")
            found[why][probe].add(guest.subject)
    return found


def _lacks(guest: Guest) -> Iterator[tuple[str, str, str]]:
    """Yield probe, reason and remedy of all that was asked for in a guest and not seen in full."""
    if not isinstance(guest.visit.inside, Known):
        return
    inside = guest.visit.inside.value
    for partial in inside.partial:
        yield partial.probe, partial.reason, partial.needs
    for field in fields(inside):
        reading = getattr(inside, field.name)
        if isinstance(reading, Missing) and reading != UNASKED:
            yield field.name, reading.reason, reading.needs


def _skips(skips: Sequence[Skip], width: int) -> list[str]:
    grouped: dict[tuple[str, str], list[Skip]] = defaultdict(list)
    for skip in skips:
        grouped[skip.reason, skip.needs].append(skip)
    lines = []
    for (reason, needs), alike in sorted(grouped.items()):
        codes = ", ".join(sorted({skip.code for skip in alike}))
        subjects = listed(sorted({clean(skip.subject, 120) for skip in alike}))
        lines += wrap(f"{_why(reason, needs)}: {codes} for {subjects}", width, "  ", "    ")
    return lines


def _remarks(guests: Iterable[Guest], width: int) -> list[str]:
    texts = remarked(guests)
    lines = []
    for text, found in list(texts.items())[:LISTED]:
        subjects = listed([clean(subject, 120) for subject in found])
        lines += wrap(f"{subjects}: {text}", width, "  ", "    ")
    if len(texts) > LISTED:
        lines += wrap(f"and {len(texts) - LISTED} more: see --format json", width, "  ", "    ")
    return lines


def remarked(guests: Iterable[Guest]) -> dict[str, list[str]]:
    """Return what was noticed that no rule makes a finding of, with the guests' subjects."""
    texts: dict[str, list[str]] = defaultdict(list)
    for guest in guests:
        specs = [guest.configured, *([guest.pending] if guest.pending else [])]
        remarks = [*guest.remarks, *(remark for spec in specs for remark in spec.remarks)]
        for text in dict.fromkeys(item.text for item in remarks if item.kind in REMARKS):
            texts[text].append(guest.subject)
    return texts


def _accepted(accepted: Sequence[Accepted], width: int) -> list[str]:
    lines = []
    for item in accepted:
        until = f" (until {item.expires})" if item.expires else ""
        text = f"{item.finding.code} {clean(item.finding.subject, 120)}: {item.reason}{until}"
        lines += wrap(text, width, "  ", "    ")
    return lines


def _why(reason: str, needs: str) -> str:
    return f"{clean(reason)} (needs {clean(needs)})" if needs else clean(reason)
