"""What the glance table says about one guest, a word or two a cell."""

from __future__ import annotations

from collections.abc import Sequence

from unmask.model.case import GuestCase
from unmask.model.cpu import CpuSpec, FeatureView, Mode, Origin, State
from unmask.model.finding import Finding
from unmask.model.inventory import Guest, GuestKind, Platform
from unmask.report._text import clean

NAME = 40
"""Characters of a name that a cell shows at most."""
DEFAULT = "*"
"""Marks a CPU that is the hypervisor's default because nothing (valid) is configured."""

WORDS = {State.SHOWN: "yes", State.HIDDEN: "no", State.HOST: "host", State.UNKNOWN: "?"}
OPEN = (State.HOST, State.UNKNOWN)
"""What is left open by a host that is not known; what the guest itself tells settles it."""
AES = {"x86_64": "aes", "i686": "aes", "aarch64": "aes"}
"""The flag behind the column AES, by architecture; others have no such flag."""
CLMUL = {"x86_64": "pclmulqdq", "i686": "pclmulqdq", "aarch64": "pmull"}


def guest(case: GuestCase) -> str:
    """Return "101 web" for Proxmox VE, the domain's name for libvirt."""
    name = clean(case.guest.name, NAME)
    if case.guest.platform is Platform.PROXMOX:
        return f"{clean(case.guest.ident, NAME)} {name}".strip()
    return name or clean(case.guest.ident, NAME)


def site(case: GuestCase) -> str:
    """Return the site that it was collected at, "-" where none was told."""
    return clean(case.guest.site, NAME) or "-"


def node(case: GuestCase) -> str:
    """Return the host's name, without its cluster's."""
    host = case.host.value.name if case.host.known else case.guest.node
    return clean(host, NAME)


def state(case: GuestCase) -> str:
    """Return whether it runs; a template is marked, and so is a container ("ct")."""
    if case.guest.template:
        return "template"
    word = str(case.guest.state)
    return f"ct {word}" if case.guest.kind is GuestKind.CONTAINER else word


def configured(case: GuestCase) -> str:
    """Return the configured CPU, and what a pending change makes of it."""
    return _change(_spec(case.guest.configured), _pending(case.guest))


def _spec(spec: CpuSpec) -> str:
    label = clean(spec.brief, NAME) or "?"
    defaulted = spec.origin is Origin.DEFAULT and spec.mode is not Mode.NONE
    return f"{label}{DEFAULT}" if defaulted else label


def _pending(guest: Guest) -> str:
    return _spec(guest.pending) if guest.pending else ""


def effective(case: GuestCase) -> str:
    """Return the CPU that the guest sees, and the one it will see after a stop and start."""
    later = clean(case.pending.label, NAME) if case.pending else ""
    return _change(clean(case.view.label, NAME) or "?", later)


def flag(case: GuestCase, flags: dict[str, str]) -> str:
    """Return yes, no, host (depends on it), ? (unknown) or n/a, now and after a stop and start."""
    later = ""
    if case.pending:
        name = flags.get(case.pending.arch)
        later = _absent(case.pending.arch) if name is None else WORDS[case.pending.state(name)]
    name = flags.get(arch(case))
    return _change(_absent(arch(case)) if name is None else WORDS[seen(case, name)], later)


def _absent(arch: str) -> str:
    return "n/a" if arch else "?"


def arch(case: GuestCase) -> str:
    """Return the architecture that the guest sees, "" where nobody knows."""
    return case.view.arch or (case.observed.arch if case.observed else "")


def seen(case: GuestCase, flag: str) -> State:
    """Return what the guest sees of a flag now."""
    state = case.view.state(flag)
    return case.observed.state(flag) if case.observed and state in OPEN else state


def leveled(case: GuestCase) -> FeatureView:
    """Return the view that tells the guest's level best: its own where the other leaves it open."""
    open_ = case.view.level is None or not case.view.level_certain
    return case.observed if case.observed and open_ else case.view


def level(case: GuestCase) -> str:
    """Return the x86-64 level: v1 to v4, "v2+" where a better host would give more, n/a, ?."""
    later = _level(case.pending) if case.pending else ""
    return _change(_level(leveled(case)), later)


def _level(view: FeatureView) -> str:
    if not view.x86:
        return "n/a" if view.arch else "?"
    if view.level is None:
        return "?"
    word = f"v{view.level}" if view.level else "<v1"
    return word if view.level_certain else f"{word}+"


def worst(findings: Sequence[Finding]) -> str:
    """Return the first finding's severity and code and how many more there are; "-" for none."""
    if not findings:
        return "-"
    more = f" +{len(findings) - 1}" if len(findings) > 1 else ""
    return f"{findings[0].problem.severity.word} {findings[0].code}{more}"


def _change(now: str, later: str) -> str:
    return f"{now} > {later}" if later and later != now else now
