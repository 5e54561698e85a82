"""The diagnoses of what is not plain x86 with OpenSSL's own code: engines, ARM, old libraries."""

from __future__ import annotations

from unmask.measure import _advice, _alone
from unmask.measure._case import Case
from unmask.measure._figures import Answer, Ratio, faster
from unmask.measure._words import against, rate, times
from unmask.measure.statistics import series
from unmask.model.bench import FORCED, MASKED, PADLOCK, PLAIN, Cause, Diagnosis, Ended, Tool
from unmask.model.finding import Confidence

PASTED = "pasted"
"""The method of a result that somebody else has measured."""
_USED = 2.0
"""PadLock's engine against OpenSSL's own code, from which it does the work."""


def padlock(case: Case) -> Diagnosis | None:
    """Return what VIA's PadLock is worth here; None where its engine was not measured."""
    every = series(one for one in case.result.samples if one.tool is Tool.OPENSSL)
    by = {(one.algorithm, one.setting): one for one in every if one.rate is not None}
    pairs = [
        Ratio(one, by[name, PLAIN])
        for (name, setting), one in by.items()
        if setting == PADLOCK and (name, PLAIN) in by
    ]
    if not pairs:
        return None
    best = max(pairs, key=lambda ratio: ratio.value)
    evidence = (*(against(ratio) for ratio in pairs), *case.circumstances())
    if best.value < _USED:
        return Diagnosis(
            Cause.INCONCLUSIVE,
            f"The PadLock engine changes little: {best.upper.algorithm} is "
            f"{times(best.value)} as fast with it.",
            evidence,
            ("See that /proc/cpuinfo lists ace and ace_en: without ace_en it is turned off.",),
            (),
            Confidence.TENTATIVE,
        )
    return Diagnosis(
        Cause.SLOW,
        f"PadLock is there and only its engine uses it: {best.upper.algorithm} does "
        f"{rate(best.upper.per_second)} with it and {rate(best.lower.per_second)} without "
        f"({times(best.value)} as fast).",
        evidence,
        (_advice.PADLOCK, _advice.PADLOCK_DISKS),
        (
            "OPENSSL_ia32cap does not help: PadLock has no bit in it.",
            "GCM gains little: PadLock does ECB, CBC, CFB, OFB and CTR, and no GHASH.",
            "OpenSSL 4 does not help: it has no engines any more.",
        ),
        Confidence.CERTAIN,
    )


def engine(case: Case) -> Diagnosis | None:
    """Return that an engine did the work, which says nothing about the CPU; None without one."""
    name = _alone.engine(case.result)
    if not name or name == PADLOCK:
        return None
    return Diagnosis(
        Cause.INCONCLUSIVE,
        f"The engine {name} did the work: this says nothing about OpenSSL's own code on this CPU.",
        case.circumstances(),
        ("Measure again without an engine.",),
        (),
        Confidence.FIRM,
    )


def not_x86(case: Case) -> Diagnosis:
    """Another architecture, whose flags no CPU model hides one by one."""
    lines = []
    told = case.figures.aes()
    if told is Answer.UNTOLD:
        told = case.alone
    if told is Answer.YES:
        sentence = f"This is {case.foreign}, and its AES instructions are in use."
    elif told is Answer.NO:
        sentence = f"This is {case.foreign}, and AES runs in software."
    else:
        sentence = f"This is {case.foreign}: AES-NI and PCLMULQDQ are x86's."
    if case.lists_aes is False:
        lines.append("The kernel lists no aes.")
    advice: tuple[str, ...] = ()
    if told is not Answer.YES:
        advice = (_advice.ARM_CHACHA,)
    return Diagnosis(
        Cause.NOT_X86,
        sentence,
        (*lines, *case.evidence(MASKED)),
        advice,
        (
            "A CPU type does not help: under KVM an ARM guest has its host's own CPU.",
            _advice.MORE_PROCESSORS,
        ),
        Confidence.FIRM,
    )


def codeless(case: Case) -> Diagnosis:
    """The library, or the way it was asked, never uses AES-NI."""
    known = case.lists_aes is True
    slow = ""
    runs = [one for one in series(case.result.samples) if one.setting == PLAIN and one.rate]
    aes = [one for one in runs if one.algorithm.startswith("aes")]
    if aes:
        best = max(aes, key=lambda one: one.per_second)
        slow = f" {best.algorithm} at {rate(best.per_second)} was done in software."
    return Diagnosis(
        Cause.SLOW if known else Cause.INCONCLUSIVE,
        f"{case.codeless}{slow} It does not tell what the CPU has.",
        case.circumstances(),
        ("Measure with -evp, and with OpenSSL 1.0.1 or newer.",),
        ("Another CPU type does not help what never uses AES-NI.",) if known else (),
        Confidence.FIRM,
    )


def crashed(case: Case) -> Diagnosis:
    """The plain run died of an illegal instruction."""
    dead = next(
        one for one in case.result.samples if one.ended is Ended.ILLEGAL and one.setting == PLAIN
    )
    name = dead.algorithm or "it"
    if case.override:
        sentence = (
            f"{name} died of an illegal instruction: {case.override} forces what is not there."
        )
        advice = "Remove the variable: programs with it die on this CPU."
    else:
        sentence = f"{name} died of an illegal instruction (SIGILL), without anything being forced."
        advice = (
            "The library uses what this CPU or its system does not have: look for OPENSSL_ia32cap "
            "or OPENSSL_ppccap in the environment, for a CPU that changed by a move, and for a "
            "library built for another one."
        )
    return Diagnosis(
        Cause.ABSENT if case.override else Cause.INCONCLUSIVE,
        sentence,
        case.circumstances(),
        (advice,),
        (),
        Confidence.FIRM,
    )


def mixed(case: Case) -> Diagnosis | None:
    """Return that the masked runs were not masked, or are the others; None where they may be.

    Masking makes nothing faster. It does where the login's own variable hides more than the mask,
    which replaces it: then that variable is what there is to tell.
    """
    names = (*case.figures.gcm, *case.figures.other)
    backwards = faster(case.figures.ratios(names, MASKED, PLAIN)) is Answer.YES
    own = case.override and case.result.method != PASTED
    sure = case.beyond_software or (case.alone is Answer.YES and case.shows_aes is None)
    equal = faster(case.figures.ratios(names, PLAIN, MASKED)) is Answer.NO
    if backwards and not own:
        why = "the masked run is faster than the other, so that the two may have been mixed up"
    elif sure and equal and not backwards:
        why = "the masked run is faster than any software, so that nothing was masked in it"
    else:
        return None
    return Diagnosis(
        Cause.INCONCLUSIVE,
        f"This does not tell whether AES-NI is in use: {why}.",
        case.evidence(MASKED, FORCED),
        (_advice.MEASURE_MASKED,),
        (),
        Confidence.FIRM,
    )


def nothing(case: Case) -> Diagnosis:
    """There is no figure to judge."""
    return Diagnosis(
        Cause.INCONCLUSIVE,
        "There is no figure for AES to judge.",
        (*case.nothing, *case.circumstances()),
        ("Measure `openssl speed -evp aes-256-gcm` with 8 or 16 KiB blocks.",),
        (),
        Confidence.FIRM,
    )
