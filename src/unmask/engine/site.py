"""Sites: inventories that were collected apart, each subject with its site's name before it.

The name is put before the subjects once, where a site is collected, and saved with them. So an
audit of one site, one of several, a merged inventory and a comparison all mean the same thing by
the same subject.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from unmask.errors import UsageError
from unmask.model.inventory import Inventory
from unmask.model.reading import Known, Missing, Reading
from unmask.model.tie import Confinement

LONGEST = 64
"""Characters of a site's name: as many as a label of a host's name has, about."""
_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{LONGEST - 1}}}")


def checked(name: str) -> str:
    """Return a site's name.

    Raises:
        UsageError: It cannot be one.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name[:80]!r} cannot be a site's name: take up to {LONGEST} letters, digits, dots, "
            "hyphens and underscores, the first a letter or digit, with --site NAME"
        )
    return name


def sites(inventory: Inventory) -> tuple[str, ...]:
    """Return the sites that an inventory names, sorted."""
    return tuple(sorted(_named(inventory) - {""}))


def _named(inventory: Inventory) -> set[str]:
    """Return what the inventory's things have as their site, "" among them."""
    return (
        {item.site for item in inventory.clusters}
        | {item.site for item in inventory.hosts}
        | {item.site for item in inventory.guests}
    )


def of_site(inventory: Inventory, site: str) -> Inventory:
    """Return the inventory as that of a site; what is of a site already stays as it is.

    Raises:
        UsageError: It holds things of that site, and others of none, which would be mixed up.
    """
    told = sites(inventory)
    if site in told and "" in _named(inventory):
        raise UsageError(
            f"it holds things of the site {site} and others of no site: give those another --site"
        )
    apart = tuple(f"{name}:" for name in told)

    def name(subject: str) -> str:
        return subject if subject.startswith(apart) else f"{site}:{subject}"

    named = renamed(inventory, name)
    return replace(
        named,
        clusters=tuple(replace(item, site=item.site or site) for item in named.clusters),
        hosts=tuple(replace(item, site=item.site or site) for item in named.hosts),
        guests=tuple(replace(item, site=item.site or site) for item in named.guests),
    )


def renamed(inventory: Inventory, name: Callable[[str], str]) -> Inventory:
    """Return the inventory with another name for each subject, wherever one is referred to."""

    def other(subject: str) -> str:
        return name(subject) if subject else ""

    return replace(
        inventory,
        clusters=tuple(replace(item, subject=other(item.subject)) for item in inventory.clusters),
        hosts=tuple(
            replace(item, subject=other(item.subject), cluster=other(item.cluster))
            for item in inventory.hosts
        ),
        guests=tuple(
            replace(
                item,
                subject=other(item.subject),
                host=other(item.host),
                confined=_confined(item.confined, other),
            )
            for item in inventory.guests
        ),
        gaps=tuple(replace(item, subject=other(item.subject)) for item in inventory.gaps),
    )


def _confined(
    rules: Reading[tuple[Confinement, ...]], name: Callable[[str], str]
) -> Reading[tuple[Confinement, ...]]:
    """Return the rules with the other guests' new subjects."""
    if isinstance(rules, Missing):
        return rules
    return Known(
        tuple(
            replace(
                rule, apart=tuple(map(name, rule.apart)), together=tuple(map(name, rule.together))
            )
            for rule in rules.value
        )
    )
