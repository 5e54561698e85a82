"""Figures and sentences as diagnoses, comparisons and advice write them."""

from __future__ import annotations

from unmask.measure._figures import EQUAL, Ratio
from unmask.model.bench import FORCED, MASKED, PADLOCK, PLAIN, WITHOUT_PCLMULQDQ

SETTINGS = {
    PLAIN: "as it is",
    MASKED: "with AES-NI and PCLMULQDQ masked",
    WITHOUT_PCLMULQDQ: "with PCLMULQDQ masked",
    FORCED: "forced to use them",
    PADLOCK: "with the PadLock engine",
}


def rate(per_second: float) -> str:
    """Return a rate in MB/s (1e6 bytes), with as many digits as it bears."""
    number = per_second / 1e6
    if number >= 100:
        return f"{number:.0f} MB/s"
    return f"{number:.1f} MB/s" if number >= 1 else f"{number:.2f} MB/s"


def figure(algorithm: str, per_second: float) -> str:
    """Return a rate in the unit of what was measured: "48.44 requests/s", "866 MB/s"."""
    if algorithm.startswith("requests"):
        return f"{per_second:.2f} requests/s"
    return rate(per_second)


def times(factor: float) -> str:
    """Return a factor: "1.9 times", "46.6 times", "120 times"."""
    return f"{factor:.0f} times" if factor >= 100 else f"{factor:.1f} times"


def percent(share: float) -> str:
    """Return a share: "13 %", "0.4 %"."""
    number = share * 100
    return f"{number:.0f} %" if number >= 2 else f"{number:.1f} %"


def against(ratio: Ratio) -> str:
    """Return a ratio as evidence, the plain setting first wherever it is one of the two."""
    one, two = ratio.upper, ratio.lower
    if two.setting == PLAIN:
        one, two = two, one
    return (
        f"{one.algorithm}: {rate(one.per_second)} {SETTINGS.get(one.setting, one.setting)}, "
        f"{rate(two.per_second)} {SETTINGS.get(two.setting, two.setting)} "
        f"({_factor(ratio.value)})."
    )


def _factor(value: float) -> str:
    return "much the same" if 1 / EQUAL <= value <= EQUAL else times(value)
