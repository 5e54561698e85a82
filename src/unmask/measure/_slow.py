"""The diagnoses of machines that have AES-NI and are slow, or whose parts differ, in words."""

from __future__ import annotations

from unmask.measure import _advice
from unmask.measure._case import Case
from unmask.measure._words import percent
from unmask.model.bench import FORCED, MASKED, Cause, Diagnosis
from unmask.model.finding import Confidence

MUCH_STEAL = 0.10
"""Share of stolen time from which it is the reason why a machine is slow."""
BELOW_NODE = 0.6
"""Share of the node's speed below which a guest that sees the same flags is slowed by something."""


def kernel_differs(case: Case) -> Diagnosis:
    """OpenSSL uses what the kernel does not list."""
    who = f"{case.override} makes OpenSSL use AES-NI" if case.override else "OpenSSL uses AES-NI"
    return Diagnosis(
        Cause.KERNEL_DIFFERS,
        f"{who}, and the kernel sees no such flag: LUKS, ZFS, Go and Java stay slow.",
        case.evidence(MASKED),
        (_advice.PORTABLE, _advice.CLEARCPUID),
        (_advice.OVERRIDE_REACH, _advice.MODULE),
        Confidence.FIRM,
    )


def unused(case: Case, *, works: bool) -> Diagnosis:
    """The flags are there and the library does not use them."""
    name = case.version if case.measured() else "The kernel"
    sentence = f"The machine sees AES-NI, and {name} does not use it."
    advice = _advice.BUILD
    if case.override:
        which = "that the machine sees" if case.lists_aes else "that the CPU has"
        sentence = f"{case.override} keeps OpenSSL from using the AES-NI {which}."
        advice = _advice.REMOVE
    elif not case.measured():
        advice = _advice.LOAD_AESNI
    elif works:
        advice = _advice.FIND_VARIABLE
    return Diagnosis(
        Cause.SLOW,
        sentence,
        case.evidence(MASKED, FORCED),
        (advice,),
        (_advice.SHOWN,),
        Confidence.FIRM,
    )


def pclmulqdq_unused(case: Case) -> Diagnosis:
    """PCLMULQDQ is shown, and GCM does without it."""
    why = f"{case.override} hides it" if case.override else "something hides it from the library"
    return Diagnosis(
        Cause.SLOW,
        f"The machine sees PCLMULQDQ, and {case.version} does not use it: {why}.",
        case.evidence(),
        (_advice.FIND_OR_BUILD,),
        (_advice.SHOWN,),
        Confidence.FIRM,
    )


def slowed(case: Case) -> Diagnosis | None:
    """Return that something else makes it slow although AES-NI is in use; None where nothing."""
    steal, share = case.steal(), case.of_node()
    if steal >= MUCH_STEAL:
        sentence = f"AES-NI is in use, and the host gives {percent(steal)} of the time to others."
        advice = _advice.LESS_TO_DO
    elif share is not None and share < BELOW_NODE and not case.hidden_from_openssl:
        sentence = (
            f"AES-NI is in use, and yet {case.plain()} runs at {percent(share)} of this node's "
            "speed."
        )
        advice = _advice.NEIGHBOURS
    else:
        return None
    return Diagnosis(
        Cause.SLOW,
        sentence,
        case.evidence(MASKED),
        (advice, *case.noise.advice),
        (_advice.SHOWN, _advice.SHARING),
        Confidence.FIRM,
    )
