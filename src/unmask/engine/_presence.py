"""Whether an audit shows something, surely does not have it, or could not have told."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from unmask.model.difference import Audit, SeenGuest, SeenHost
from unmask.model.finding import Finding, Skip
from unmask.model.inventory import Gap

BY_CONFIGURATION = frozenset({
    "CLU001", "CLU002", "CLU003", "CLU004", "CPU003", "CPU004", "CPU005", "CPU006", "CPU007",
    "CPU008", "CPU009", "CPU010", "CPU011",
})  # fmt: skip
"""Rules that say the same of a guest whether somebody has looked into it or not. Of all others a
silence is believed only where as much was seen as before."""
OF_OTHER_NODES = frozenset({"CPU005"})
"""Rules that say something of a guest by the flags of its cluster's other nodes, and are silent
where these are not known."""
UNTOLD = "unknown"
"""The state of a guest of which only the configuration was read, not what runs."""
_NUMBER = re.compile(r"\d+")


def likeness(text: str) -> str:
    """Return a sentence without its numbers, which differ from run to run."""
    return _NUMBER.sub("0", text)


@dataclass(frozen=True)
class Side:
    """One audit, and what can be looked up in it."""

    audit: Audit

    @cached_property
    def guests(self) -> dict[str, SeenGuest]:
        """Return the guests by subject."""
        return {item.subject: item for item in self.audit.guests}

    @cached_property
    def hosts(self) -> dict[str, SeenHost]:
        """Return the hosts by subject."""
        return {item.subject: item for item in self.audit.hosts}

    @cached_property
    def subjects(self) -> frozenset[str]:
        """Return everything that is there."""
        return frozenset(self.guests) | frozenset(self.hosts) | frozenset(self.audit.clusters)

    @cached_property
    def codes(self) -> frozenset[str]:
        """Return the codes of all rules that surely ran."""
        audit = self.audit
        said = {item.code for item in audit.findings} | {item.code for item in audit.skips}
        return frozenset({*audit.rules, *said, *(item.finding.code for item in audit.accepted)})

    @cached_property
    def skips(self) -> dict[tuple[str, str], str]:
        """Return why checks were skipped, by code and subject."""
        return {(item.code, item.subject): item.reason for item in self.audit.skips}

    @cached_property
    def gaps(self) -> dict[str, list[Gap]]:
        """Return the gaps by subject."""
        found: dict[str, list[Gap]] = defaultdict(list)
        for gap in self.audit.gaps:
            found[gap.subject].append(gap)
        return found

    @cached_property
    def groups(self) -> frozenset[str]:
        """Return the clusters and single hosts of which anything is there."""
        return frozenset(self.audit.clusters) | {
            host.cluster or host.subject for host in self.audit.hosts
        }

    def group(self, subject: str) -> str:
        """Return the cluster, or the single host, that something belongs to; "" if not known."""
        if subject in self.guests:
            subject = self.guests[subject].host
        if subject in self.hosts:
            return self.hosts[subject].cluster or subject
        return subject if subject in self.audit.clusters else ""

    def site(self, subject: str) -> str:
        """Return the site of a guest or host, "" for none."""
        found = self.guests.get(subject) or self.hosts.get(subject)
        return found.site if found else ""


@dataclass(frozen=True)
class Glance:
    """Looks from one audit for what another one has."""

    here: Side
    there: Side
    """The audit that has it."""
    names: Mapping[str, str]
    """What guests that are called otherwise there are called here."""

    @cached_property
    def fresh(self) -> tuple[Gap, ...]:
        """Return the gaps that only this audit has.

        What was seen over there in spite of a gap is not hidden by it here.
        """
        known = {(gap.subject, likeness(gap.reason)) for gap in self.there.audit.gaps}
        return tuple(
            gap for gap in self.here.audit.gaps if (gap.subject, likeness(gap.reason)) not in known
        )

    @cached_property
    def _sites(self) -> frozenset[str]:
        every = (*self.here.audit.hosts, *self.there.audit.hosts)
        return frozenset(host.site for host in every) - {""}

    def hidden(self, subject: str) -> str:
        """Return why something of the other audit may be here although it was not seen; else ""."""
        if subject in self.here.subjects:
            return ""
        group = self.there.group(subject)
        if subject in self.here.gaps:
            return self.here.gaps[subject][0].reason
        if group not in self.here.groups:
            return f"nothing of {group or subject} was read"
        node = self.there.guests[subject].host if subject in self.there.guests else ""
        if node in self._dimmed and not any(one.host == node for one in self.here.guests.values()):
            return f"nothing of {node} was read"
        gap = next((gap for gap in self.fresh if self._hides(gap, subject, group)), None)
        return f"{gap.subject}: {gap.reason}" if gap else ""

    @cached_property
    def _dimmed(self) -> tuple[str, ...]:
        """Return the nodes whose flags the other audit knows and this one does not."""
        here = self.here.hosts
        return tuple(
            subject
            for subject, host in sorted(self.there.hosts.items())
            if host.flags is not None and subject in here and here[subject].flags is None
        )

    def _hides(self, gap: Gap, subject: str, group: str) -> bool:
        """Return whether a gap leaves room for something of this cluster or host."""
        for side in (self.here, self.there):
            if gap.subject in side.guests:
                return False  # that guest is not what is looked for
            if gap.subject in side.subjects:
                return side.group(gap.subject) == group
        site = self.there.site(subject)
        others = (f"{name}:" for name in self._sites - {site})
        return not gap.subject.startswith(tuple(others))

    def unchecked(self, item: Finding | Skip) -> str:
        """Return why this audit, which does not have it, could not have checked it; else ""."""
        code, subject = item.code, self.names.get(item.subject, item.subject)
        if code not in self.here.codes:
            return f"{code} was not run" if self.here.audit.rules else f"whether {code} ran is open"
        hidden = self.hidden(subject) if subject not in self.here.subjects else ""
        if hidden:
            return hidden
        if (code, subject) in self.here.skips:
            return self.here.skips[code, subject]
        if code in OF_OTHER_NODES:
            group = self.here.group(subject)
            dimmed = next((node for node in self._dimmed if self.here.group(node) == group), "")
            if dimmed:
                return f"the flags of {dimmed} are not known"
        guest, earlier = self.here.guests.get(subject), self.there.guests.get(item.subject)
        if guest is None or earlier is None:
            return ""
        if guest.state == UNTOLD != earlier.state:
            return "what was read does not tell whether the guest runs, and with which CPU"
        return "" if code in BY_CONFIGURATION else less(guest, earlier)


def less(now: SeenGuest, then: SeenGuest) -> str:
    """Return why less was seen of a guest than in another audit; "" where it was not."""
    gone = then.looks - now.looks
    if "inside" in now.looks:
        if "inside" not in then.looks and not gone:
            return ""
        known = {probe for probe, _ in then.lacks} if "inside" in then.looks else set[str]()
        new = [f"{probe}: {why}" for probe, why in now.lacks if probe not in known]
        return new[0] if new else ""
    if not gone:
        return ""
    if "inside" in gone or "cpu" in gone:
        return f"nobody looked inside: {now.closed}" if now.closed else "nobody looked inside"
    return f"its {' and '.join(sorted(gone))} were not looked at"


def renamed(old: Side, new: Side) -> dict[str, str]:
    """Return the new subject of each guest that is the same under another one, by its old one.

    A libvirt domain that has moved has the subject of its new host and the UUID that it had. A
    UUID that several have tells nothing. VMIDs are given again.
    """
    before, after = _by_uuid(old.audit.guests), _by_uuid(new.audit.guests)
    return {
        before[uuid]: after[uuid]
        for uuid in sorted(before.keys() & after.keys())
        if before[uuid] not in new.guests and after[uuid] not in old.guests
    }


def _by_uuid(guests: Iterable[SeenGuest]) -> dict[str, str]:
    found: dict[str, list[str]] = defaultdict(list)
    for guest in guests:
        if guest.platform == "libvirt" and guest.ident:
            found[guest.ident].append(guest.subject)
    return {uuid: subjects[0] for uuid, subjects in found.items() if len(subjects) == 1}
