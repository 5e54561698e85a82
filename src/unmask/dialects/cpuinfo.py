"""What kernels print about a CPU: /proc/cpuinfo, lscpu, and FreeBSD's boot messages.

Sources: Linux arch/*/kernel/cpu/proc.c, util-linux sys-utils/lscpu.c, FreeBSD
sys/x86/x86/identcpu.c (printcpuinfo) and sys/crypto/aesni/aesni.c.
"""

from __future__ import annotations

import re
from functools import reduce

from unmask.cpu.features import canonical
from unmask.errors import InputError
from unmask.model.cpu import HostCpu

LIMIT = 8 * 1024 * 1024
"""Characters; a machine with 1,024 threads prints about 2 MiB."""

IMPLEMENTERS = {
    "0x41": "ARM",
    "0x42": "Broadcom",
    "0x43": "Cavium",
    "0x48": "HiSilicon",
    "0x4e": "NVIDIA",
    "0x51": "Qualcomm",
    "0x61": "Apple",
    "0xc0": "Ampere",
}
"""ARM MIDR implementer codes (Linux arch/arm64/include/asm/cputype.h)."""

KEY = re.compile(r"^(?P<key>[A-Za-z][A-Za-z0-9_ ()/-]{0,40}?)\s*:\s?(?P<value>.*)$")
FREEBSD_FLAGS = re.compile(
    r"^[ \t]+(?P<group>(?:AMD |Structured Extended |XSAVE |VIA Padlock )?Features[23]?)"
    r"[ \t]*=[ \t]*0x[0-9a-f]+<(?P<names>[^>\n]*)>",
    re.MULTILINE,
)
FREEBSD_CPU = re.compile(r"^CPU: (?P<name>.{1,300})", re.MULTILINE)
FREEBSD_CLOCK = re.compile(r"\([\d.]+-MHz .*\)$")
FREEBSD_ORIGIN = re.compile(
    r'^[ \t]*Origin[ \t]*=[ \t]*"(?P<vendor>[^"\n]{0,40})".{0,80}?'
    r"Family[ \t]*=[ \t]*(?P<family>\w{1,10})[ \t]+Model[ \t]*=[ \t]*(?P<model>\w{1,10})"
    r"[ \t]+Stepping[ \t]*=[ \t]*(?P<stepping>\w{1,10})",
    re.MULTILINE,
)
AESNI_ATTACHED = re.compile(r"^aesni\d+: <[^>\n]*AES-", re.MULTILINE)
"""What a guest prints may be endless and of any shape: none of these looks at a place in it more
than once for each line's beginning."""


def parse(text: str, arch_hint: str = "") -> HostCpu:
    """Return the CPU that `text` describes.

    Flags that not every processor of the machine has are left out, since a guest may run on any.

    Args:
        text: /proc/cpuinfo from any block on, `lscpu` output, or FreeBSD boot messages.
        arch_hint: Architecture to assume where the text does not tell it.

    Raises:
        InputError: The text is too large or none of these.
    """
    if len(text) > LIMIT:
        raise InputError(f"CPU description of over {LIMIT // 2**20} MiB; expected one machine")
    if FREEBSD_FLAGS.search(text) or AESNI_ATTACHED.search(text):
        return _freebsd(text)
    fields = _fields(text)
    flags = _common([*fields.get("flags", []), *fields.get("features", [])])
    if not fields.keys() & {"flags", "features", "vendor_id", "vendor id", "cpu", "architecture"}:
        raise InputError("not a CPU description: expected /proc/cpuinfo, lscpu or FreeBSD messages")
    return HostCpu(
        arch=_architecture(fields, flags, arch_hint),
        flags=flags,
        vendor=_vendor(fields),
        model_name=_first(fields, "model name", "cpu model", "cpu"),
        family=_number(_first(fields, "cpu family")),
        model=_number(_first(fields, "model")),
        stepping=_number(_first(fields, "stepping")),
        microcode=_first(fields, "microcode"),
        bugs=frozenset(_first(fields, "bugs").split()),
        complete=bool(flags),
    )


def _fields(text: str) -> dict[str, list[str]]:
    """Return every value of each lower-cased key; a line without a key continues the last one."""
    fields: dict[str, list[str]] = {}
    values: list[str] | None = None
    for line in text.splitlines():
        match = KEY.match(line.strip())
        if match:
            values = fields.setdefault(match["key"].lower(), [])
            values.append(match["value"].strip())
        elif not line.strip():
            values = None
        elif values:
            values[-1] += " " + line.strip()
    return fields


def _common(values: list[str]) -> frozenset[str]:
    sets = [frozenset(map(canonical, value.split())) for value in dict.fromkeys(values)]
    return reduce(frozenset.__and__, sets) if sets else frozenset()


def _first(fields: dict[str, list[str]], *keys: str) -> str:
    for key in keys:
        if fields.get(key):
            return re.sub(r"\s+", " ", fields[key][0])[:200]
    return ""


def _number(text: str) -> int | None:
    try:
        return int(text, 0)
    except ValueError:
        return None


def _vendor(fields: dict[str, list[str]]) -> str:
    implementer = _first(fields, "cpu implementer")
    return _first(fields, "vendor_id", "vendor id") or IMPLEMENTERS.get(implementer, implementer)


def _architecture(fields: dict[str, list[str]], flags: frozenset[str], hint: str) -> str:
    said = _first(fields, "architecture")
    if said:
        return {"i386": "i686", "ppc64le": "ppc64", "arm64": "aarch64"}.get(said, said)
    vendor = _vendor(fields)
    if vendor == "IBM/S390":
        return "s390x"
    if _first(fields, "cpu").startswith("POWER"):
        return "ppc64"
    if "cpu implementer" in fields:
        return "aarch64" if "asimd" in flags else "armv7l"
    if "isa" in fields and _first(fields, "isa").startswith("rv"):
        return "riscv64"
    if "fpu" in flags or "cx8" in flags:
        return "x86_64" if "lm" in flags else "i686"
    return hint


def _freebsd(text: str) -> HostCpu:
    names = [
        name
        for match in FREEBSD_FLAGS.finditer(text)
        for name in match["names"].split(",")
        if name and not name.startswith("<")
    ]
    flags = frozenset(canonical(name) for name in names)
    if AESNI_ATTACHED.search(text):
        # aesni(4) attaches for AES only where the CPU has both; cryptosoft0 attaches everywhere.
        flags |= {"aes", "sse4_1"}
    named = FREEBSD_CPU.search(text)
    name = FREEBSD_CLOCK.sub("", named["name"].strip()) if named else ""
    origin = FREEBSD_ORIGIN.search(text)
    return HostCpu(
        arch="x86_64" if not names or "lm" in flags else "i686",
        flags=flags,
        vendor=origin["vendor"] if origin else "",
        model_name=" ".join(name.split())[:200],
        family=_hexadecimal(origin["family"]) if origin else None,
        model=_hexadecimal(origin["model"]) if origin else None,
        stepping=_hexadecimal(origin["stepping"]) if origin else None,
        complete=bool(names),
    )


def _hexadecimal(text: str) -> int | None:
    """FreeBSD prints these in hexadecimal, sometimes (release 10) with a mangled prefix."""
    try:
        return int(text.removeprefix("0x"), 16)
    except ValueError:
        return None
