"""What the settings of `openssl speed`, held against each other, tell about its AES code.

The limits come from what each view of one CPU was measured to do (crypto/data/SOURCES.md; the same
again on a Zen 5), as ratios of rates under two settings:

| what is in use | CTR, XTS plain / masked | GCM plain / without PCLMULQDQ | GCM / CTR |
| AES-NI and PCLMULQDQ | 16 to 60 | 6 to 25 | 0.48 to 2.3 |
| AES-NI alone | 16 to 60 | 1 | 0.07 to 0.13 |
| neither | 1 | 1 | 0.5 to 0.9 |

Forced, a CPU whose AES is hidden is 13 to 30 times as fast, and one whose PCLMULQDQ is hidden 5 to
7 times, in GCM only. Where nothing is hidden, forcing makes it slower (0.2 to 0.8), as it goes
without AVX. So a factor of two parts all of these with room for noise on both sides.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from unmask.crypto import ciphers
from unmask.measure.statistics import Series, series
from unmask.model.bench import (
    FORCED,
    MASKED,
    PLAIN,
    WITHOUT_PCLMULQDQ,
    BenchResult,
    Ended,
    Tool,
)

FASTER = 2.0
"""Ratio from which one setting is faster than another."""
EQUAL = 1.4
"""Ratio up to which they are the same."""
SURELY = 1.2
"""What the slowest run of the faster and the fastest run of the slower have to be apart."""
WIDE = 3.0
"""Up to which the fastest run of one and the slowest of the other may be apart in equal ones."""
AES_WITHOUT_GHASH = 1.6
"""GCM without PCLMULQDQ against GCM without both, from which AES-NI is in use: 2.1 to 5.3 where it
is, since all that differs is AES; 1.0 where it is not."""
GCM_ALONE = 8.0
"""GCM plain against masked, from which PCLMULQDQ is in use: with AES-NI alone it is 2.1 to 5.3."""
GHASH_FAST = 0.35
"""GCM against CTR, from which GHASH is done by PCLMULQDQ."""
GHASH_SLOW = 0.25


class Answer(StrEnum):
    """What figures say to a question."""

    YES = "yes"
    NO = "no"
    UNCLEAR = "unclear"
    """They lie between, or too far apart."""
    UNTOLD = "untold"
    """Nothing was measured that would tell."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """Two settings of one algorithm, the first against the second."""

    upper: Series
    lower: Series

    @property
    def value(self) -> float:
        """Return by how much the first is faster, by medians."""
        return self.upper.per_second / self.lower.per_second

    @property
    def fastest(self) -> float:
        """Return the same by the fastest run of each.

        Whatever disturbs a run makes it slower: of a few runs on a busy machine the fastest one
        says more than the one in the middle.
        """
        upper, lower = self.upper, self.lower
        return (upper.high or upper.per_second) / (lower.high or lower.per_second)

    @property
    def least(self) -> float:
        """Return the same by the slowest of the first and the fastest of the second."""
        return (self.upper.low or 0.0) / (self.lower.high or 1.0)

    @property
    def most(self) -> float:
        """Return the same by the fastest of the first and the slowest of the second."""
        return (self.upper.high or 0.0) / (self.lower.low or 1.0)


class Figures:
    """The figures of OpenSSL's own AES code in one benchmark."""

    def __init__(self, result: BenchResult) -> None:
        own = [
            sample
            for sample in result.samples
            if sample.tool is Tool.OPENSSL and not sample.engine and sample.evp is not False
        ]
        self.all = series(own)
        self._replaced = bool(result.environment.override)
        """Each masked run was without the variable that the login sets, so that one may show what
        another hides."""
        self._by = {(one.algorithm, one.setting): one for one in self.all}
        names = dict.fromkeys(one.algorithm for one in self.all)
        aes = [name for name in names if name.startswith("aes")]
        self.gcm = tuple(name for name in aes if ciphers.family(name) == "gcm")
        self.other = tuple(name for name in aes if ciphers.family(name) not in ("gcm", "ccm"))
        """Modes whose speed hangs on AES alone."""

    def get(self, algorithm: str, setting: str = PLAIN) -> Series | None:
        """Return a series that has a figure."""
        found = self._by.get((algorithm, setting))
        return found if found and found.rate is not None else None

    def ratios(self, algorithms: Iterable[str], upper: str, lower: str) -> list[Ratio]:
        """Return one setting against another, for each algorithm that has both."""
        pairs = ((self.get(name, upper), self.get(name, lower)) for name in algorithms)
        return [Ratio(one, two) for one, two in pairs if one and two and one.block == two.block]

    def aes(self) -> Answer:
        """Return whether AES-NI is in use."""
        told = faster(self.ratios(self.other, PLAIN, MASKED))
        if told in (Answer.YES, Answer.NO):
            return told
        kept = [] if self._replaced else self.ratios(self.gcm, WITHOUT_PCLMULQDQ, MASKED)
        by_gcm = faster(kept, AES_WITHOUT_GHASH)
        if by_gcm is not Answer.UNTOLD:
            return by_gcm
        whole = self.ratios(self.gcm, PLAIN, MASKED)
        return faster(whole) if told is Answer.UNTOLD else told

    def pclmulqdq(self) -> Answer:
        """Return whether PCLMULQDQ is in use, where AES-NI is."""
        told = faster(self.ratios(self.gcm, PLAIN, WITHOUT_PCLMULQDQ))
        if told in (Answer.YES, Answer.NO):
            return told
        shares = [
            gcm.per_second / ctr.per_second
            for name in self.gcm
            for other in self.other
            if ciphers.family(other) == "ctr" and bits(name) == bits(other)
            if (gcm := self.get(name)) and (ctr := self.get(other)) and gcm.block == ctr.block
        ]
        if shares:
            share = statistics.median(shares)
            if share >= GHASH_FAST:
                return Answer.YES
            return Answer.NO if share <= GHASH_SLOW else Answer.UNCLEAR
        whole = self.ratios(self.gcm, PLAIN, MASKED)
        if whole and statistics.median(ratio.value for ratio in whole) >= GCM_ALONE:
            return Answer.YES
        return Answer.UNCLEAR if told is Answer.UNCLEAR or whole else Answer.UNTOLD

    def forced_aes(self) -> Answer:
        """Return whether forcing AES-NI makes the modes faster that need it alone."""
        return faster(self.ratios(self.other, FORCED, PLAIN))

    def forced_gcm(self) -> Answer:
        """Return whether forcing AES-NI and PCLMULQDQ makes GCM faster."""
        return faster(self.ratios(self.gcm, FORCED, PLAIN))

    def illegal(self, algorithms: Iterable[str]) -> bool:
        """Return whether the forced run of one of these died of an illegal instruction."""
        found = (self._by.get((name, FORCED)) for name in algorithms)
        return any(one is not None and one.ended is Ended.ILLEGAL for one in found)

    def best(self) -> Series | None:
        """Return the fastest plain AES series, which says most about the CPU."""
        found = (self.get(name) for name in (*self.gcm, *self.other))
        return max(filter(None, found), key=lambda one: one.per_second, default=None)


def bits(algorithm: str) -> str:
    """Return the key's length in an algorithm's name: "256"."""
    return next((part for part in algorithm.split("-") if part.isdigit()), "")


def faster(ratios: list[Ratio], limit: float = FASTER) -> Answer:
    """Return whether the first setting is faster, by the algorithm in the middle."""
    if not ratios:
        return Answer.UNTOLD
    middle = sorted(ratios, key=lambda ratio: ratio.fastest)[len(ratios) // 2]
    if middle.fastest >= limit and middle.least >= SURELY:
        return Answer.YES
    if middle.fastest <= min(EQUAL, limit) and middle.most <= WIDE:
        return Answer.NO
    return Answer.UNCLEAR
