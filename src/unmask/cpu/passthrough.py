"""What KVM gives a guest beside and apart from the flags that the host's kernel prints.

A host's /proc/cpuinfo is nearly, but not quite, the set that KVM can pass through: KVM makes some
features itself, keeps some for the host, and the kernel prints others under a collective name.
Source: Linux arch/x86/kvm/cpuid.c (kvm_set_cpu_caps) and QEMU's feature words, read in 6.18 and
10.0; the first group was checked in truth by `query-cpu-model-expansion` of `host`.
"""

from __future__ import annotations

from unmask.cpu.features import KVM_PROVIDES, listed

EMULATED = KVM_PROVIDES | {"arch_capabilities", "nopl"}
"""KVM offers these whatever the silicon has; `nopl` is a word that the guest's kernel makes."""

WITHHELD = frozenset(
    {
        "acpi",
        "aperfmperf",
        "arch_lbr",
        "arch_perfmon",
        "bts",
        "cat_l2",
        "cat_l3",
        "cdp_l2",
        "cdp_l3",
        "cqm",
        "cpb",
        "ds_cpl",
        "dtes64",
        "dtherm",
        "dts",
        "epb",
        "est",
        "hwp",
        "ibs",
        "ida",
        "intel_pt",
        "mba",
        "monitor",
        "mwaitx",
        "pbe",
        "pdcm",
        "pebs",
        "pln",
        "pts",
        "rdt_a",
        "sgx",
        "skinit",
        "smx",
        "tm",
        "tm2",
        "tme",
        "wdt",
        "xtpr",
    }
)
"""Of the host's flags these do not, or not always, reach a guest of type host."""

COLLECTIVE = {
    "amd-no-ssb": "ssbd",
    "amd-psfd": "ssbd",
    "amd-ssbd": "ssbd",
    "amd-stibp": "stibp",
    "spec-ctrl": "ibrs",
    "virt_ssbd": "ssbd",
}
"""CPUID bits that the kernel prints under the word on the right."""


def gives(flag: str, host_flags: frozenset[str]) -> bool:
    """Return whether a KVM host whose kernel prints `host_flags` can give a guest `flag`.

    A flag that no kernel prints is taken as given: its absence from a printed list says nothing.
    """
    if flag in EMULATED or flag in host_flags:
        return True
    stand_in = COLLECTIVE.get(flag)
    return stand_in in host_flags if stand_in else not listed(flag)
