"""In which flags a guest's own list and its CPU model can be held against each other.

Only instructions that programs ask for are compared. Linux lists them as CPUID has them, and hides
them only where it is told to; of timers, defences and virtualisation it adds and removes words by
itself, so that a difference there says nothing.
"""

from __future__ import annotations

import re

from unmask.cpu.levels import LEVELS
from unmask.model.cpu import FeatureView
from unmask.model.inside import Inside
from unmask.model.reading import Known

EARLY = (LEVELS[3] - LEVELS[1]) | {"aes", "pclmulqdq"}
"""Every Linux from 3.10 on has words for these (arch/x86/include/asm/cpufeature.h)."""
LATE = (LEVELS[4] - LEVELS[3]) | {"gfni", "sha_ni", "vaes", "vpclmulqdq"}
"""Every Linux from 4.16 on has words for these; the youngest came with 4.15."""
OLDEST, LATER = (3, 10), (4, 16)
WITH_XSAVE = (LEVELS[4] - LEVELS[2] | {"vaes", "vpclmulqdq"}) - {
    "abm", "bmi1", "bmi2", "movbe", "xsave",
}  # fmt: skip
"""Linux uses and lists these only where it uses XSAVE (arch/x86/kernel/cpu/cpuid-deps.c)."""


def missing(view: FeatureView, observed: FeatureView, inside: Inside) -> frozenset[str]:
    """Return the flags that the model surely shows and the guest surely does not see."""
    return frozenset(
        flag
        for flag in named(inside)
        if view.shows(flag)
        and observed.hides(flag)
        and (flag not in WITH_XSAVE or view.shows("xsave"))
    )


def surplus(view: FeatureView, observed: FeatureView) -> frozenset[str]:
    """Return the flags that the model surely hides and the guest surely sees."""
    return frozenset(flag for flag in EARLY | LATE if view.hides(flag) and observed.shows(flag))


def named(inside: Inside) -> frozenset[str]:
    """Return the flags for which the guest's kernel surely has a word."""
    if not isinstance(inside.system, Known):
        return frozenset()
    system = inside.system.value
    if system.kernel_name == "FreeBSD":
        return EARLY
    release = tuple(map(int, re.findall(r"\d{1,5}", system.kernel)[:2]))
    if system.kernel_name != "Linux" or release < OLDEST:
        return frozenset()
    return EARLY | LATE if release >= LATER else EARLY
