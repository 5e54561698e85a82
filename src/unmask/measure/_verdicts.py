"""The diagnoses of x86 machines in words: what is in use, hidden, absent, emulated."""

from __future__ import annotations

from unmask.cpu import shown_name
from unmask.measure import _advice, _place
from unmask.measure._case import Case
from unmask.measure._figures import Answer, Ratio
from unmask.measure._words import times
from unmask.model.bench import FORCED, MASKED, PLAIN, WITHOUT_PCLMULQDQ, Cause, Diagnosis
from unmask.model.finding import Confidence


def active(case: Case) -> Diagnosis:
    """AES-NI and PCLMULQDQ are in use."""
    told = _most(case, PLAIN, MASKED)
    sure = Confidence.FIRM if told or case.lists_aes else Confidence.TENTATIVE
    if told:
        sentence = (
            f"AES-NI and PCLMULQDQ are in use: {told.upper.algorithm} is {times(told.value)} as "
            "fast as without them."
        )
    elif case.kernel[0] is Answer.YES and not case.measured():
        sentence = "The kernel uses AES instructions."
    else:
        sentence = f"AES instructions are in use: no software does {case.plain()} at this rate."
        if case.beyond_software:
            sure = Confidence.FIRM
    advice = []
    wider = case.hidden_from_openssl
    if wider:
        advice.append(
            f"The node has {', '.join(wider)} beside, which this guest does not see: a CPU type "
            "nearer to the node's own would give it the rest."
        )
    if case.lists_aes and case.kernel[0] is Answer.NO:
        advice.append(
            "OpenSSL uses what the kernel does not: see that the module aesni_intel is there and "
            "loaded, if disks are encrypted."
        )
    return Diagnosis(
        Cause.ACTIVE,
        sentence,
        case.evidence(MASKED, WITHOUT_PCLMULQDQ),
        tuple(advice),
        (_advice.MORE_PROCESSORS,),
        Confidence.CERTAIN if told and case.noise.fit else sure,
    )


def hidden(case: Case) -> Diagnosis:
    """The silicon has AES-NI and the guest does not see it."""
    told = _most(case, FORCED, PLAIN)
    if told:
        sentence = (
            f"{case.hider} hides AES-NI, and the CPU has it: forced to use it, "
            f"{told.upper.algorithm} is {times(told.value)} as fast."
        )
    else:
        sentence = "The hypervisor hides AES-NI: its node has it, and this guest does not see it."
    share = case.share_text()
    if share:
        sentence += f" It runs at {share}."
    return Diagnosis(
        Cause.HIDDEN,
        sentence,
        case.evidence(MASKED, FORCED),
        (_advice.PORTABLE, _advice.ADVISE),
        (_advice.OVERRIDE_REACH, _advice.MODULE, _advice.REBOOT, _advice.MORE_PROCESSORS),
        Confidence.CERTAIN if told else Confidence.FIRM,
    )


def absent(case: Case) -> Diagnosis:
    """The silicon has no AES-NI, or the firmware has turned it off."""
    by_node = not case.sigill
    name = case.node_name if by_node else case.model_name
    unsure = not by_node and not _place.told_what_runs_it(case.result.environment)
    sentence = "This CPU has no AES-NI, or its firmware has turned it off"
    if by_node:
        sentence = "The node itself has no AES-NI, or its firmware has turned it off"
    if shown_name.surely_has_aes(name):
        sentence += f", although every {name} has it"
    elif unsure:
        sentence += "; or it is emulated"
    return Diagnosis(
        Cause.ABSENT,
        f"{sentence}.",
        case.evidence(MASKED, FORCED),
        (_advice.FIRMWARE, _advice.ELSEWHERE),
        (_advice.SILICON, _advice.FORCING_DIES, _advice.MODULE),
        Confidence.TENTATIVE if unsure else Confidence.FIRM,
    )


def software_path(case: Case) -> Diagnosis:
    """No flag, and nothing tells whether the silicon has AES-NI."""
    told = case.figures.ratios((*case.figures.other, *case.figures.gcm), PLAIN, MASKED)
    if told:
        sentence = "AES runs in software already: masking AES-NI changes nothing."
    elif case.shows_aes is False:
        sentence = "AES runs in software: the machine sees no AES-NI."
    else:
        sentence = (
            "AES runs in software, or on an emulated CPU: AES instructions are never so slow."
        )
    firm = bool(told) or case.shows_aes is False
    return Diagnosis(
        Cause.SOFTWARE_PATH,
        sentence,
        case.evidence(MASKED),
        (_advice.MEASURE_FORCED, _advice.LOOK_AT_TYPE),
        (_advice.MODULE, _advice.MORE_PROCESSORS),
        Confidence.FIRM if firm else Confidence.TENTATIVE,
    )


def partial(case: Case) -> Diagnosis:
    """AES-NI is used, and PCLMULQDQ is hidden."""
    gcm = case.figures.gcm[-1] if case.figures.gcm else "GCM"
    sentence = f"PCLMULQDQ is hidden: AES-NI works, and {gcm} is slow because of GHASH."
    told = case.figures.ratios(case.figures.gcm, FORCED, PLAIN)
    if told:
        best = max(told, key=lambda ratio: ratio.value)
        if best.value > 1:
            sentence += f" Forced to use both it is {times(best.value)} as fast."
    return Diagnosis(
        Cause.PARTIAL,
        sentence,
        case.evidence(),
        (_advice.SHOW_PCLMULQDQ, _advice.PREFER_CHACHA),
        (_advice.LEVELS, _advice.OTHER_MODES, _advice.OVERRIDE_REACH),
        Confidence.FIRM if case.noise.fit else Confidence.TENTATIVE,
    )


def emulated(case: Case) -> Diagnosis:
    """No instruction reaches the silicon."""
    if case.emulation:
        sentence = (
            "The CPU is emulated: every instruction is, and AES flags make little difference."
        )
        lines = [f"It is emulated: {case.emulation}."]
    else:
        sentence = "The CPU is emulated, by its speed: AES-NI that is executed is never so slow."
        lines = []
    return Diagnosis(
        Cause.EMULATED,
        sentence,
        (*lines, *case.evidence(MASKED, FORCED)),
        (_advice.USE_KVM, _advice.USE_NESTING),
        (_advice.WHILE_EMULATED, _advice.OVERRIDE_REACH),
        Confidence.CERTAIN if case.emulation else Confidence.TENTATIVE,
    )


def inconclusive(case: Case, why: str) -> Diagnosis:
    """What was measured does not decide it."""
    advice = case.noise.advice or (_advice.MEASURE_MORE,)
    return Diagnosis(
        Cause.INCONCLUSIVE,
        f"This does not tell whether AES-NI is in use: {why}.",
        case.evidence(),
        advice,
        (),
        Confidence.TENTATIVE,
    )


def _most(case: Case, upper: str, lower: str) -> Ratio | None:
    """Return the ratio to speak of: of GCM with 256 bits, else the largest; only above 1.4."""
    ratios = case.figures.ratios((*case.figures.gcm, *case.figures.other), upper, lower)
    ratios = [ratio for ratio in ratios if ratio.value > 1.4]
    whole = [ratio for ratio in ratios if ratio.upper.algorithm == "aes-256-gcm"]
    return max(whole or ratios, key=lambda ratio: ratio.value, default=None)
