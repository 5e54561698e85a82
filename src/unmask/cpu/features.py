"""One spelling per CPU flag.

Our spelling is Linux's word in /proc/cpuinfo (`pclmulqdq`, `sse4_1`, `sha_ni`); where Linux has no
word it is QEMU's property name (`spec-ctrl`, `amd-ssbd`). QEMU, libvirt and FreeBSD write many of
them differently (`sse4.1`, `pclmuldq`, `AESNI`). The tables are in `data/flags.json`; SOURCES.md
says where each comes from.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from unmask.cpu import data_file

MITIGATION_FLAGS: tuple[str, ...] = (
    "pcid", "spec-ctrl", "ibrs", "ibpb", "stibp", "ssbd", "amd-ssbd", "virt_ssbd", "amd-no-ssb",
    "md_clear",
)  # fmt: skip
"""What a guest's kernel needs to see for its defences against speculative execution attacks."""

REPORTED_X86: tuple[str, ...] = (
    "aes", "pclmulqdq", "ssse3", "sse4_1", "sse4_2", "popcnt", "avx", "avx2", "movbe", "bmi2",
    "adx", "vaes", "vpclmulqdq", "gfni", "sha_ni", "avx512f", "avx512bw", "avx512dq", "avx512vl",
    "rdrand", "rdseed", "pdpe1gb", *MITIGATION_FLAGS,
)  # fmt: skip

REPORTED_ARM: tuple[str, ...] = ("aes", "pmull", "sha1", "sha2", "sha512", "sha3", "sve", "sve2")

KVM_PROVIDES: frozenset[str] = frozenset(
    ("arat", "hypervisor", "tsc_adjust", "tsc_deadline_timer", "umip", "x2apic")
)
"""Flags that KVM can give a guest whether or not the host's own list has them.

They are timer and interrupt features that KVM implements itself, and `hypervisor`, which says that
one is there (Linux, arch/x86/kvm/cpuid.c; QEMU, target/i386/kvm/kvm.c).
"""

_ARM = ("aarch64", "arm")
_X86 = ("x86_64", "i686")


@dataclass(frozen=True, slots=True)
class _Names:
    """The tables of `data/flags.json`, turned the way that look-ups need them."""

    canonical: dict[str, str]
    folded: dict[str, str]
    qemu: dict[str, str]
    libvirt: dict[str, str]
    turns_on: dict[str, frozenset[str]]
    made: frozenset[str]
    """What `turns_on` leads to."""
    listed: frozenset[str]
    unprinted: frozenset[str]
    """Words that are no flag of Linux's list."""
    properties: frozenset[str]


def canonical(name: str) -> str:
    """Return our spelling of a flag that any dialect names; an unknown name comes back unchanged.

    QEMU takes `_` and `-` for the same in property names, and FreeBSD's words are capitals; both
    are tried after the exact word.
    """
    names = _names()
    return (
        names.canonical.get(name)
        or names.canonical.get(name.replace("_", "-"))
        or names.folded.get(name.casefold())
        or name
    )


def known(name: str) -> bool:
    """Return whether Linux, QEMU, libvirt or FreeBSD has a flag that is written like this."""
    names = _names()
    return (
        name in names.canonical
        or name.replace("_", "-") in names.canonical
        or name.casefold() in names.folded
    )


def flags_of(name: str) -> frozenset[str]:
    """Return the flags that one QEMU or libvirt feature turns on, in our spelling.

    A few make Linux show words of its own: `spec-ctrl` gives `ibrs` and `ibpb`, the three ways to
    control speculative store bypass all give `ssbd` (Linux, arch/x86/kernel/cpu/common.c,
    init_speculation_control).
    """
    flag = canonical(name)
    return _names().turns_on.get(flag, frozenset()) | {flag}


def listed(flag: str) -> bool:
    """Return whether Linux on x86 lists this flag (our spelling) in /proc/cpuinfo.

    A flag without a word there, such as `spec-ctrl`, cannot be looked for in a host's list: its
    absence says nothing.
    """
    return flag in _names().listed


@cache
def unlisted(kernel: str = "Linux") -> frozenset[str]:
    """Return the flags of x86 (our spelling) that a kernel never lists, however it names itself.

    FreeBSD prints words of its own at boot (sys/x86/x86/identcpu.c); what is neither Linux nor
    FreeBSD is taken for one of its relatives.
    """
    names = _names()
    everything = names.listed | names.unprinted
    return names.unprinted if kernel == "Linux" else everything - frozenset(names.folded.values())


def qemu_knows(name: str) -> bool:
    """Return whether a QEMU of 7.2 to 11 takes `name` as a CPU feature of x86 (case-sensitive)."""
    return name.replace("_", "-") in _names().properties


def settable(flag: str) -> bool:
    """Return whether something that QEMU can set makes a guest's kernel print this flag on x86.

    Other words in /proc/cpuinfo, such as `constant_tsc`, a kernel works out for itself.
    """
    return flag in _names().made or qemu_knows(qemu_name(flag))


def qemu_name(flag: str) -> str:
    """Return QEMU's property name of a flag: "sse4.1" for `sse4_1`."""
    flag = canonical(flag)
    return _names().qemu.get(flag, flag)


def libvirt_name(flag: str) -> str:
    """Return libvirt's feature name of a flag: "pclmuldq" for `pclmulqdq`."""
    flag = canonical(flag)
    return _names().libvirt.get(flag) or qemu_name(flag)


def reported(arch: str) -> tuple[str, ...]:
    """Return the flags that reports show for an architecture, in order of display.

    x86 flags mean nothing on s390x, POWER or RISC-V, and these have none of their own that a CPU
    model hides: the answer there is empty, which means "not applicable", not "missing".
    """
    if arch in _X86:
        return REPORTED_X86
    return REPORTED_ARM if arch in _ARM else ()


@cache
def _names() -> _Names:
    data = data_file.read("flags")
    words = (*data["cpuinfo"], *data["cpuinfo_only"])
    qemu: dict[str, str] = data["qemu"]
    own: list[str] = data["qemu_only"]
    ours = {word: word for word in (*words, *own, *data["arm"], *data["elsewhere"])}
    spelled = {spelling: flag for flag, spelling in qemu.items()}
    libvirt: dict[str, str] = data["libvirt"]
    dialects = spelled | {name: flag for flag, name in libvirt.items()} | data["formerly"]
    # A word that is ours is never another flag's alias; the tests hold the tables to that.
    properties = (*own, *(qemu.get(word, word) for word in data["cpuinfo"]), *data["aliases"])
    turns_on = {flag: frozenset(more) for flag, more in data["turns_on"].items()}
    return _Names(
        canonical=data["freebsd"] | dialects | data["aliases"] | ours,
        folded={name.casefold(): flag for name, flag in data["freebsd"].items()},
        qemu=qemu,
        libvirt=libvirt,
        turns_on=turns_on,
        made=frozenset[str]().union(*turns_on.values()),
        listed=frozenset(words),
        unprinted=frozenset((*own, *data["elsewhere"])),
        properties=frozenset(name.replace("_", "-") for name in properties),
    )
