"""What machines that cannot be booted here would show, in the form that their systems print it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_X86 = """\
processor\t: 0
vendor_id\t: {vendor}
cpu family\t: {family}
model\t\t: {model}
model name\t: {name}
stepping\t: {stepping}
flags\t\t: {flags}

"""

BASE = (
    "fpu de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse sse2"
)
KVM64 = f"{BASE} syscall nx lm constant_tsc nopl xtopology cpuid pni cx16 x2apic hypervisor lahf_lm"
MODERN = "ssse3 sse4_1 sse4_2 movbe popcnt xsave avx avx2 bmi1 bmi2 f16c fma rdrand"

DEBIAN = 'ID=debian\nVERSION_ID="12"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n'
QEMU = {
    "sys/class/dmi/id/sys_vendor": "QEMU\n",
    "sys/class/dmi/id/product_name": "Standard PC (i440FX + PIIX, 1996)\n",
}

_DETECT = "case $1 in --container) echo none ;; *) echo {word} ;; esac"


@dataclass(frozen=True, slots=True)
class Recorded:
    """A machine's files below its root, and its programs as shell."""

    files: Mapping[str, str]
    programs: Mapping[str, str]


def cpuinfo(
    name: str,
    flags: str,
    *,
    vendor: str = "GenuineIntel",
    family: int = 15,
    model: int = 6,
    stepping: int = 1,
) -> str:
    """Return /proc/cpuinfo of one x86 processor."""
    return _X86.format(
        vendor=vendor, family=family, model=model, name=name, stepping=stepping, flags=flags
    )


def linux(
    shown: str, *, machine: str = "x86_64", virt: str = "kvm", files: Mapping[str, str] = QEMU
) -> Recorded:
    """Return a Debian with this /proc/cpuinfo."""
    uname = f"case $1 in -s) echo Linux ;; -r) echo 6.1.0-50-amd64 ;; -m) echo {machine} ;; esac"
    everything = {"proc/cpuinfo": shown, "etc/os-release": DEBIAN, "proc/uptime": "100.5 200.0\n"}
    programs = {"uname": uname, "systemd-detect-virt": _DETECT.format(word=virt), "lscpu": "exit 1"}
    return Recorded({**everything, **files}, programs)


COMMON_KVM = linux(cpuinfo("Common KVM processor", KVM64))

VIRTUAL_AES = linux(
    cpuinfo(
        "QEMU Virtual CPU version 2.5+",
        f"{KVM64} aes popcnt ssse3 sse4_1 sse4_2",
        vendor="AuthenticAMD",
        model=107,
    )
)

VIA = linux(
    cpuinfo(
        "VIA Nano U3300@1200MHz",
        f"{BASE} syscall nx lm pni ssse3 sse4_1 rng rng_en ace ace_en ace2 ace2_en phe phe_en",
        vendor="CentaurHauls",
        family=6,
        model=15,
        stepping=10,
    ),
    virt="none",
    files={"sys/class/dmi/id/sys_vendor": "VIA Technologies\n"},
)

ARM = linux(
    "processor\t: 0\nFeatures\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics cpuid\n"
    "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd0c\n\n",
    machine="aarch64",
    files={"sys/class/dmi/id/sys_vendor": "Hetzner\n"},
)

FREEBSD = Recorded(
    {
        "var/run/dmesg.boot": (
            "CPU: QEMU Virtual CPU version 2.5+ (2194.92-MHz K8-class CPU)\n"
            '  Origin="AuthenticAMD"  Id=0x60fb1  Family=0xf  Model=0x6b  Stepping=1\n'
            "  Features=0x783fbfd<FPU,DE,PSE,TSC,MSR,PAE,MCE,CX8,APIC,SEP,MMX,FXSR,SSE,SSE2>\n"
            "  Features2=0x82b82201<SSE3,SSSE3,CX16,SSE4.1,SSE4.2,x2APIC,POPCNT,AESNI,HV>\n"
            "  AMD Features=0x20100800<SYSCALL,NX,LM>\n"
            "cryptosoft0: <software crypto>\n"
            "aesni0: <AES-CBC,AES-CCM,AES-GCM,AES-ICM,AES-XTS>\n"
        ),
        "etc/os-release": 'ID=freebsd\nVERSION_ID="14.1"\nPRETTY_NAME="FreeBSD 14.1-RELEASE"\n',
    },
    {
        "uname": (
            "case $1 in -s) echo FreeBSD ;; -r) echo 14.1-RELEASE-p5 ;; -m) echo amd64 ;; esac"
        ),
        "systemd-detect-virt": "exit 127",
        "lscpu": "exit 127",
        "sysctl": "case $* in '-n kern.vm_guest') echo kvm ;; *) exit 1 ;; esac",
        "kldstat": (
            "case $* in\n"
            "*g_eli*) exit 0 ;;\n"
            "*-m*) exit 1 ;;\n"
            "*) printf 'Id Refs Address Size Name\\n 1 10 0xffffffff80200000 1f3e2d0 kernel\\n'\n"
            "   echo ' 2 1 0xffffffff82500000 a1b8 aesni.ko' ;;\n"
            "esac"
        ),
        "geli": (
            "printf 'Geom name: da1.eli\\nState: ACTIVE\\nEncryptionAlgorithm: AES-XTS\\n"
            "KeyLength: 256\\nCrypto: accelerated software\\nProviders:\\n1. Name: da1.eli\\n'"
        ),
        "kenv": "case $2 in smbios.system.maker) echo QEMU ;; *) exit 1 ;; esac",
    },
)
