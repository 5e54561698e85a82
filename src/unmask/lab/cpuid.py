"""A CPU's flags in the words of those who print CPUID's registers: FreeBSD's kernel, OpenSSL.

Sources: FreeBSD sys/x86/x86/identcpu.c (printcpuinfo); OpenSSL crypto/cpuid.c, which prints leaf 1
as EDX and ECX, then leaf 7 as EBX and ECX, each with the second register in the upper half.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

Register = Sequence[tuple[str, str]]
"""Linux's and FreeBSD's name of each bit from 0 on; "" where there is none."""


def _register(text: str) -> Register:
    pairs = (word.partition("=")[::2] for word in text.split())
    return tuple(
        ("", "") if linux == "-" else (linux, freebsd or linux.upper()) for linux, freebsd in pairs
    )


ONE_EDX = _register(
    "fpu vme de pse tsc msr pae mce cx8 apic - sep mtrr pge mca cmov pat pse36 pn clflush - dts "
    "acpi mmx fxsr sse sse2 ss ht=HTT tm ia64 pbe"
)
ONE_ECX = _register(
    "pni=SSE3 pclmulqdq dtes64 monitor=MON ds_cpl vmx smx est tm2 ssse3 cid=CNXT-ID sdbg fma cx16 "
    "xtpr=xTPR pdcm - pcid dca sse4_1=SSE4.1 sse4_2=SSE4.2 x2apic=x2APIC movbe popcnt "
    "tsc_deadline_timer=TSCDLT aes=AESNI xsave osxsave avx f16c rdrand hypervisor=HV"
)
SEVEN_EBX = _register(
    "fsgsbase tsc_adjust=TSCADJ sgx bmi1 hle avx2 fdp_excptn_only=FDPEXC smep bmi2 erms invpcid "
    "rtm cqm=PQM zero_fcs_fds=NFPUSG mpx rdt_a=PQE avx512f avx512dq rdseed adx smap avx512ifma - "
    "clflushopt clwb intel_pt=PROCTRACE avx512pf avx512er avx512cd sha_ni=SHA avx512bw avx512vl"
)
SEVEN_ECX = _register(
    "prefetchwt1 avx512vbmi umip pku ospke waitpkg avx512_vbmi2 shstk=CET_SS gfni vaes vpclmulqdq"
)
EXTENDED_EDX = _register("- " * 11 + "syscall - - - - - - - - nx - - - - - - - - lm")
EXTENDED_ECX = _register("lahf_lm=LAHF cmp_legacy=CMP svm extapic=ExtAPIC - abm=ABM")

FREEBSD = (
    ("Features", ONE_EDX),
    ("Features2", ONE_ECX),
    ("AMD Features", EXTENDED_EDX),
    ("AMD Features2", EXTENDED_ECX),
    ("Structured Extended Features", SEVEN_EBX),
)


def word(register: Register, flags: Collection[str]) -> int:
    """Return a register's value for a CPU that shows these flags."""
    return sum(1 << bit for bit, (name, _) in enumerate(register) if name and name in flags)


def freebsd(name: str, vendor: str, flags: Collection[str]) -> str:
    """Return what FreeBSD's kernel prints of a CPU while it boots."""
    lines = [f"CPU: {name} (2600.00-MHz K8-class CPU)"]
    lines.append(f'  Origin="{vendor}"  Id=0xf61  Family=0xf  Model=0x6  Stepping=1')
    for title, register in FREEBSD:
        names = [freebsd for linux, freebsd in register if linux and linux in flags]
        if names:
            lines.append(f"  {title}={word(register, flags):#x}<{','.join(names)}>")
    return "".join(f"{line}\n" for line in lines)


def capabilities(flags: Collection[str]) -> str:
    """Return the line that `openssl version -c` prints."""
    one = word(ONE_EDX, flags) | word(ONE_ECX, flags) << 32
    seven = word(SEVEN_EBX, flags) | word(SEVEN_ECX, flags) << 32
    return f"CPUINFO: OPENSSL_ia32cap={one:#x}:{seven:#x}\n"
