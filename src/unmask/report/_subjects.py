"""What findings are about: each guest, host and cluster of a document, with where it belongs."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.model.finding import About
from unmask.model.report import Document


@dataclass(frozen=True, slots=True)
class Subject:
    """One guest, host or cluster."""

    about: About
    subject: str
    """As the inventory has it: "homelab/101"."""
    name: str = ""
    node: str = ""
    """The host's subject; "" for a cluster."""
    cluster: str = ""
    site: str = ""
    location: str = ""
    """Where a guest's configuration was read; "" for others."""


class Subjects:
    """All of a document, by what rules look at, each in the order of the inventory."""

    def __init__(self, document: Document) -> None:
        """Look through the document's inventory."""
        clusters = {item.subject: item.cluster for item in document.inventory.hosts}
        self.by_about: dict[About, tuple[Subject, ...]] = {
            About.GUEST: tuple(
                Subject(
                    About.GUEST,
                    case.guest.subject,
                    case.guest.name,
                    case.guest.host,
                    case.cluster.subject if case.cluster else clusters.get(case.guest.host, ""),
                    case.guest.site,
                    case.guest.location,
                )
                for case in document.cases
            ),
            About.HOST: tuple(
                Subject(About.HOST, host.subject, host.name, host.subject, host.cluster, host.site)
                for host in document.inventory.hosts
            ),
            About.CLUSTER: tuple(
                Subject(About.CLUSTER, item.subject, item.name, "", item.subject, item.site)
                for item in document.inventory.clusters
            ),
        }
        self._rules = {rule.code: rule.about for rule in document.rules}
        self._known = {
            (about, item.subject): item for about, items in self.by_about.items() for item in items
        }

    def of(self, code: str, subject: str) -> Subject:
        """Return what a rule's finding or skip is about.

        Where the rule is not among the document's, the first thing of that name is meant; what is
        not in the inventory is taken for a guest.
        """
        order = [self._rules[code]] if code in self._rules else []
        for about in (*order, *self.by_about):
            if (about, subject) in self._known:
                return self._known[about, subject]
        return Subject(About.GUEST, subject)
