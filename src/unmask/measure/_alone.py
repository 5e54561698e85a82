"""What a rate tells by itself, where nothing was masked or forced to hold it against."""

from __future__ import annotations

from collections.abc import Iterable

from unmask.crypto import drivers
from unmask.measure import statistics
from unmask.measure._figures import Answer
from unmask.measure._words import rate
from unmask.measure.statistics import Series
from unmask.model.bench import PLAIN, BenchResult, Tool
from unmask.model.outlook import Status

SURELY_HARDWARE = 1000e6
"""Bytes a second that no AES code without AES instructions does on one core. The fastest that was
measured did 480e6 (bitsliced CTR in OpenSSL 3.5 on a Zen 5)."""
LIKELY_HARDWARE = 500e6
SURELY_SOFTWARE = 60e6
"""Below it no 64-bit CPU stays that uses AES-NI: a Celeron of 1.9 GHz does 521e6 in CBC, and
GCM without PCLMULQDQ, the slowest there is with AES-NI, takes about 20 cycles a byte."""
_BEHIND = "an engine or a driver did the work"
"""What the parser notes where each call costs what no library's own code does."""
OVER_OTHERS = 2.5
"""AES against Serpent and Twofish in the kernel, from which AES instructions are in use: 3 to 10
where they are, 1 or less where they are not. It holds for slow CPUs, which a rate does not."""
LIKE_OTHERS = 1.5


def openssl(best: Series | None, *, arch: str = "x86_64") -> Answer:
    """Return whether AES instructions are in use, by the fastest plain rate alone."""
    if best is None or best.rate is None:
        return Answer.UNTOLD
    if best.rate >= LIKELY_HARDWARE:
        # Outputs of several settings or machines in one file have rates of both kinds.
        mixed = best.low is not None and best.low < min(LIKELY_HARDWARE, best.rate / 3)
        return Answer.UNCLEAR if mixed else Answer.YES
    if best.rate <= SURELY_SOFTWARE and arch in ("x86_64", ""):
        return Answer.NO
    return Answer.UNCLEAR


def kernel_rates(result: BenchResult) -> tuple[Answer, str]:
    """Return whether the kernel uses AES instructions, by `cryptsetup benchmark`, and why."""
    every = statistics.series(one for one in result.samples if one.tool is Tool.CRYPTSETUP)
    own = [one for one in every if one.algorithm.startswith("aes-") and one.rate]
    if not own:
        return Answer.UNTOLD, ""
    best = max(own, key=lambda one: one.per_second)
    text = f"cryptsetup's {best.algorithm} does {rate(best.per_second)}"
    if best.per_second >= SURELY_HARDWARE:
        return Answer.YES, f"{text}, which no software reaches."
    for one in sorted(own, key=lambda each: "-xts-" not in each.algorithm):
        mode = one.algorithm.removeprefix("aes")
        others = [_rate(every, f"{name}{mode}") for name in ("serpent", "twofish")]
        other = max((each for each in others if each), default=None)
        if other is None:
            continue
        times = one.per_second / other
        text = (
            f"cryptsetup's {one.algorithm} does {rate(one.per_second)}, {times:.1f} times what the "
            "best cipher without instructions of its own does"
        )
        if times >= OVER_OTHERS:
            return Answer.YES, f"{text}."
        return (Answer.NO if times <= LIKE_OTHERS else Answer.UNCLEAR), f"{text}."
    if best.per_second <= SURELY_SOFTWARE:
        return Answer.NO, f"{text}, as software does."
    return Answer.UNCLEAR, f"{text}, which a slow CPU with AES-NI and a fast one without can do."


def _rate(every: Iterable[Series], algorithm: str) -> float | None:
    return next((one.rate for one in every if one.algorithm == algorithm), None)


def kernel_drivers(result: BenchResult) -> tuple[Answer, str]:
    """Return the same by the drivers in /proc/crypto, and the sentence that says so."""
    said = dict(result.environment.drivers)
    for algorithm in ("xts(aes)", "gcm(aes)", "cbc(aes)", "ctr(aes)"):
        driver = said.get(algorithm, "")
        meaning = drivers.meaning(driver) if driver else Status.UNKNOWN
        if meaning in (Status.HARDWARE, Status.SOFTWARE):
            text = f"The kernel's {algorithm} runs on {driver}"
            if meaning is Status.HARDWARE:
                return Answer.YES, f"{text}, which uses AES-NI."
            return Answer.NO, f"{text}, which is software."
    return Answer.UNTOLD, ""


def nothing(result: BenchResult) -> tuple[str, ...]:
    """Return why there is no AES figure at all, a sentence each; () where there is one."""
    aes = [one for one in result.samples if one.algorithm.startswith("aes")]
    if any(one.rate is not None for one in aes if one.setting == PLAIN):
        return ()
    notes = dict.fromkeys(
        f"{one.algorithm or one.tool} ({one.setting}): {one.note or one.ended}."
        for one in aes or result.samples
        if one.rate is None
    )
    measured = [one.algorithm for one in result.samples if one.rate is not None]
    if measured and not aes:
        names = ", ".join(dict.fromkeys(measured))
        return (f"No AES was measured, only {names}.",)
    said = tuple(one.note for one in result.samples if one.note)
    own = [one for one in result.problems if not one.endswith(said)]
    reasons = (*notes, *own)
    return reasons or ("Nothing was measured.",)


def engine(result: BenchResult) -> str:
    """Return the engine that did all of the plain AES work, if it was not OpenSSL's own code."""
    runs = [one for one in result.samples if one.setting == PLAIN and one.rate is not None]
    plain = [one for one in runs if one.algorithm.startswith("aes")]
    used = {one.engine for one in plain}
    if used == {""} and all(_BEHIND in one.note for one in plain):
        return "that the output does not name"
    return used.pop() if len(used) == 1 else ""


def library_figures(result: BenchResult) -> bool:
    """Return whether OpenSSL measured any AES at all under the plain setting."""
    return any(
        one.tool is Tool.OPENSSL and one.rate is not None and one.setting == PLAIN
        for one in result.samples
        if one.algorithm.startswith("aes")
    )
