"""The guest does not see flags that its kernel needs against speculative execution attacks.

## Why it matters

A guest's kernel protects itself against Spectre, MDS and their relatives with instructions that
the host's microcode added, and it uses them only where it sees their flags. Models from before
2018 do not show them, and neither do `kvm64` and Proxmox VE's x86-64 levels. The host is
protected either way; what is at stake are processes inside the guest against each other. `pcid`
protects nothing, but makes the defence against Meltdown cheap.

## How it decides

It looks at x86 virtual machines under KVM with a named model. `host` and `host-model` pass on
what the host has. Only flags that can help are asked for:

- the host's vendor decides which: `spec-ctrl`, `ssbd`, `md-clear` and `pcid` on Intel, `ibpb` and
  `virt-ssbd` or `amd-ssbd` on AMD; other vendors are not judged;
- the host's own flags must have it, so that it can be given;
- where the kernel lists the CPU's bugs, the one that the flag is for must be among them (`pcid`
  is asked for only then);
- what the model shows already, as the -IBRS models do, is not asked for again.

Low, or info where only `pcid` is missing. Where the host's flags are not known, the check is
skipped.

## Remedy

On Proxmox VE add the flags to the guest's `cpu` line; they are on its list of flags allowed for a
single guest. With libvirt use `host-model`, or add `<feature policy='require' .../>`. Every node
that the guest may move to must have the flags as well.

## What fix does

`unmask fix --vm 101 --cpu +md-clear,+spec-ctrl` adds flags to what is configured, once everything
that it costs is acknowledged.

## When to accept it

Where a guest runs only programs that trust each other.

## References

- Proxmox VE documentation, qm.adoc, "Meltdown / Spectre related CPU flags"
- QEMU documentation, "CPU models for x86 hosts", important CPU features
- Linux, Documentation/admin-guide/hw-vuln
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from unmask.errors import UnreadError
from unmask.model.case import GuestCase
from unmask.model.cpu import FeatureView, HostCpu, Mode
from unmask.model.finding import About, Problem, Rule, Severity
from unmask.model.inventory import Platform
from unmask.rules import _commands, _peers, _scope, _words


@dataclass(frozen=True, slots=True)
class Defence:
    """A flag to give a guest, how to see whether it has it, and what it is for."""

    flag: str
    """As it is turned on, in our spelling."""
    seen_as: tuple[str, ...]
    """Any of these words shows that a CPU has it; the first is what a guest's kernel prints."""
    bugs: frozenset[str]
    """Linux's names of the bugs that it is for."""


SPECTRE = frozenset({"spectre_v2"})
BYPASS = frozenset({"spec_store_bypass"})
BUFFERS = frozenset({"mds", "taa", "mmio_stale_data", "rfds"})
DEFENCES = {
    "GenuineIntel": (
        Defence("spec-ctrl", ("ibrs", "spec-ctrl", "spec_ctrl"), SPECTRE),
        Defence("ssbd", ("ssbd",), BYPASS),
        Defence("md_clear", ("md_clear",), BUFFERS),
        Defence("pcid", ("pcid",), frozenset({"cpu_meltdown"})),
    ),
    "AuthenticAMD": (
        Defence("ibpb", ("ibpb", "spec-ctrl"), SPECTRE),
        Defence("amd-ssbd", ("ssbd", "amd-ssbd", "virt_ssbd"), BYPASS),
    ),
}


def check(case: GuestCase) -> Iterator[Problem]:
    """Yield a problem where the guest lacks defences that its host could give."""
    if not _scope.on_kvm_x86(case) or _commands.passes_host(case.guest.current):
        return
    if case.guest.current.mode is Mode.UNKNOWN:
        raise UnreadError(_scope.unresolved(case))
    hidden = [item for items in DEFENCES.values() for item in items if _hidden(case.view, item)]
    if not hidden:
        return
    host = case.host_cpu
    if not host.vendor:
        raise UnreadError("the vendor of the host's CPU is not known", "its /proc/cpuinfo")
    wanted = [item for item in DEFENCES.get(host.vendor, ()) if item in hidden]
    missing = [item for item in wanted if _given(host, item)]
    if missing:
        yield _problem(case, missing)
    if not host.complete and len(missing) < len(wanted):
        raise UnreadError("the host's list of flags is not complete", "its /proc/cpuinfo")


def _hidden(view: FeatureView, item: Defence) -> bool:
    return all(view.hides(flag) for flag in item.seen_as)


def _given(host: HostCpu, item: Defence) -> bool:
    """Return whether the host has the flag and, as far as is known, the bug that it is for."""
    if not host.flags.intersection(item.seen_as):
        return False
    if not host.bugs:
        return item.flag != "pcid"
    return bool(host.bugs & item.bugs)


def _spelled(host: HostCpu, item: Defence) -> str:
    """Return the flag to turn on: AMD's Zen 1 has SSBD only in the form made for guests.

    Family 17h below model 30h is Zen and Zen+; later ones have amd-ssbd (Linux,
    arch/x86/kernel/cpu/amd.c, LS_CFG_SSBD).
    """
    first_zen = host.family == 0x17 and host.model is not None and host.model < 0x30
    return "virt_ssbd" if item.flag == "amd-ssbd" and first_zen else item.flag


def _problem(case: GuestCase, items: list[Defence]) -> Problem:
    host = case.host_cpu
    missing = [_spelled(host, item) for item in items]
    later = _scope.restart_brings(case)
    waits = later is not None and not any(_hidden(later, item) for item in items)
    return Problem(
        severity=Severity.INFO if missing == ["pcid"] else Severity.LOW,
        message=_words.about(
            case,
            f"{case.view.label} does not show {_words.flags(missing)}, which "
            f"{_words.host(case)} could give",
        ),
        evidence=(_judged_by(host),),
        remedy=_commands.WAITS if waits else _remedy(case, missing),
        command=_commands.restart(case) if waits else _commands.add_flags(case, missing),
        flags=tuple(sorted(missing)),
    )


def _judged_by(host: HostCpu) -> str:
    """Return a sentence on the facts about the host that decided."""
    bugs = sorted(host.bugs & (SPECTRE | BYPASS | BUFFERS | {"cpu_meltdown"}))
    if bugs:
        return f"The host is {host.vendor}, and its kernel lists the bugs {_words.listed(bugs)}."
    return f"The host is {host.vendor}; its bugs are not known, so its flags decide."


def _remedy(case: GuestCase, missing: list[str]) -> str:
    arguments = _commands.in_arguments(case)
    if arguments:
        return f"Turn {_words.flags(missing)} on. {arguments}"
    if case.guest.platform is Platform.LIBVIRT:
        return (
            f"Use <cpu mode='host-model'/>, or require {_words.flags(missing)} as features. "
            "It takes effect after a shutdown and start."
        )
    unable = _peers.lacking(case, frozenset(missing))
    limit = (
        f" {_words.listed(unable)} cannot give all of them: the guest would not start there."
        if unable
        else ""
    )
    return (
        f"Turn {_words.flags(missing)} on for this guest. It takes effect after a stop and start."
        f"{limit}"
    )


RULE = Rule("SEC001", "Mitigation flags are missing", About.GUEST, check)
