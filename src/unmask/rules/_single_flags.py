"""Flags beside the model, where that is all that something in the guest needs."""

from __future__ import annotations

from unmask.cpu import catalogue
from unmask.cpu.features import flags_of, libvirt_name, qemu_name
from unmask.cpu.passthrough import gives
from unmask.model.case import GuestCase
from unmask.model.cpu import Mode, Origin
from unmask.model.inventory import Platform
from unmask.rules import _commands, _peers, _scope, _words

FREE = frozenset({"aes", "pclmulqdq", "ssse3", "sse4_1"})
"""Flags that work without any other: no state of their own, as AVX has."""
OLD_FAMILY = ("qemu64", "kvm64")
"""QEMU models of CPU family 15; Proxmox VE's x86-64-v2 to v4 are built on qemu64."""


def enough(case: GuestCase, lacking: frozenset[str]) -> tuple[str, str] | None:
    """Return how single flags are added, and the command; None where that is not possible.

    Args:
        case: A guest under KVM whose model is in its own configuration.
        lacking: What it wants and does not see.
    """
    spec = _commands.next_spec(case)
    host = _scope.known_host_cpu(case)
    if not lacking or host is None or spec.mode is not Mode.MODEL:
        return None
    if of_old_family(case) and ignored_by_windows(case):
        return None
    if not all(gives(flag, host.flags) for flag in lacking):
        return None
    if case.guest.platform is Platform.PROXMOX:
        return _proxmox(case, lacking)
    if spec.origin is Origin.CONFIG and lacking <= FREE:
        return _libvirt(case, lacking)
    return None


def of_old_family(case: GuestCase) -> bool:
    """Return whether the guest's model is of CPU family 15."""
    return case.view.model in OLD_FAMILY


def ignored_by_windows(case: GuestCase) -> bool:
    """Return whether Windows would not use AES however it is shown under such a model.

    It ignores AES on AMD CPUs of a family below 15h (SymCrypt, lib/cpuid.c), and these models are
    of family 0Fh with the host's vendor.
    """
    host = _scope.known_host_cpu(case)
    vendor = host.vendor if host else _scope.seen(case).vendor
    return vendor == "AuthenticAMD" and _scope.windows(case)


def _proxmox(case: GuestCase, lacking: frozenset[str]) -> tuple[str, str] | None:
    release = case.host.value.software.hypervisor.removeprefix("Proxmox VE").strip()
    allowed = catalogue.proxmox_vm_flags(release)
    if not lacking <= frozenset[str]().union(*map(flags_of, allowed)):
        return None
    added = _words.listed(f"+{qemu_name(flag)}" for flag in sorted(lacking))
    unable = _peers.lacking(case, lacking)
    elsewhere = f" It would not start on {_words.listed(unable)} then." if unable else ""
    text = (
        f"Add {added} to its CPU, which keeps the model {_commands.next_spec(case).label} and is "
        f"enough for this.{elsewhere} It takes effect after a stop and start."
    )
    return text, _commands.add_flags(case, lacking)


def _libvirt(case: GuestCase, lacking: frozenset[str]) -> tuple[str, str]:
    added = [f"<feature policy='require' name='{libvirt_name(flag)}'/>" for flag in sorted(lacking)]
    unable = _peers.lacking(case, lacking)
    elsewhere = f" It would not start on {_words.listed(unable)} then." if unable else ""
    text = (
        f"Add {_words.listed(added)} to <cpu>, which is enough for this.{elsewhere} It takes "
        "effect after a shutdown and start."
    )
    return text, _commands.edit(case)
