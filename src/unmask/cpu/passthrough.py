"""What KVM gives a guest beside and apart from the flags that the host's kernel prints.

A host's /proc/cpuinfo is nearly, but not quite, the set that KVM can pass through: KVM makes some
features itself, keeps some for the host, and the kernel prints others under a collective name.
Sources: Linux arch/x86/kvm/cpuid.c (kvm_set_cpu_caps) and QEMU's feature words, read in 6.18 and
10.0, and what QEMU answered on real silicon (SOURCES.md, passthrough.py).
"""

from __future__ import annotations

from unmask.cpu.features import KVM_PROVIDES, listed, settable

EMULATED = KVM_PROVIDES | {"arch_capabilities", "nopl"}
"""KVM offers these whatever the silicon has; `nopl` is a word that the guest's kernel makes."""

UNPRINTED = frozenset({"la57"})
"""KVM asks the silicon itself, and a kernel that does not use the feature does not print it."""

KEPT = frozenset((
    "acpi", "arch_lbr", "avic", "dca", "decodeassists", "ds_cpl", "est", "extapic", "ibs",
    "intel_pt", "lwp", "monitor", "nodeid_msr", "pbe", "perfctr_nb", "skinit", "smx",
    "split_lock_detect", "svm_lock", "tce", "tm", "tm2", "wdt", "xtpr",
))  # fmt: skip
"""Of the host's flags these do not reach a guest of type host by default."""

CONDITIONAL = frozenset((
    "dtes64", "dts", "flush_l1d", "flushbyasid", "ht", "ibt", "lbrv", "overflow_recov",
    "pausefilter", "pdcm", "pfthreshold", "sgx", "succor", "topoext", "tsc_scale",
    "v_vmsave_vmload", "vgif", "vmcb_clean", "vnmi", "waitpkg",
))  # fmt: skip
"""These may: it depends on the versions of kernel and QEMU, on the number of virtual processors, or
on an option (a virtual PMU, `-overcommit cpu-pm`)."""

WITHHELD = KEPT | CONDITIONAL

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
    if flag in EMULATED or flag in UNPRINTED or flag in host_flags:
        return True
    stand_in = COLLECTIVE.get(flag)
    return stand_in in host_flags if stand_in else not listed(flag)


def passed(host_flags: frozenset[str]) -> frozenset[str]:
    """Return what a guest of type host surely sees on a host whose kernel prints `host_flags`.

    Words that are no CPUID bit which QEMU can set (`constant_tsc`, `rep_good`) describe the host's
    kernel: the guest's own kernel decides whether it prints them.
    """
    return frozenset(filter(settable, host_flags - WITHHELD)) | KVM_PROVIDES


def doubtful(host_flags: frozenset[str]) -> frozenset[str]:
    """Return the flags of which `host_flags` does not tell whether such a guest sees them."""
    return (host_flags | EMULATED | UNPRINTED) - passed(host_flags)
