"""From a CPU specification and a host to what the guest sees.

Flags of named models come from QEMU's own definitions (`unmask.cpu.catalogue`), never from
libvirt's CPU map, which differs (it has no PCLMULQDQ in Westmere, for one).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from unmask.cpu import catalogue, levels
from unmask.cpu.passthrough import WITHHELD, gives
from unmask.model.cpu import (
    Accelerator,
    CpuSpec,
    FeatureView,
    HostCpu,
    HypervisorCpu,
    Mode,
    RemarkKind,
    State,
)
from unmask.model.reading import Known, Reading

X86 = ("x86_64", "i686")


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a specification is resolved: architecture, accelerator, host, hypervisor's offers."""

    arch: str
    accelerator: Accelerator
    host: HostCpu | None
    offers: tuple[HypervisorCpu, ...] = ()
    qemu: str = ""

    @property
    def emulated(self) -> bool:
        """Return whether QEMU's TCG makes the CPU."""
        return self.accelerator is Accelerator.TCG


@dataclass(frozen=True, slots=True)
class Draft:
    """A view in the making: what is surely shown, what is otherwise, and the state of the rest."""

    label: str
    model: str
    shown: frozenset[str]
    rest: State
    other: tuple[tuple[str, State], ...] = ()
    lost: frozenset[str] = frozenset()
    starts: bool = True
    steps: tuple[str, ...] = ()

    def noting(self, *steps: str) -> Draft:
        """Return this draft with more steps."""
        return replace(self, steps=self.steps + steps)


def resolve(
    spec: CpuSpec,
    arch: str,
    accelerator: Accelerator,
    host: Reading[HostCpu],
    offers: tuple[HypervisorCpu, ...] = (),
    qemu: str = "",
) -> FeatureView:
    """Return what a guest with `spec` sees on `host`.

    Args:
        spec: The CPU as configured or as the running process has it.
        arch: QEMU's name of the guest's architecture.
        accelerator: What runs the guest's instructions.
        host: The physical CPU; a `Missing` one leaves host-dependent flags in the state HOST.
        offers: The hypervisor's own answers for that host, used for host-model.
        qemu: QEMU's version there, "" if not known; what TCG implements depends on it.
    """
    known = host.value if isinstance(host, Known) else None
    where = Setting(arch, accelerator, known, offers, qemu)
    draft = _draft(spec, where)
    if spec.remarked(RemarkKind.NO_START):
        draft = replace(draft, starts=False)
    return _view(spec, where, draft)


def _draft(spec: CpuSpec, where: Setting) -> Draft:
    match spec.mode:
        case Mode.NONE:
            return _shared(spec, where)
        case Mode.UNKNOWN:
            return _unknown(spec, "the CPU could not be determined")
        case Mode.HOST_MODEL:
            return _host_model(spec, where)
    if where.arch not in X86:
        return _foreign(spec, where)
    match spec.mode:
        case Mode.HOST:
            return _passthrough(spec, where)
        case Mode.MAXIMUM:
            return _maximum(spec, where)
    return _named(spec, where)


def _view(spec: CpuSpec, where: Setting, draft: Draft) -> FeatureView:
    states = dict.fromkeys(draft.shown, State.SHOWN) | dict(draft.other)
    x86 = where.arch in X86
    sure = frozenset(flag for flag, state in states.items() if state is State.SHOWN)
    open_ended = draft.rest is not State.HIDDEN or any(
        state in (State.HOST, State.UNKNOWN) for _, state in draft.other
    )
    level = levels.level(sure) if x86 and (sure or not open_ended) else None
    return FeatureView(
        arch=where.arch,
        accelerator=where.accelerator,
        label=draft.label,
        model=draft.model,
        vendor=_vendor(spec, where, draft.model),
        states=states,
        rest=draft.rest,
        level=level,
        level_certain=level is not None and (level == 4 or not open_ended),
        lost=draft.lost,
        starts=draft.starts,
        steps=spec.steps + draft.steps,
    )


def _vendor(spec: CpuSpec, where: Setting, model: str) -> str:
    """KVM shows the host's vendor unless one is given; TCG shows the model's own."""
    given = dict(spec.properties).get("vendor", "")
    if given:
        return given
    if where.emulated:
        known = catalogue.find(model)
        return known.vendor if known else ""
    return where.host.vendor if where.host else ""


def _shared(spec: CpuSpec, where: Setting) -> Draft:
    """A container runs on the host's own CPU: every flag of the host is there."""
    step = "a container has no CPU of its own: it runs on the host's"
    if where.host is None:
        return Draft(spec.label, "", frozenset(), State.HOST, steps=(step,))
    rest = State.HIDDEN if where.host.complete else State.UNKNOWN
    return Draft(spec.label, "", where.host.flags, rest, steps=(step,))


def _unknown(spec: CpuSpec, reason: str) -> Draft:
    """Only what the specification itself names is known."""
    other = tuple((flag, State.HIDDEN) for flag in sorted(spec.off))
    return Draft(spec.label, spec.model, spec.on - spec.off, State.UNKNOWN, other, steps=(reason,))


def _foreign(spec: CpuSpec, where: Setting) -> Draft:
    """Another architecture than x86: only a passed-through host says anything about flags."""
    passes = spec.mode in (Mode.HOST, Mode.MAXIMUM) and where.accelerator is Accelerator.KVM
    if not passes:
        step = f"{where.arch} models are not in the catalogue: x86 flags do not apply to them"
        return Draft(spec.label, spec.model, frozenset(), State.UNKNOWN, steps=(step,))
    if where.host is None or where.host.arch != where.arch:
        step = "KVM passes the host's CPU through, and the host's flags are not known"
        return Draft(_host_label(spec, None), "", frozenset(), State.HOST, steps=(step,))
    rest = State.HIDDEN if where.host.complete else State.UNKNOWN
    step = "KVM passes the host's CPU through"
    return Draft(_host_label(spec, where.host), "", where.host.flags, rest, steps=(step,))


def _host_label(spec: CpuSpec, host: HostCpu | None) -> str:
    return f"{spec.label} ({host.model_name})" if host and host.model_name else spec.label


def _passthrough(spec: CpuSpec, where: Setting) -> Draft:
    if where.emulated:
        step = "QEMU refuses the model host without KVM: the guest does not start"
        return replace(_unknown(spec, step), starts=False)
    off = tuple((flag, State.HIDDEN) for flag in sorted(spec.off))
    if where.host is None:
        step = "the guest sees what its host can give, and the host's flags are not known"
        return Draft(_host_label(spec, None), "", frozenset(), State.HOST, off, steps=(step,))
    host = where.host
    withheld = tuple((flag, State.UNKNOWN) for flag in sorted(host.flags & WITHHELD - spec.on))
    asked = frozenset(flag for flag in spec.on if gives(flag, host.flags))
    shown = (host.flags - WITHHELD | asked | {"hypervisor"}) - spec.off
    rest = State.HIDDEN if host.complete else State.UNKNOWN
    lost = spec.on - asked if host.complete else frozenset()
    step = f"KVM passes the host's CPU through: {host.model_name or 'a CPU without a name'}"
    return Draft(
        _host_label(spec, host),
        "",
        shown,
        rest,
        withheld + off,
        lost,
        not lost or not spec.enforced,
    ).noting(step)


def _maximum(spec: CpuSpec, where: Setting) -> Draft:
    if not where.emulated:
        return _passthrough(spec, where).noting("under KVM, max is the same as host")
    implemented = catalogue.emulated(where.qemu)
    shown = (implemented | spec.on & implemented) - spec.off
    step = "under TCG, max is all that QEMU implements"
    return Draft(spec.label, "", shown, State.HIDDEN, steps=(step,))


def _host_model(spec: CpuSpec, where: Setting) -> Draft:
    """libvirt expands host-model for the host on which the guest starts."""
    for offer in where.offers:
        if (offer.arch, offer.accelerator) == (where.arch, where.accelerator) and offer.host_model:
            chosen = offer.host_model
            expansion = replace(
                chosen,
                label=f"{spec.label} ({chosen.model})",
                on=(chosen.on - spec.off) | spec.on,
                off=(chosen.off - spec.on) | spec.off,
                exact=True,
            )
            step = f"libvirt expands host-model to {chosen.model} with {len(chosen.on)} more flags"
            return _named(expansion, where).noting(step)
    if where.arch not in X86:
        return _foreign(spec, where)
    if where.emulated or where.host is None:
        return replace(
            _unknown(spec, "host-model is expanded at start, for a host that is not known"),
            rest=State.HOST,
        )
    step = "host-model was not expanded by libvirt here: taken as what the host can give"
    return _passthrough(spec, where).noting(step)


def _named(spec: CpuSpec, where: Setting) -> Draft:
    known = catalogue.find(spec.model)
    if known is None:
        return _unknown(spec, f"the model {spec.model} is not in the catalogue")
    base = catalogue.under_tcg(known.defined, where.qemu) if where.emulated else known.flags
    asked = (base | spec.on) - spec.off
    draft = Draft(spec.label, spec.model, asked, State.HIDDEN, steps=(_describe(spec, len(base)),))
    draft = _optional(spec, where, draft)
    if spec.exact:
        return draft
    if dict(spec.properties).get("match") == "minimum":
        return _at_least(where, draft)
    return _limited(spec, where, draft)


def _describe(spec: CpuSpec, count: int) -> str:
    changes = [f"+{flag}" for flag in sorted(spec.on)] + [f"-{flag}" for flag in sorted(spec.off)]
    changed = " " + " ".join(changes) if changes else ""
    return f"QEMU defines {spec.model} with {count} flags{':' if changed else ''}{changed}"


def _optional(spec: CpuSpec, where: Setting, draft: Draft) -> Draft:
    wanted = spec.optional - draft.shown
    if not wanted:
        return draft
    available = _available(where)
    if available is None:
        other = tuple((flag, State.HOST) for flag in sorted(wanted))
        return replace(draft, other=draft.other + other).noting("optional flags depend on the host")
    given = frozenset(flag for flag in wanted if gives(flag, available))
    return replace(draft, shown=draft.shown | given)


def _at_least(where: Setting, draft: Draft) -> Draft:
    """match=minimum: the guest gets the model and all else that the host has."""
    step = "match=minimum: the guest gets the model and whatever else the host can give"
    if where.host is None or where.emulated:
        return replace(draft, rest=State.HOST).noting(step)
    hidden = State.HIDDEN if where.host.complete else State.UNKNOWN
    shown = draft.shown | where.host.flags - WITHHELD
    return replace(draft, shown=shown, rest=hidden).noting(step)


def _available(where: Setting) -> frozenset[str] | None:
    """Return the flags that this accelerator can give, or None where that is not known."""
    if where.emulated:
        return catalogue.emulated(where.qemu)
    if where.accelerator is Accelerator.KVM and where.host and where.host.complete:
        return where.host.flags
    return None


def _limited(spec: CpuSpec, where: Setting, draft: Draft) -> Draft:
    """Take away what the accelerator cannot give: `enforce` then forbids the start."""
    available = _available(where)
    if available is None:
        return draft.noting("the host's flags are not known: nothing is taken away")
    lost = frozenset(flag for flag in draft.shown if not gives(flag, available))
    if where.emulated:
        lost &= spec.on  # what TCG takes from the model itself is already left out of the base
    if not lost:
        return draft
    words = " ".join(sorted(lost))
    giver = "TCG does not implement" if where.emulated else "the host does not have"
    end = "so the guest does not start" if spec.enforced else "so they vanish silently"
    return replace(draft, shown=draft.shown - lost, lost=lost, starts=not spec.enforced).noting(
        f"{giver} {words}, {end}"
    )
