"""From the sections of one run to an `Inside`: what was read, what is missing, what is partial."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from unmask import plugins
from unmask.errors import InputError
from unmask.model.inside import Inside, Partial
from unmask.model.reading import Known, Missing
from unmask.probes._bounds import bounded
from unmask.probes._probe import Probe, Shell
from unmask.probes._section import End, Section
from unmask.probes._sections import Sections, split

ROOT = "root in the guest"
ADMINISTRATOR = "an administrator's rights in the guest"


def probes(shell: Shell = Shell.POSIX, only: Collection[str] = ()) -> tuple[Probe, ...]:
    """Return the probes for one of a guest's shells, in order of module name.

    `only` names those that are wanted; none for all.
    """
    found = plugins.load("unmask.probes", "PROBE", Probe)
    return tuple(
        probe for probe in found if probe.shell is shell and (not only or probe.name in only)
    )


def read(output: bytes, mark: str, chosen: Sequence[Probe]) -> Inside:
    """Return what the script's output says, whatever state it arrived in.

    Args:
        output: Standard output of the program that was made from `chosen` and `mark`.
        mark: The mark of that run.
        chosen: The probes of one shell.
    """
    return inside(split(output, mark, chosen), chosen)


def inside(sections: Sections, chosen: Sequence[Probe]) -> Inside:
    """Return what the sections say; a probe whose section is lacking is a `Missing`."""
    readings: dict[str, Any] = {}
    partial: list[Partial] = []
    for probe in chosen:
        section = sections.found.get(probe.name)
        reading = _reading(probe, section, whole=sections.whole)
        readings[probe.name] = reading
        if section and reading.known:
            partial.extend(_shortfalls(probe, section, root=sections.user == 0))
    root = None if sections.user is None else sections.user == 0
    return Inside(root=root, partial=tuple(partial), **readings)


def _reading(probe: Probe, section: Section | None, *, whole: bool) -> Known[Any] | Missing:
    if section is None:
        return Missing(
            "the guest's answer ended before it" if not whole else "it was not asked for"
        )
    needs = ADMINISTRATOR if probe.shell is Shell.POWERSHELL else ROOT
    if section.end is End.DENIED:
        return Missing("only root may read it", needs)
    if section.end is End.SKIPPED:
        return Missing("the guest took too long over what came before it")
    try:
        value = probe.parse(section)
    except InputError as error:
        return Missing(_reason(section, str(error)))
    if _lost(section):
        return Missing(_reason(section, "its command failed"))
    return Known(bounded(value))


def _lost(section: Section) -> bool:
    """Return whether a section is without any word because something went wrong."""
    return section.end is not End.DONE and not section.content.strip() and not section.parts


def _reason(section: Section, said: str) -> str:
    if section.end is End.LATE:
        return "the command in the guest did not end in time"
    return "the guest's answer ended in it" if section.end is End.BROKEN else said[:300]


def _shortfalls(probe: Probe, section: Section, *, root: bool) -> Iterator[Partial]:
    needs = ADMINISTRATOR if probe.shell is Shell.POWERSHELL else ROOT
    if not root and isinstance(probe.needs_root, str):
        yield Partial(probe.name, f"without root it lacks {probe.needs_root}", needs)
    if section.unreadable:
        count = len(section.unreadable)
        files = "1 file" if count == 1 else f"{count} files"
        yield Partial(probe.name, f"the user may not read {files} of it", needs)
    if section.end is End.LATE:
        yield Partial(probe.name, "the command in the guest did not end in time")
    if section.end is End.BROKEN:
        yield Partial(probe.name, "the guest's answer ended in it")
    if section.truncated:
        yield Partial(probe.name, f"the guest printed more than {probe.limit // 1024} KiB")
