"""The x86-64 levels of the psABI: whole definitions, not one telling flag.

"avx2" does not mean level 3 (that takes ten flags on top of level 2), and no level contains `aes`,
`pclmulqdq`, `sha_ni` or `vaes`: a level says nothing about encryption. The lists are those of the
x86-64 psABI, "Micro-Architecture Levels", as glibc tests them (sysdeps/x86/get-isa-level.h).

Level 1 names SCE, which is `syscall` here. Level 3 names OSXSAVE, which a kernel sets once it uses
XSAVE, and which Linux does not list in /proc/cpuinfo: a guest that is given `xsave` sets it by
itself, so `xsave` stands for it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

_V1 = frozenset(("cmov", "cx8", "fpu", "fxsr", "lm", "mmx", "sse", "sse2", "syscall"))
_V2 = _V1 | {"cx16", "lahf_lm", "pni", "popcnt", "sse4_1", "sse4_2", "ssse3"}
_V3 = _V2 | {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"}
_V4 = _V3 | {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"}

LEVELS: Mapping[int, frozenset[str]] = MappingProxyType({1: _V1, 2: _V2, 3: _V3, 4: _V4})
"""Every flag that a level needs, those of the lower levels included."""


def level(flags: Collection[str]) -> int:
    """Return the highest level (1 to 4) that `flags` fulfil; 0 if they do not reach level 1."""
    return max((number for number in LEVELS if not lacking(number, flags)), default=0)


def lacking(wanted: int, flags: Collection[str]) -> frozenset[str]:
    """Return what `flags` lack for a level of 1 to 4; level 0 asks for nothing.

    Raises:
        KeyError: There is no such level.
    """
    return LEVELS[wanted].difference(flags) if wanted else frozenset()
