"""From the figures of a benchmark to why they are so.

Questions are asked in the order in which an answer makes the later ones idle: is it x86, is it
emulated, did PadLock do it, can this library use AES-NI at all, does it, and if not, does it when
it is forced to. What no run tells is taken from the flags, and what those do not tell is left open.
"""

from __future__ import annotations

from dataclasses import replace

from unmask.measure import _advice, _alone, _slow, _special, _verdicts
from unmask.measure._case import Case
from unmask.measure._figures import Answer
from unmask.model.bench import BenchResult, Cause, Diagnosis
from unmask.model.finding import Confidence

NESTED = "This guest's hypervisor is itself a guest: a flag has to be shown by both."


def diagnose(result: BenchResult, node: BenchResult | None = None) -> Diagnosis:
    """Return why a machine's cryptography is as fast as it is.

    Args:
        result: What was measured there, or output that was pasted. The less of it there is, the
            less is concluded: a rate alone tells AES-NI only where no software could reach it.
        node: The same benchmark on the hypervisor, where there is one: the ceiling, and what the
            silicon has.
    """
    case = Case(result, node)
    found = _diagnose(case)
    if case.nested:
        advice = (
            found.advice if found.cause is Cause.ACTIVE else (_advice.LOOK_OUTSIDE, *found.advice)
        )
        evidence = (*found.evidence, NESTED)
        found = replace(found, nested=True, evidence=evidence, advice=advice)
    return found


def _diagnose(case: Case) -> Diagnosis:
    if case.foreign:
        return _special.not_x86(case)
    if case.emulation:
        return _verdicts.emulated(case)
    return _without_judging(case) or _by_figures(case)


def _without_judging(case: Case) -> Diagnosis | None:
    """What the figures cannot say anything about; None where they can."""
    special = _special.padlock(case) or _special.engine(case)
    if special:
        return special
    if case.crashed:
        return _special.crashed(case)
    if case.nothing:
        return _special.nothing(case)
    return _special.codeless(case) if case.codeless else None


def _by_figures(case: Case) -> Diagnosis:
    if not _alone.library_figures(case.result):
        return _kernel(case)
    if case.crawls:
        return _verdicts.emulated(case)
    if mixed := _special.mixed(case):
        return mixed
    aes = case.figures.aes()
    if aes is Answer.YES:
        return _used(case)
    if aes is Answer.UNTOLD:
        return _without_mask(case)
    return _unused(case, aes)


def _used(case: Case) -> Diagnosis:
    """AES-NI is in use."""
    if case.lists_aes is False:
        return _slow.kernel_differs(case)
    match case.figures.pclmulqdq():
        case Answer.NO:
            if case.lists_pclmulqdq:
                return _slow.pclmulqdq_unused(case)
            return _verdicts.partial(case)
        case Answer.UNCLEAR:
            if case.lists_pclmulqdq is False:
                return _verdicts.partial(case)
            if case.lists_pclmulqdq is None or not case.noise.fit:
                return _verdicts.inconclusive(case, "AES-NI is used; PCLMULQDQ cannot be told")
    return _slow.slowed(case) or _verdicts.active(case)


def _unused(case: Case, aes: Answer) -> Diagnosis:
    """AES-NI is not in use, or that is not clear."""
    forced = _forced(case)
    if forced is Answer.YES:
        if case.lists_aes and aes is Answer.UNCLEAR:
            return _verdicts.inconclusive(case, "masked and plain runs lie too far apart")
        if case.lists_aes or (case.override and case.lists_aes is None):
            return _slow.unused(case, works=True)
        return _verdicts.hidden(case)
    if case.sigill:
        return _illegal(case)
    if aes is Answer.UNCLEAR:
        return _verdicts.inconclusive(case, "masked and plain runs lie too close, or too far apart")
    if case.lists_aes:
        return _slow.unused(case, works=False)
    return _by_node(case)


def _forced(case: Case) -> Answer:
    """Whether forcing helps; by GCM alone where the modes that need AES only do not tell."""
    told = case.figures.forced_aes()
    return told if told in (Answer.YES, Answer.NO) else case.figures.forced_gcm()


def _illegal(case: Case) -> Diagnosis:
    if case.shows_aes:
        return _verdicts.inconclusive(
            case, "the CPU shows AES-NI, and the forced run died of an illegal instruction"
        )
    return _verdicts.absent(case)


def _by_node(case: Case) -> Diagnosis:
    """No forced run told anything: the node's flags may."""
    if case.node_has_aes and case.shows_aes is False:
        return _verdicts.hidden(case)
    if case.node_has_aes is False:
        return _verdicts.absent(case)
    return _verdicts.software_path(case)


def _without_mask(case: Case) -> Diagnosis:
    """Nothing was masked: forced runs, flags and the rate itself have to tell."""
    forced, gcm = case.figures.forced_aes(), case.figures.forced_gcm()
    if Answer.YES in (forced, gcm):
        return _by_force(case, forced)
    if case.sigill:
        return _illegal(case)
    if case.alone is Answer.YES:
        return _by_rate(case)
    if case.alone is Answer.NO and case.lists_aes:
        return _slow.unused(case, works=False)
    if case.alone is Answer.NO or case.shows_aes is False:
        return _by_node(case)
    return _verdicts.inconclusive(case, "from one rate alone this cannot be told")


def _by_force(case: Case, forced: Answer) -> Diagnosis:
    """Forcing made it faster: all modes, or GCM alone, or only GCM was measured."""
    if forced is Answer.NO:
        return _verdicts.partial(case)
    if case.lists_aes and case.lists_pclmulqdq is False and forced is not Answer.YES:
        return _verdicts.partial(case)
    if case.lists_aes:
        return _slow.unused(case, works=True)
    found = _verdicts.hidden(case)
    told = case.shows_aes is False or forced is Answer.YES
    return found if told else replace(found, confidence=Confidence.FIRM)


def _by_rate(case: Case) -> Diagnosis:
    """The plain rate is one that software does not reach."""
    if case.lists_aes is False:
        return _slow.kernel_differs(case)
    if case.figures.pclmulqdq() is Answer.NO:
        return _verdicts.partial(case)
    return _slow.slowed(case) or _verdicts.active(case)


def _kernel(case: Case) -> Diagnosis:
    """Only the kernel was measured, or looked at."""
    told, _ = case.kernel
    if told is Answer.YES:
        return _slow.slowed(case) or _verdicts.active(case)
    if told is Answer.NO:
        if case.lists_aes:
            return _slow.unused(case, works=False)
        return _by_node(case)
    return _verdicts.inconclusive(case, "the kernel's rates alone do not tell")
