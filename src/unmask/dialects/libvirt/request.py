"""What a `<cpu>` asks for, literally, and whether two of them ask for different CPUs.

libvirt shows three forms of a running domain's CPU: what it asked QEMU for at start (MIGRATABLE),
what QEMU made of it (live), and what is configured for the next start (inactive). The live form
always differs from the inactive one, since QEMU's own additions are listed in it, so a change that
waits for a restart is looked for with care: nothing is said where it cannot be told.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from unmask.dialects.libvirt import cpu_map, policies
from unmask.dialects.libvirt.policies import Policies
from unmask.dialects.libvirt.xml import text_of

if TYPE_CHECKING:
    from unmask.dialects.libvirt.xml import Element


class Change(Enum):
    """Whether a configured CPU differs from the one that the guest was started with."""

    NONE = "none"
    WAITING = "waiting"
    UNSURE = "unsure"


@dataclass(frozen=True, slots=True)
class Request:
    """One `<cpu>` and `-cpu`, as far as they choose what the guest sees."""

    mode: str = "custom"
    model: str = ""
    match: str = "exact"
    vendor: str = ""
    """The CPUID vendor that the guest is to see, where one is given."""
    listed: Policies = field(default_factory=Policies)
    raw: str = ""
    """The `-cpu` of `<qemu:commandline>`, which replaces all the others."""

    @property
    def expanded_at_start(self) -> bool:
        """Return whether libvirt writes something else into the running domain."""
        return self.mode == "host-model" or self.match == "minimum"


def read(cpu: Element | None, raw: str, *, x86: bool) -> Request:
    """Return what a `<cpu>` and a raw `-cpu` ask for; None is a domain without `<cpu>`."""
    if cpu is None:
        return Request(raw=raw)
    model = cpu.find("model")
    return Request(
        mode=cpu.get("mode", "custom"),
        model=text_of(cpu, "model"),
        match=cpu.get("match", "exact"),
        vendor=model.get("vendor_id", "") if model is not None else "",
        listed=policies.read(cpu, x86=x86, live=True),
        raw=raw,
    )


def since_start(started: Request, configured: Request) -> Change:
    """Compare the CPU asked for at start with the one that is configured now."""
    if started.raw or configured.raw:
        return Change.NONE if started.raw == configured.raw else Change.WAITING
    if configured.expanded_at_start:
        return Change.UNSURE if started.mode == "custom" else _changed(started != configured)
    same_words = (started.mode, started.model, started.vendor) == (
        configured.mode, configured.model, configured.vendor,
    )  # fmt: skip
    open_flags = configured.listed.optional
    own = open_flags | cpu_map.WITHDRAWN
    same_flags = (
        started.listed.on - open_flags == configured.listed.on - open_flags
        and started.listed.off - own == configured.listed.off - own
    )
    return _changed(not (same_words and same_flags))


def since_live(live: Request, configured: Request) -> Change:
    """Compare a running CPU, with all that QEMU added, with the one that is configured now.

    Used where a read-only connection keeps the request at start to itself. Only what QEMU cannot
    have made is taken for a change; features that were taken out of the configuration are not seen.
    """
    if live.raw or configured.raw:
        return Change.NONE if live.raw == configured.raw else Change.WAITING
    if configured.expanded_at_start:
        return Change.UNSURE if live.mode == "custom" else Change.WAITING
    if (live.mode, live.model, live.vendor) != (
        configured.mode, configured.model, configured.vendor,
    ):  # fmt: skip
        return Change.WAITING
    if live.mode != "custom":
        return since_start(live, configured)
    return _since_live_model(live.listed, configured.listed, cpu_map.flags(live.model))


def _since_live_model(
    live: Policies, configured: Policies, by_map: frozenset[str] | None
) -> Change:
    """What was asked for and could not be had is listed as disabled; all else is as asked."""
    if by_map is None:
        return Change.UNSURE
    shown = (by_map - live.off) | live.on
    never_asked = configured.on - shown - live.off
    still_shown = configured.off & shown
    return Change.WAITING if never_asked or still_shown else Change.UNSURE


def _changed(differs: bool) -> Change:  # noqa: FBT001 - the one thing it converts
    return Change.WAITING if differs else Change.NONE
