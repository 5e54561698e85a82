"""What to do where a guest's CPU model hides AES or PCLMULQDQ: the smallest sufficient change."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.cpu import catalogue
from unmask.model.case import GuestCase
from unmask.model.cpu import Origin
from unmask.model.inventory import Platform
from unmask.rules import _commands, _models, _peers, _scope, _words

CUSTOM_FILE = "/etc/pve/virtual-guest/cpu-models.conf"
BOTH = frozenset({"aes", "pclmulqdq"})
ELSEWHERE = "other nodes of its cluster cannot, and it would not start or move there"
NOT_HOST = "A named model is better than host for Windows, which can become slower on host."


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do, and the command for it."""

    text: str
    command: str = ""


def advice(case: GuestCase) -> Advice:
    """Return how the guest gets both AES and PCLMULQDQ; its host must be known and have AES.

    The order is: a change that already waits, the place that really decides the CPU, the smallest
    model that fits every known node, and only then passing the host through.
    """
    later = _scope.restart_brings(case)
    if later and later.shows(*BOTH):
        text = "The change that is pending shows both: stop the guest and start it again."
        return Advice(text, _commands.restart(case))
    spec = _commands.next_spec(case)
    if spec.origin is Origin.ARGS:
        return Advice(_in_arguments(case))
    if spec.origin is Origin.CUSTOM:
        return Advice(
            f"Add +aes;+pclmulqdq to the flags of {spec.label} in {CUSTOM_FILE}; that changes "
            "every guest that uses this custom model, at its next stop and start."
        )
    off = _turned_off(case)
    if off:
        text = (
            f"The configuration turns {_words.flags(off)} off by name: leave that out, and "
            f"{spec.label} shows both. It takes effect after a stop and start."
        )
        return Advice(text, _commands.drop_flags(case, off))
    return _model(case)


def _turned_off(case: GuestCase) -> frozenset[str]:
    """Return what is turned off by name, where the guest would see both without that."""
    spec = _commands.next_spec(case)
    off = spec.off & BOTH & case.host_cpu.flags
    if _commands.passes_host(spec):
        return off
    model = catalogue.find(spec.model)
    shown = (model.flags if model else frozenset()) | spec.on | off
    return off if BOTH & case.host_cpu.flags <= shown else frozenset()


def _in_arguments(case: GuestCase) -> str:
    if case.guest.platform is Platform.LIBVIRT:
        return (
            "The -cpu in <qemu:commandline> decides: change its model there, or remove it so that "
            "<cpu> counts again."
        )
    return (
        "The -cpu in args decides, so that changing cpu has no effect: change its model there, "
        "or remove it so that cpu counts again; only root@pam may change args."
    )


def _model(case: GuestCase) -> Advice:
    model = smallest(case, BOTH)
    everywhere = bool(model)
    model = model or smallest(case, BOTH, own_host=True)
    if case.guest.platform is Platform.LIBVIRT:
        return _for_libvirt(case, model)
    return _for_proxmox(case, model, everywhere=everywhere)


def smallest(case: GuestCase, wanted: frozenset[str], *, own_host: bool = False) -> str:
    """Return the smallest named model with `wanted` that the hosts can run, or "".

    The hosts are the guest's own and all peers that are known, or its own alone. The model keeps
    the guest's x86-64 level, or the highest that all of these hosts have, and it need not have
    what the guest's own host lacks.
    """
    hosts = frozenset([case.host_cpu]) if own_host else _peers.known_cpus(case)
    needed = wanted & case.host_cpu.flags
    return _models.smallest(hosts, case.guest.platform, case.view.level or 0, needed)


def _for_proxmox(case: GuestCase, model: str, *, everywhere: bool) -> Advice:
    custom = f"a custom model with +aes;+pclmulqdq in {CUSTOM_FILE}"
    end = f"{_aes_only(case)} It takes effect after a stop and start."
    windows = _scope.windows(case)
    if not model:
        host = "" if windows else ", or host where the guest stays on nodes whose flags are equal"
        return Advice(f"No named model fits {case.host.value.name}: use {custom}{host}.{end}")
    reach = _range(case) if everywhere else f"{case.host.value.name} can run; {ELSEWHERE}"
    why = f" {NOT_HOST}" if windows else ""
    zfs = _wants_avx(case, model)
    text = f"Use {model}, the smallest model with both that {reach}; or {custom}.{why}{zfs}{end}"
    return Advice(text, _commands.set_model(case, model, shows=BOTH))


def _wants_avx(case: GuestCase, model: str) -> str:
    """Return who is not served by a model with both; nothing where it has AVX, or nobody is there.

    OpenZFS without AVX keeps a tenth of its AES-GCM speed (304 of 3148 MB/s, OpenZFS 2.4).
    """
    known = catalogue.find(model)
    if _scope.windows(case) or known is None or "avx" in known.flags:
        return ""
    if "avx" not in case.host_cpu.flags:
        return ""
    return " For OpenZFS's encryption take one that shows AVX too, such as SandyBridge."


def _aes_only(case: GuestCase) -> str:
    """Return the smaller change that is enough for disks, where it is one."""
    if case.view.shows("aes") or not _aes_model_helps(case):
        return ""
    return (
        " Where only disks are encrypted (LUKS, BitLocker), x86-64-v2-AES is enough; it hides "
        "PCLMULQDQ."
    )


def _for_libvirt(case: GuestCase, model: str) -> Advice:
    keep = "keep the other children of <cpu> (topology, numa, cache)"
    end = "It takes effect after a shutdown and start."
    named = f"<cpu mode='custom' match='exact' check='partial'><model>{model}</model></cpu>"
    if _scope.windows(case) and model:
        text = f"Use {named}: a named model is better than the host's own CPU for Windows; {keep}."
    else:
        text = f"Use <cpu mode='host-model'/>, which shows both on {_words.host(case)}; {keep}."
        if model:
            text += f" Where hosts differ, the smallest named model with both is {model}."
    return Advice(f"{text} {end}", _commands.edit(case))


def _aes_model_helps(case: GuestCase) -> bool:
    """Return whether x86-64-v2-AES would lose nothing and give the guest AES.

    Windows ignores AES on AMD CPUs of a family below 15h (SymCrypt, lib/cpuid.c), and that model
    is qemu64, of family 0Fh with the host's vendor.
    """
    old = _scope.windows(case) and case.host_cpu.vendor == "AuthenticAMD"
    return (case.view.level or 0) <= 2 and not old


def _range(case: GuestCase) -> str:
    """Return which hosts a model was held against, as the end of a sentence."""
    host = case.host.value.name
    unknown = _peers.unknown_peers(case)
    known = len(case.peers) - unknown
    number = "" if known == 1 else f"{known} "
    others = f" and the other {number}node{'s'[: known - 1]} of its cluster" if known else ""
    left_out = f" ({_words.count(unknown, 'node')} with unknown flags left out)" if unknown else ""
    return f"{host}{others} can run{left_out}"
