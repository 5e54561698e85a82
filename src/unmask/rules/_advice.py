"""What to do where a guest does not see what encryption wants: the smallest sufficient change.

Every rule that sends an operator to a CPU model asks here, so that no two of them disagree.
"""

from __future__ import annotations

from dataclasses import dataclass

from unmask.cpu import catalogue
from unmask.cpu.features import qemu_name
from unmask.model.case import GuestCase
from unmask.model.cpu import Origin
from unmask.model.inventory import Platform
from unmask.rules import _commands, _models, _out_of_reach, _peers, _scope, _single_flags, _words

CUSTOM_FILE = "/etc/pve/virtual-guest/cpu-models.conf"
BOTH = frozenset({"aes", "pclmulqdq"})
ELSEWHERE = "other nodes of its cluster cannot, and it would not start or move there"
NOT_HOST = "A named model is better than host for Windows, which can become slower on host."
LATER = "It takes effect after a stop and start."
COMPANIONS = {"avx": ("xsave",), "avx2": ("avx", "xsave")}
"""What Linux wants to see beside a flag before it uses it; named models have it anyway."""


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do, and the command for it."""

    text: str
    command: str = ""


def show(case: GuestCase, wanted: frozenset[str], *, unsure: bool = False) -> Advice:
    """Return how the guest gets to see all of `wanted`.

    The order is: what no configuration can change, a change that already waits, the place that
    really decides the CPU, a flag beside the model, the smallest model that fits every known
    node, and only then passing the host through.

    Args:
        case: The guest.
        wanted: The flags, those that it sees already included. What its host lacks is left out.
        unsure: Whether it is not known what in the guest wants them.
    """
    beyond = _out_of_reach.explained(case, wanted)
    if beyond:
        return Advice(beyond)
    later = _scope.restart_brings(case)
    if later and later.shows(*wanted):
        shows = _named(wanted, unsure=unsure)
        text = f"The change that is pending shows {shows}: stop the guest and start it again."
        return Advice(text, _commands.restart(case))
    spec = _commands.next_spec(case)
    if spec.origin is Origin.ARGS:
        return Advice(_in_arguments(case))
    if spec.origin is Origin.CUSTOM:
        return Advice(
            f"Add {_changes(case, wanted)} to the flags of {spec.label} in {CUSTOM_FILE}; that "
            "changes every guest that uses this custom model, at its next stop and start."
        )
    off = _turned_off(case, wanted)
    if off:
        text = (
            f"The configuration turns {_words.flags(off)} off by name: leave that out, and "
            f"{spec.label} shows {_named(wanted, unsure=unsure)}. {LATER}"
        )
        return Advice(text, _commands.drop_flags(case, off))
    if not unsure:
        alone = _single_flags.enough(case, wanted - _shown(case))
        if alone:
            return Advice(*alone)
    if _scope.known_host_cpu(case) is None:
        return _blind(case, wanted)
    return _model(case, wanted, unsure=unsure)


def _named(wanted: frozenset[str], *, unsure: bool = False) -> str:
    """Return the flags in words: "both" where the rule that asks has just named the two."""
    return "both" if unsure and wanted == BOTH else _words.flags(wanted)


def _shown(case: GuestCase) -> frozenset[str]:
    """Return what the guest's configuration shows by itself."""
    return frozenset(flag for flag, state in case.view.states.items() if state == "shown")


def _changes(case: GuestCase, wanted: frozenset[str]) -> str:
    """Return what is to be added to a custom model's flags: "+aes;+pclmulqdq"."""
    lacking = {flag for flag in wanted if not case.view.shows(flag)} or set(wanted)
    lacking |= {
        other for flag in lacking for other in COMPANIONS.get(flag, ()) if case.view.hides(other)
    }
    return ";".join(f"+{qemu_name(flag)}" for flag in sorted(lacking))


def _turned_off(case: GuestCase, wanted: frozenset[str]) -> frozenset[str]:
    """Return what is turned off by name, where the guest would see all without that."""
    spec = _commands.next_spec(case)
    host = _scope.known_host_cpu(case)
    given = wanted & host.flags if host else wanted
    off = spec.off & given
    if _commands.passes_host(spec):
        return off
    model = catalogue.find(spec.model)
    shown = (model.flags if model else frozenset()) | spec.on | off
    return off if given <= shown else frozenset()


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


def _blind(case: GuestCase, wanted: frozenset[str]) -> Advice:
    """Advise where the host's flags are not known: no command, which might not start there."""
    if case.guest.platform is Platform.LIBVIRT:
        text = f"Use <cpu mode='host-model'/>, which shows {_words.flags(wanted)} if its host has"
        return Advice(f"{text} them; that is not known. {LATER}", _commands.edit(case))
    names = _models.examples(case.guest.platform, case.view.level or 0, wanted)
    model = _words.listed(names, "or") or f"a custom model in {CUSTOM_FILE}"
    return Advice(
        f"What its host's CPU has is not known: read its /proc/cpuinfo first. Where it has "
        f"{_words.flags(wanted)}, use {model}. {LATER}"
    )


def _model(case: GuestCase, wanted: frozenset[str], *, unsure: bool) -> Advice:
    model = smallest(case, wanted)
    everywhere = bool(model)
    model = model or smallest(case, wanted, own_host=True)
    if case.guest.platform is Platform.LIBVIRT:
        return _for_libvirt(case, wanted, model, unsure=unsure)
    return _for_proxmox(case, wanted, model, everywhere=everywhere, unsure=unsure)


def smallest(case: GuestCase, wanted: frozenset[str], *, own_host: bool = False) -> str:
    """Return the smallest named model with `wanted` that the hosts can run, or "".

    The hosts are the guest's own and all peers that are known, or its own alone. The model keeps
    the guest's x86-64 level, or the highest that all of these hosts have, and it need not have
    what the guest's own host lacks.
    """
    hosts = frozenset([case.host_cpu]) if own_host else _peers.known_cpus(case)
    needed = wanted & case.host_cpu.flags
    modern = "aes" in needed and _single_flags.ignored_by_windows(case)
    level = case.view.level or 0
    return _models.smallest(hosts, case.guest.platform, level, needed, modern=modern)


def _for_proxmox(
    case: GuestCase, wanted: frozenset[str], model: str, *, everywhere: bool, unsure: bool
) -> Advice:
    custom = f"a custom model with {_changes(case, wanted)} in {CUSTOM_FILE}"
    end = f"{_aes_only(case) if unsure else ''} {LATER}"
    windows = _scope.windows(case)
    if not model:
        host = "" if windows else ", or host where the guest stays on nodes whose flags are equal"
        return Advice(f"No named model fits {case.host.value.name}: use {custom}{host}.{end}")
    reach = reaches(case) if everywhere else f"{case.host.value.name} can run; {ELSEWHERE}"
    why = f" {NOT_HOST}" if windows else ""
    zfs = _wants_avx(case, model) if unsure else ""
    has = _named(wanted & case.host_cpu.flags, unsure=unsure)
    text = f"Use {model}, the smallest model with {has} that {reach}; or {custom}.{why}{zfs}{end}"
    return Advice(text, _commands.set_model(case, model, shows=wanted))


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


def _for_libvirt(case: GuestCase, wanted: frozenset[str], model: str, *, unsure: bool) -> Advice:
    keep = "keep the other children of <cpu> (topology, numa, cache)"
    end = "It takes effect after a shutdown and start."
    shows = _named(wanted & case.host_cpu.flags, unsure=unsure)
    named = f"<cpu mode='custom' match='exact' check='partial'><model>{model}</model></cpu>"
    if _scope.windows(case) and model:
        text = f"Use {named}: a named model is better than the host's own CPU for Windows; {keep}."
    else:
        text = f"Use <cpu mode='host-model'/>, which shows {shows} on {_words.host(case)}; {keep}."
        if model:
            text += f" Where hosts differ, the smallest named model with {shows} is {model}."
    return Advice(f"{text} {end}", _commands.edit(case))


def _aes_model_helps(case: GuestCase) -> bool:
    """Return whether x86-64-v2-AES would lose nothing and give the guest AES."""
    return (case.view.level or 0) <= 2 and not _single_flags.ignored_by_windows(case)


def reaches(case: GuestCase) -> str:
    """Return which hosts a model was held against, as the end of a sentence."""
    host = case.host.value.name
    unknown = _peers.unknown_peers(case)
    known = len(case.peers) - unknown
    number = "" if known == 1 else f"{known} "
    others = f" and the other {number}node{'s'[: known - 1]} of its cluster" if known else ""
    left_out = f" ({_words.count(unknown, 'node')} with unknown flags left out)" if unknown else ""
    return f"{host}{others} can run{left_out}"
