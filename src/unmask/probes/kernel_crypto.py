"""Modules, parameters and messages of the kernel that bear on encryption."""

from __future__ import annotations

import re

from unmask.model.inside import KernelCrypto
from unmask.probes._probe import Probe
from unmask.probes._section import Section
from unmask.probes._words import hidden, number, switch, unique

COMMAND = """\
part modules
cut -d ' ' -f 1 proc/modules
part kldstat
has kldstat && kldstat | awk '{ print $5 }'
part modprobe
modules=lib/modules/$(uname -r)
# kmod's modprobe alone knows -n. It also knows --version, unlike BusyBox's and OpenWrt's.
if [ -d "$modules" ] && modprobe --version >/dev/null; then
    modprobe -n aesni_intel
    echo "$?"
elif [ -f "$modules/modules.dep" ]; then
    grep -q '/aesni-intel\\.ko' "$modules/modules.dep"
    echo "$?"
fi
grep -m 1 aesni "$modules/modules.builtin"
part /proc/cmdline
tr ' ' '\\n' <proc/cmdline |
    grep -E -e '^(clearcpuid|modprobe|module_blacklist|initcall_blacklist|mitigations)' \\
        -e '^(nosimd|noxsave|noaes|fips|cryptomgr)'
show proc/sys/crypto/fips_enabled
part messages
{
    if [ -f var/run/dmesg.boot ]; then
        cat var/run/dmesg.boot
    else
        dmesg
    fi
} | grep -i -E 'aes|padlock|gcm_enc|pclmul|clmul|ghash|cryptosoft|alg: |self-?test|opcode|CPUID' |
    take 8192 | hide
"""

_RELEVANT = re.compile(
    r"aes|crypt|ghash|sha\d|chacha|poly1305|polyval|blake2|curve25519|padlock|^zfs$|^icp$|^spl$"
    r"|wireguard|if_wg|ovpn|xfrm|^esp[46]|^tls$|geom_eli|^ossl$|armv8|^ccp$|qat|vmac|serpent|twofish"
)
_HIDING = re.compile(
    r"(?:clearcpuid|modprobe\.blacklist|module_blacklist|initcall_blacklist|nosimd|noxsave|noaes"
    r"|fips|cryptomgr\.\w+|mitigations)(?:=[\w,.:-]{0,200})?"
)
_DEVICE = re.compile(r"^((?:aesni|cryptosoft|padlock|armv8crypto|ossl|qat|ccp|safexcel)\d+): (.*)$")
_TELLING = re.compile(
    r"aes|padlock|gcm_enc|pclmul|clmul|ghash|cryptosoft|alg: |self-?test|invalid opcode|CPUID bits",
    re.IGNORECASE,
)
_STAMP = re.compile(r"^\[\s*\d+\.\d+\]\s*")


def parse(section: Section) -> KernelCrypto:
    """Return what there is; what the kernel's log says needs root on most systems."""
    modules = (line.strip().removesuffix(".ko") for line in _listed(section))
    told = (_STAMP.sub("", line).strip() for line in section.lines("messages"))
    messages = [line for line in told if _TELLING.search(line)]
    devices = [match for line in messages if (match := _DEVICE.match(line))]
    tried = section.lines("modprobe")
    built_in = any("aesni" in line for line in tried)
    status = next((count for line in tried if (count := number(line)) is not None), None)
    words = " ".join(section.lines("/proc/cmdline")).split()
    return KernelCrypto(
        modules=unique(name for name in modules if _RELEVANT.search(name)),
        aesni_available=True if built_in else None if status is None else status == 0,
        aesni_built_in=built_in,
        devices=tuple(f"{match[1]}: {match[2].strip('<>')}" for match in devices),
        messages=tuple(hidden(line)[:300] for line in messages[:60]),
        parameters=tuple(word for word in words if _HIDING.fullmatch(word)),
        fips=switch(section.first("/proc/sys/crypto/fips_enabled")),
    )


def _listed(section: Section) -> list[str]:
    """Return module names, from lsmod's form too."""
    lines = [*section.lines("modules"), *section.lines("kldstat")]
    return [line.split()[0] for line in lines if line.strip()]


PROBE = Probe("kernel_crypto", COMMAND, parse, needs_root="the kernel's log")
