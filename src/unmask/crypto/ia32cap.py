"""OpenSSL's own switches for CPU flags: the variables OPENSSL_ia32cap and OPENSSL_armcap.

OpenSSL keeps what CPUID says in vectors of 64 bits and asks nothing else afterwards. The variable
changes them when a program starts, for that program alone: the fields are parted by ":", one for
each vector. A number replaces a vector, "~" and a number clears bits of it. Four rules of the
parser (crypto/cpuid.c) decide how values are written here:

* Where the first field is a plain number, CPUID is never asked: all vectors begin as zero, and "~"
  in a later field has nothing to clear.
* A vector behind the last field is set to zero. "~0x200000200000000" alone takes away AVX2, SHA,
  VAES and all else of CPUID.7 as well; a field that says "leave it" is "~0x0" in every version.
* The code for AES in AVX-512 (GCM since 3.1, XTS since 3.5) looks at VAES and VPCLMULQDQ only, not
  at AES or PCLMULQDQ. A mask that hides AES and keeps the second vector has to hide them too.
* Clearing bit 24 (FXSR) takes PCLMULQDQ, XOP, AES and AVX along. It is never cleared here.

A variable that is set and empty clears everything. So "" here always means: do not set it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from unmask.cpu import data_file
from unmask.crypto import versions
from unmask.model import bench
from unmask.model.cpu import FeatureView, HostCpu, State

MASKED = "~0x200000200000000:~0x60000000000:~0x0:~0x0:~0x0"
"""Hides AES, PCLMULQDQ, VAES and VPCLMULQDQ, and nothing else.

ChaCha20-Poly1305 keeps its AVX2 and AVX-512 under it: what it does here shows the noise.
"""
CLASSIC = "~0x200000200000000"
"""What people type: it hides AES and PCLMULQDQ, and in OpenSSL 1.0.1 and newer all of CPUID.7."""
WITHOUT_PCLMULQDQ = "~0x200000000:~0x40000000000:~0x0:~0x0:~0x0"
"""Hides PCLMULQDQ and VPCLMULQDQ, without which no code uses VAES either."""
FORCED = "0x0200020207000000"
"""AES, PCLMULQDQ, SSSE3 and what they stand on, whatever CPUID says.

One field only, so that the other vectors are zero, and no AVX: where the system has not turned on
its registers, AVX faults on a CPU that has it. AES and PCLMULQDQ need no such help.
"""

_NAMES = {
    bench.MASKED: MASKED,
    bench.WITHOUT_PCLMULQDQ: WITHOUT_PCLMULQDQ,
    bench.FORCED: FORCED,
}
_LONGEST = 20_000
_SHOWN = re.compile(
    r"OPENSSL_(ia32|arm)cap=(0x[0-9a-f]{1,16}(?::0x[0-9a-f]{1,16}){0,7})", re.IGNORECASE
)
_INTEL = 1 << 30 | 1 << 20
_WORD = 0xFFFF_FFFF


@dataclass(frozen=True, slots=True)
class Mask:
    """What makes OpenSSL see a host's CPU as a guest of some CPU model would."""

    value: str
    """For OPENSSL_ia32cap; "" where the variable must not be set."""
    flags: frozenset[str]
    """What OpenSSL then sees, of the flags that it knows (`known`)."""
    usable: bool = True
    """False where this library cannot be made to; `doubts` says why."""
    doubts: tuple[str, ...] = ()
    """What keeps it from being quite the model's view, a sentence each."""


@cache
def known(version: str = "") -> frozenset[str]:
    """Return the flags that a version of OpenSSL has bits for; "" for the newest."""
    return frozenset(flag for bits in _vectors()[: _count(version)] for flag in bits)


def refusal(version: str) -> str:
    """Return why the variable does nothing in a library, as a sentence; "" where it works.

    `version` is what `openssl version` prints, or a number; "" is taken for the newest OpenSSL.
    """
    if "libressl" in version.lower():
        return "LibreSSL ignores OPENSSL_ia32cap."
    if versions.parse(version) and not _count(version):
        return "OpenSSL before 1.0.1 does not know AES-NI: there is nothing to hide or to force."
    return ""


def settings(version: str) -> Mapping[str, str]:
    """Return the value of OPENSSL_ia32cap for each setting of a benchmark that a version knows.

    Empty where the variable does nothing.
    """
    if refusal(version):
        return {}
    return {name: _fitting(text, version) for name, text in _NAMES.items()}


def value(hidden: Collection[str], version: str = "") -> str:
    """Return the value that hides flags and leaves the others; "" where there is none to hide.

    Flags that OpenSSL has no bit for, and `fxsr`, are left out.
    """
    masks = _bits(hidden)
    if not any(masks) or refusal(version):
        return ""
    return _fitting(":".join(f"~{mask:#x}" for mask in masks), version)


def for_model(view: FeatureView, host: HostCpu, version: str = "") -> Mask:
    """Return what hides from OpenSSL what a CPU model hides on this host, and nothing else.

    Args:
        view: What a guest of that model would see on this host.
        host: The CPU on which the mask is going to be used.
        version: What `openssl version` prints there.
    """
    if not view.x86:
        return Mask("", frozenset(), usable=False, doubts=("Only x86 has OPENSSL_ia32cap.",))
    hidden = _hidden(view, host, version)
    shown = frozenset(flag for flag in known(version) - hidden if _has(host, flag))
    doubts = tuple(_doubts(view, host, shown))
    refused = refusal(version)
    if refused:
        return Mask("", shown, usable=False, doubts=(refused, *doubts))
    masks = _bits(hidden)
    if host.vendor == "GenuineIntel" and view.vendor not in ("", "GenuineIntel"):
        masks[0] |= _INTEL
    if not any(masks):
        return Mask("", shown, doubts=doubts)
    text = ":".join(f"~{mask:#x}" for mask in masks)
    if _early(version):
        # Copies of 1.0.x clear the second vector before they read "~" for it.
        text = f"~{masks[0]:#x}:{_bits(shown)[1] & _WORD:#x}"
    return Mask(_fitting(text, version), shown, doubts=doubts)


def decode(text: str) -> frozenset[str]:
    """Return the flags in what `openssl version -c` or `openssl speed` prints.

    "CPUINFO: OPENSSL_ia32cap=0xfdfa32014f8bffff:0x0 env:~0x200000200000000" has the vectors as
    they are after the variable has done its work; OPENSSL_armcap is taken as well. None where there
    is no such line.
    """
    found = _SHOWN.search(text[:_LONGEST])
    if not found:
        return frozenset()
    numbers = [int(number, 16) for number in found.group(2).split(":")]
    tables = _vectors() if found.group(1).lower() == "ia32" else (_arm(),)
    pairs = zip(numbers, tables, strict=False)
    return frozenset(
        flag for number, bits in pairs for flag, bit in bits.items() if number >> bit & 1
    )


def armcap(flags: Collection[str], hidden: Collection[str] = ("aes", "pmull")) -> str:
    """Return the value of OPENSSL_armcap for an ARM CPU without some of its flags.

    The variable has neither "~" nor ":": it is all that OpenSSL is going to know. What it finds out
    about the core beside (how far to unroll loops) is lost under it.

    Args:
        flags: Those of the CPU, as Linux lists them.
        hidden: Those to leave out; none of them need be there.
    """
    bits = {bit for flag, bit in _arm().items() if flag in flags and flag not in hidden}
    return f"{sum(1 << bit for bit in bits):#x}"


def _hidden(view: FeatureView, host: HostCpu, version: str) -> frozenset[str]:
    """Return the flags that a guest with this view surely does not see, `fxsr` left out.

    Of a host that is passed through, only what it lists can be hidden: what Linux never lists, KVM
    passes on all the same. A named model hides whatever it does not show, for a host may have what
    its kernel does not list.
    """
    named = bool(view.model)
    hidden = {
        flag
        for flag in known(version) - {"fxsr", "osxsave"}
        if view.hides(flag) and (named or flag in host.flags)
    }
    if view.hides("xsave") and (named or "xsave" in host.flags):
        hidden |= known(version) & frozenset(_data()["without_xsave"])
    return frozenset(hidden)


def _has(host: HostCpu, flag: str) -> bool:
    return flag in host.flags or (flag == "osxsave" and "xsave" in host.flags)


def _doubts(view: FeatureView, host: HostCpu, shown: frozenset[str]) -> list[str]:
    said = []
    if view.hides("fxsr"):
        said.append("The model has no FXSR, which OpenSSL cannot be made to do without.")
    unsure = sorted(flag for flag in shown if view.state(flag) is State.UNKNOWN)
    if unsure:
        said.append(f"Whether the model shows {', '.join(unsure)} is not known: left as they are.")
    if view.vendor == "GenuineIntel" and host.vendor not in ("", "GenuineIntel"):
        said.append(
            f"The model shows an Intel CPU, and this is one of {host.vendor}: OpenSSL's few "
            "choices by vendor stay this host's."
        )
    if not view.starts:
        said.append("A guest with this CPU would not start on this host.")
    return said


def _bits(flags: Collection[str]) -> list[int]:
    """Return a number for each vector, with the bits of `flags` but FXSR's."""
    return [
        sum(1 << bit for flag, bit in bits.items() if flag in flags and flag != "fxsr")
        for bits in _vectors()
    ]


def _fitting(text: str, version: str) -> str:
    """Return a value with as many fields as a version has vectors, where it has more than one."""
    return ":".join(text.split(":")[: _count(version)])


@cache
def _count(version: str) -> int:
    """Return how many vectors a version has; 0 for one that knows no AES-NI."""
    if "boringssl" in version.lower() or "aws-lc" in version.lower():
        return 2
    numbers = versions.parse(version)
    if not numbers or numbers >= (3, 5):
        return len(_vectors())
    return 2 if numbers >= (1, 0, 1) else 0


def _early(version: str) -> bool:
    return (1, 0, 1) <= versions.parse(version) < (1, 1)


@cache
def _vectors() -> tuple[Mapping[str, int], ...]:
    return tuple(vector["bits"] for vector in _data()["vectors"])


def _arm() -> Mapping[str, int]:
    bits: Mapping[str, int] = _data()["arm"]
    return bits


@cache
def _data() -> dict[str, Any]:
    return data_file.read("ia32cap", "unmask.crypto")
