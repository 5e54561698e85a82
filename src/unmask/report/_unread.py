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
from unmask.report._detail import HOW, Detail
from unmask.report._paint import Paint
from unmask.report._text import clean, listed, reasoned, shorten, wrap

REMARKS = (RemarkKind.UNRESOLVED, RemarkKind.NOTE)
"""Remarks that no rule turns into a finding."""


def section(document: Document, width: int, paint: Paint, detail: Detail) -> list[str]:
    """Return the lines of every part that has something to say, an empty line before each."""
    outcome, inventory = document.outcome, document.inventory
    parts = (
        ("Could not be read", _gaps(inventory.gaps, detail.names)),
        ("Not seen in full inside guests", _inside(inventory.guests, detail.names)),
        ("Could not be checked", _skips(outcome.skips, detail.names)),
        ("Noticed in the configuration", _remarks(inventory.guests, detail.names)),
        ("Accepted", _accepted(outcome.accepted)),
    )
    lines = []
    for title, said in parts:
        texts = list(said)
        # One more line for one more reason would save nothing.
        cut = detail.reasons if len(texts) > detail.reasons + 1 else len(texts)
        shown = [shorten(text, detail.letters) for text in texts[:cut]]
        shown += [f"and {len(texts) - cut} more: {HOW}"] if len(texts) > cut else []
        if shown:
            lines += ["", paint.heading(title)]
        lines += [line for text in shown for line in wrap(text, width, "  ", "    ")]
    return lines


def _gaps(gaps: Sequence[Gap], names: int) -> Iterator[str]:
    """Yield a text for each reason, so that a node's hundred guests do not make a hundred."""
    for (reason, needs), same in gaps_alike(gaps).items():
        subjects = listed([clean(gap.subject) for gap in same], names)
        yield f"{subjects}: {reasoned(reason, needs)}"


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


def _inside(guests: Iterable[Guest], names: int) -> Iterator[str]:
    for (reason, needs), probes in lacking(guests).items():
        found = sorted(set[str]().union(*probes.values()))
        subjects = listed([clean(subject, 120) for subject in found], names)
        what = listed([probe.replace("_", " ") for probe in sorted(probes)])
        said = f"{what}: {clean(reason)}" if reason else f"more of {what} needs {clean(needs)}"
        yield f"{subjects}: {said}"


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


def _skips(skips: Sequence[Skip], names: int) -> Iterator[str]:
    grouped: dict[tuple[str, str], list[Skip]] = defaultdict(list)
    for skip in skips:
        grouped[skip.reason, skip.needs].append(skip)
    for (reason, needs), alike in sorted(grouped.items()):
        codes = ", ".join(sorted({skip.code for skip in alike}))
        subjects = listed(sorted({clean(skip.subject, 120) for skip in alike}), names)
        yield f"{codes} for {subjects}: {reasoned(reason, needs)}"


def _remarks(guests: Iterable[Guest], names: int) -> Iterator[str]:
    for text, found in remarked(guests).items():
        subjects = listed([clean(subject, 120) for subject in found], names)
        yield f"{subjects}: {clean(text)}"


def remarked(guests: Iterable[Guest]) -> dict[str, list[str]]:
    """Return what was noticed that no rule makes a finding of, with the guests' subjects."""
    texts: dict[str, list[str]] = defaultdict(list)
    for guest in guests:
        specs = [guest.configured, *([guest.pending] if guest.pending else [])]
        remarks = [*guest.remarks, *(remark for spec in specs for remark in spec.remarks)]
        for text in dict.fromkeys(item.text for item in remarks if item.kind in REMARKS):
            texts[text].append(guest.subject)
    return texts


def _accepted(accepted: Sequence[Accepted]) -> Iterator[str]:
    for item in accepted:
        until = f" (until {item.expires})" if item.expires else ""
        subject = clean(item.finding.subject, 120)
        yield f"{item.finding.code} {subject}: {clean(item.reason)}{until}"
