"""What a new node would do to a baseline: flags and models lost, and guests that it cannot run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from unmask.cpu import baseline as common_ground
from unmask.cpu.node_flags import lacking, node, sure
from unmask.cpu.resolve import resolve
from unmask.engine import needs
from unmask.model.baseline import Arrival, Baseline, Node, Stopped, UnknownNode, Verdict
from unmask.model.case import GuestCase
from unmask.model.cpu import FeatureView, Mode, State
from unmask.model.inventory import Host
from unmask.model.reading import Missing

UNSEEN = Missing("its host does not matter here")
ALIKE = "It is taken to run the same hypervisor and QEMU as {}."
FROM_HOST = (Mode.HOST, Mode.HOST_MODEL, Mode.MAXIMUM)


def arrival(
    found: Baseline,
    new: Host,
    cases: Sequence[GuestCase],
    *,
    windows: bool = False,
    spoken: frozenset[str] | None = None,
) -> Arrival:
    """Return what becomes of `found` when `new` is one of its nodes.

    Args:
        found: The baseline without it.
        new: The new node. It is taken to have the hypervisor and QEMU of the first of the others.
        cases: The guests that are now on the nodes of `found`.
        windows: Whether Windows guests are among them.
        spoken: See `node_flags.node`.
    """
    like = found.nodes[0].host if found.nodes else None
    place = node(new, spoken)
    if like is not None:
        new = replace(new, platform=like.platform, software=like.software)
        place = replace(place, host=new)
    after = common_ground.of_nodes([*found.nodes, place], found.needs, windows=windows)
    before = common_ground.running(found.models)
    verdicts = {
        fit.name: {item.verdict for item in fit.obstacles if item.node == new.name}
        for fit in after.models
    }
    gone = {fit.name for fit in before if Verdict.LACKS in verdicts.get(fit.name, {Verdict.LACKS})}
    unsure = {fit.name for fit in before if Verdict.UNKNOWN in verdicts.get(fit.name, ())}
    known = isinstance(place, Node)
    lost = lacking(place, found.common) if isinstance(place, Node) else frozenset()
    kept = frozenset(f for f in found.common if sure(place, f)) if isinstance(place, Node) else ()
    remarks = [ALIKE.format(like.name)] if like else []
    remarks += [said for said in after.remarks if said not in found.remarks]
    return Arrival(
        node=new.name,
        flags_lost=tuple(sorted(lost)),
        flags_open=tuple(sorted(found.common - lost - set(kept))),
        level_before=found.level,
        level_after=after.level if known else None,
        models_lost=tuple(fit.name for fit in before if known and fit.name in gone),
        models_open=tuple(fit.name for fit in before if not known or fit.name in unsure),
        best_before=found.best.name if found.best else "",
        best_after=after.best.name if known and after.best else "",
        guests=tuple(_stopped(place, cases)),
        remarks=tuple(remarks),
        known=known,
    )


def _stopped(place: Node | UnknownNode, cases: Sequence[GuestCase]) -> Iterator[Stopped]:
    if isinstance(place, UnknownNode):
        return
    for case in cases:
        if needs.counted(case):
            said = _on(place, case)
            if said:
                yield said


def _on(place: Node, case: GuestCase) -> Stopped | None:
    """Return what becomes of one guest's next start on the new node."""
    guest = case.guest
    spec = guest.pending or guest.configured
    told = Stopped(guest.subject, guest.name, starts=False, flags=(), reason="")
    if place.arch not in ("x86_64", "i686"):
        return replace(told, reason=f"needs an x86 CPU, not {place.arch}")
    if spec.mode in FROM_HOST:
        flags = sorted(lacking(place, _shown(case.pending or case.view)))
        if not flags:
            return None
        reason = f"gets the CPU of its node ({spec.label}) and would lose {' '.join(flags)}"
        return replace(told, starts=True, flags=tuple(flags), reason=reason)
    if spec.mode is not Mode.MODEL:
        return None
    asked = resolve(spec, guest.arch, case.view.accelerator, UNSEEN)
    refused = dict(place.usable).get(spec.model) is False
    flags = sorted(lacking(place, _shown(asked)))
    if not flags and not refused:
        return None
    what = f"wants {' '.join(flags)}" if flags else f"wants {spec.model}, which cannot run there"
    end = "so it does not start there" if spec.enforced else "which vanish silently there"
    return replace(told, starts=not spec.enforced, flags=tuple(flags), reason=f"{what}, {end}")


def _shown(view: FeatureView) -> frozenset[str]:
    return frozenset(flag for flag, state in view.states.items() if state is State.SHOWN)
