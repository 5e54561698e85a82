"""What a guest sees of a named QEMU model, within what its host or TCG can give."""

from __future__ import annotations

from dataclasses import replace

from unmask.cpu import catalogue
from unmask.cpu.draft import Draft, Setting, unknown
from unmask.cpu.passthrough import doubtful, gives, passed
from unmask.model.cpu import Accelerator, CpuSpec, State


def named(spec: CpuSpec, where: Setting) -> Draft:
    """Draft the view of a model plus and minus flags."""
    model = catalogue.find(spec.model)
    if model is None:
        return unknown(spec, f"the model {spec.model} is not in the catalogue")
    base = catalogue.under_tcg(model.defined, where.qemu) if where.emulated else model.flags
    asked = (base | spec.on) - spec.off
    step = _describe(spec, len(base))
    draft = Draft(spec.label, spec.model, asked, State.HIDDEN, steps=(step,))
    if spec.exact:
        return draft
    draft = _optional(spec, where, draft)
    if where.emulated:
        return _emulated(spec, where, draft, model.defined)
    if dict(spec.properties).get("match") == "minimum":
        return _at_least(where, draft)
    return _limited(spec, where, draft)


def maximum(spec: CpuSpec, where: Setting) -> Draft:
    """Draft the view of `max` under TCG."""
    implemented = catalogue.emulated(where.qemu)
    step = "under TCG, max is all that QEMU implements"
    draft = Draft(spec.label, "", implemented - spec.off, State.HIDDEN, steps=(step,))
    return draft.marking(_newer(where) - spec.off - implemented, State.UNKNOWN)


def _describe(spec: CpuSpec, count: int) -> str:
    changes = [f"+{flag}" for flag in sorted(spec.on)] + [f"-{flag}" for flag in sorted(spec.off)]
    changed = ": " + " ".join(changes) if changes else ""
    return f"QEMU defines {spec.model} with {count} flags{changed}"


def _optional(spec: CpuSpec, where: Setting, draft: Draft) -> Draft:
    wanted = spec.optional - draft.shown
    if not wanted:
        return draft
    available = _available(where)
    if available is None:
        return draft.marking(wanted, State.HOST).noting("optional flags depend on the host")
    given = frozenset(flag for flag in wanted if gives(flag, available))
    return replace(draft, shown=draft.shown | given)


def _available(where: Setting) -> frozenset[str] | None:
    """Return the flags that this accelerator can give, or None where that is not known."""
    if where.emulated:
        return catalogue.emulated(where.qemu)
    if where.accelerator is Accelerator.KVM and where.host and where.host.complete:
        return where.host.flags
    return None


def _at_least(where: Setting, draft: Draft) -> Draft:
    """match=minimum: the guest gets the model and all else that the host has."""
    step = "match=minimum: the guest gets the model and whatever else the host can give"
    if where.host is None:
        return replace(draft, rest=State.HOST).noting(step)
    rest = State.HIDDEN if where.host.complete else State.UNKNOWN
    shown = draft.shown | passed(where.host.flags)
    draft = replace(draft, shown=shown, rest=rest)
    return draft.marking(doubtful(where.host.flags) - shown, State.UNKNOWN).noting(step)


def _newer(where: Setting) -> frozenset[str]:
    """Return what TCG implements in some QEMU but not in all, where the version is not known."""
    if where.qemu:
        return frozenset()
    oldest, newest = catalogue.releases()[0], catalogue.releases()[-1]
    return catalogue.emulated(newest) - catalogue.emulated(oldest)


def _emulated(spec: CpuSpec, where: Setting, draft: Draft, defined: frozenset[str]) -> Draft:
    """TCG leaves out of a model what it does not implement, and of the added flags too."""
    wanted = (defined | spec.on) - spec.off
    uncertain = wanted & _newer(where)
    lost = draft.shown & spec.on - catalogue.emulated(where.qemu) - uncertain
    draft = replace(draft, shown=draft.shown - lost).marking(uncertain, State.UNKNOWN)
    return _without(spec, draft, lost, "TCG does not implement")


def _limited(spec: CpuSpec, where: Setting, draft: Draft) -> Draft:
    """Take away what the host cannot give; `enforce` then forbids the start."""
    available = _available(where)
    if available is None:
        return draft.noting("the host's flags are not known: nothing is taken away")
    lost = frozenset(flag for flag in draft.shown if not gives(flag, available))
    return _without(spec, replace(draft, shown=draft.shown - lost), lost, "the host does not have")


def _without(spec: CpuSpec, draft: Draft, lost: frozenset[str], why: str) -> Draft:
    if not lost:
        return draft
    end = "so the guest does not start" if spec.enforced else "so they vanish silently"
    draft = replace(draft, lost=lost, starts=not spec.enforced)
    return draft.noting(f"{why} {' '.join(sorted(lost))}, {end}")
