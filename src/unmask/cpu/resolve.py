"""From a CPU specification and a host to what the guest sees.

Flags of named models come from QEMU's own definitions (`unmask.cpu.catalogue`), never from
libvirt's CPU map, which differs (it has no PCLMULQDQ in Westmere, for one).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from unmask.cpu import catalogue, levels
from unmask.cpu.draft import Draft, Setting, unknown
from unmask.cpu.named import maximum, named
from unmask.cpu.passthrough import doubtful, gives, passed
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
            return unknown(spec, "the CPU could not be determined")
        case Mode.HOST_MODEL:
            return _host_model(spec, where)
    if not where.x86:
        return _foreign(spec, where)
    match spec.mode:
        case Mode.HOST:
            return _passthrough(spec, where)
        case Mode.MAXIMUM:
            return _maximum(spec, where)
    return named(spec, where)


def _view(spec: CpuSpec, where: Setting, draft: Draft) -> FeatureView:
    states = dict.fromkeys(draft.shown, State.SHOWN) | dict(draft.other)
    level, certain = _level(states, draft.rest) if where.x86 else (None, False)
    return FeatureView(
        arch=where.arch,
        accelerator=where.accelerator,
        label=draft.label,
        model=draft.model,
        vendor=_vendor(spec, where, draft.model),
        states=states,
        rest=draft.rest,
        level=level,
        level_certain=certain,
        lost=draft.lost,
        starts=draft.starts,
        steps=spec.steps + draft.steps,
    )


def _level(states: Mapping[str, State], rest: State) -> tuple[int | None, bool]:
    """Return the level that is surely reached (None: none surely) and whether it is the highest."""
    sure = [flag for flag, state in states.items() if state is State.SHOWN]
    possible = [flag for flag, state in states.items() if state is not State.HIDDEN]
    lowest = levels.level(sure)
    highest = levels.level(possible) if rest is State.HIDDEN else max(levels.LEVELS)
    return (lowest or None if lowest < highest else lowest), lowest == highest


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


def _foreign(spec: CpuSpec, where: Setting) -> Draft:
    """Another architecture than x86: only a passed-through host says anything about flags."""
    passes = spec.mode in (Mode.HOST, Mode.MAXIMUM) and where.accelerator is Accelerator.KVM
    if not passes:
        step = f"{where.arch} models are not in the catalogue: x86 flags do not apply to them"
        return Draft(spec.label, spec.model, frozenset(), State.UNKNOWN, steps=(step,))
    if where.host is None or where.host.arch != where.arch:
        step = "KVM passes the host's CPU through, and the host's flags are not known"
        return Draft(spec.label, "", frozenset(), State.HOST, steps=(step,))
    rest = State.HIDDEN if where.host.complete else State.UNKNOWN
    step = "KVM passes the host's CPU through"
    return Draft(spec.label, "", where.host.flags, rest, steps=(step,))


def _passthrough(spec: CpuSpec, where: Setting) -> Draft:
    if where.emulated:
        step = "QEMU refuses the model host without KVM: the guest does not start"
        return replace(unknown(spec, step), starts=False)
    host = where.host
    if host is None:
        step = "the guest sees what its host can give, and the host's flags are not known"
        draft = Draft(spec.label, "", frozenset(), State.HOST, steps=(step,))
        return draft.marking(spec.off, State.HIDDEN)
    given = frozenset(flag for flag in spec.on if gives(flag, host.flags))
    draft = Draft(
        spec.label,
        "",
        (passed(host.flags) | given) - spec.off,
        State.HIDDEN if host.complete else State.UNKNOWN,
        lost=spec.on - given if host.complete else frozenset(),
        steps=(f"KVM passes the host's CPU through: {host.model_name or 'it has no name'}",),
    )
    draft = replace(draft, starts=not (draft.lost and spec.enforced))
    return draft.marking(doubtful(host.flags) - given, State.UNKNOWN).marking(
        spec.off, State.HIDDEN
    )


def _maximum(spec: CpuSpec, where: Setting) -> Draft:
    if where.emulated:
        return maximum(spec, where)
    return _passthrough(spec, where).noting("under KVM, max is the same as host")


def _host_model(spec: CpuSpec, where: Setting) -> Draft:
    """libvirt expands host-model for the host on which the guest starts."""
    for offer in where.offers:
        if (offer.arch, offer.accelerator) == (where.arch, where.accelerator) and offer.host_model:
            chosen = offer.host_model
            expansion = replace(
                chosen,
                label=chosen.model,
                on=(chosen.on - spec.off) | spec.on,
                off=(chosen.off - spec.on) | spec.off,
                exact=True,
            )
            step = f"libvirt expands host-model to {chosen.model} with {len(chosen.on)} more flags"
            return named(expansion, where).noting(step)
    if not where.x86:
        return _foreign(spec, where)
    if where.emulated or where.host is None:
        return replace(
            unknown(spec, "host-model is expanded at start, for a host that is not known"),
            rest=State.HOST,
        )
    step = "host-model was not expanded by libvirt here: taken as what the host can give"
    return _passthrough(spec, where).noting(step)
