"""What a change buys each encrypted workload that was found in a guest."""

from __future__ import annotations

from collections.abc import Iterator

from unmask.crypto.sentence import percent
from unmask.engine import figures
from unmask.model.change import Gain
from unmask.model.change_case import ChangeCase
from unmask.model.outlook import Outlook, Status
from unmask.model.workload import NOT_AFFECTED, JudgedWorkload
from unmask.rules import _gain, _words

RANKS = (Status.SOFTWARE, Status.PARTIAL, Status.HARDWARE)
FASTER = 1.2
"""How much more of the speed has to be kept for a change to be worth telling as one."""


def gains(change: ChangeCase) -> tuple[Gain, ...]:
    """Return one gain a workload, in their order."""
    pairs = zip(change.now.workloads, change.then.workloads, strict=True)
    return tuple(_gained(change, before, after) for before, after in pairs)


def _gained(change: ChangeCase, before: JudgedWorkload, after: JudgedWorkload) -> Gain:
    workload = before.workload
    helps = _better(before.outlook, after.outlook)
    return Gain(
        workload=f"{workload.kind.value} {workload.name}".strip(),
        before=_told(before),
        after=_told(after),
        helps=helps,
        why=" ".join(_why(change, before, after, helps=helps)),
    )


def _told(item: JudgedWorkload) -> str:
    """Return the status and the speed kept: "software, keeps 0.7 %"."""
    outlook = item.outlook
    slow = outlook is not None and outlook.status in (Status.SOFTWARE, Status.PARTIAL)
    if outlook is None or not slow or outlook.factor is None:
        return item.status
    return f"{item.status}, keeps {percent(outlook.factor)}"


def _better(before: Outlook | None, after: Outlook | None) -> bool:
    if before is None or after is None:
        return False
    if before.status not in RANKS or after.status not in RANKS:
        return False
    if before.status is not after.status:
        return RANKS.index(after.status) > RANKS.index(before.status)
    if before.measured_here and after.measured_here:
        return (after.factor or 0) > (before.factor or 0) * FASTER
    if before.of_best is None or after.of_best is None:
        return False
    return after.of_best > before.of_best * FASTER


def _worse(before: Outlook | None, after: Outlook | None) -> bool:
    return _better(after, before)


def _why(
    change: ChangeCase, before: JudgedWorkload, after: JudgedWorkload, *, helps: bool
) -> Iterator[str]:
    outlook = after.outlook
    if after.status == NOT_AFFECTED or outlook is None:
        yield "No CPU flag decides its speed." if after.status == NOT_AFFECTED else ""
        return
    if _worse(before.outlook, outlook):
        yield "It becomes slower."
    yield from figures.gained(change.now, change.then, before, outlook)
    if outlook.status is Status.HARDWARE:
        if not helps:
            yield "It has what it needs already."
        return
    if outlook.missing:
        missing = _words.flags(outlook.missing)
        yield f"It still lacks {missing}{'' if helps else ', so that this does almost nothing'}."
        gain = _gain.of(change.then, after.workload, outlook)
        if gain and gain.wanted:
            yield "--cpu recommended shows what it needs."
        elif gain and gain.lacking:
            yield f"Its host itself has no {_words.flags(gain.lacking)}."
