"""From `--cpu` to what a guest's configuration is to say, with all else of its CPU kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from unmask.cpu import catalogue, features
from unmask.dialects.libvirt import cpu as libvirt_cpu
from unmask.dialects.libvirt import cpu_element, xml
from unmask.dialects.libvirt.place import Place
from unmask.dialects.proxmox import asked_cpu, cpu_option
from unmask.dialects.proxmox.release import NEWEST
from unmask.errors import InputError, UsageError
from unmask.fixes import _recommended, _wish_words
from unmask.fixes._wish_words import RECOMMENDED, Words
from unmask.model.case import GuestCase
from unmask.model.change import Setting
from unmask.model.cpu import Accelerator, CpuSpec
from unmask.model.inventory import Cluster, Inventory, Platform
from unmask.model.reading import Known
from unmask.rules import _advice, _commands, _words

HYPERVISOR = "Proxmox VE"
CUSTOM = "custom-"
OF_LIBVIRT = ("host-model", "host-passthrough", "maximum")
MODES = {"host": "host-passthrough", "max": "maximum"}
"""Words that mean one of libvirt's modes."""


@dataclass(frozen=True, slots=True)
class Wished:
    """What a wish comes to for one guest."""

    after: Setting
    """What its configuration is to say; without a digest."""
    spec: CpuSpec
    """What the hypervisor will make of it."""
    flags: tuple[str, ...] = ()
    """Flags that are turned on by name."""
    custom_model: str = ""
    """The name, without `custom-`, of a model that has to be made first; "" for none."""
    section: str = ""
    """Its section of cpu-models.conf."""
    notes: tuple[str, ...] = ()
    """Full sentences."""


def wished(wish: str, case: GuestCase, inventory: Inventory, before: Setting) -> Wished:
    """Return what a wish comes to.

    Args:
        wish: As `--cpu` has it.
        case: The guest.
        inventory: Its own, for the other nodes of its cluster.
        before: What its configuration says now, for its next start.

    Raises:
        UsageError: There is no such CPU, its hypervisor does not take it, or, with `recommended`,
            no CPU model is of any use.
    """
    notes: tuple[str, ...] = ()
    if wish.strip() == RECOMMENDED:
        choice = _recommended.recommended(case, inventory)
        words, notes = choice.words, choice.notes
    else:
        words = _wish_words.parse(wish.strip())
    if words.empty:
        return Wished(Setting(before.value), _commands.next_spec(case), notes=notes)
    try:
        if case.guest.platform is Platform.LIBVIRT:
            found = _libvirt(words, case, before)
        else:
            found = _proxmox(words, case, inventory, before)
    except InputError as error:
        reason = " ".join(str(error).split())
        raise UsageError(f"--cpu {wish} is none for {case.guest.subject}: {reason}") from error
    return replace(found, notes=(*notes, *found.notes))


def _proxmox(words: Words, case: GuestCase, inventory: Inventory, before: Setting) -> Wished:
    if words.model in OF_LIBVIRT:
        raise UsageError(
            f"--cpu {words.model} is libvirt's; Proxmox VE has host, its own models and QEMU's"
        )
    version = _version(case)
    flags = {flag: _name(flag, version, case) for flag in (*words.on, *words.off)}
    kept, notes = _taken(before.value, case, version)
    value = proxmox_value(kept, words, flags, _default(case))
    cluster, name, section = case.cluster, "", ""
    wanted = words.model.removeprefix(CUSTOM) if words.model.startswith(CUSTOM) else ""
    if wanted and cluster and wanted not in dict(cluster.custom_models):
        made = _recommended.custom(case, inventory, wanted)
        name, section = wanted, made.section
        models = tuple(sorted((*cluster.custom_models, (wanted, made.spec)), key=lambda x: x[0]))
        cluster = replace(cluster, custom_models=models)
    host = case.host.value if isinstance(case.host, Known) else None
    spec = asked_cpu.spec(value, case.guest, host, cluster or _none(case))
    return Wished(Setting(value), spec, words.on, name, section, notes)


def _taken(value: str | None, case: GuestCase, version: str) -> tuple[str | None, tuple[str, ...]]:
    """Return a value as far as Proxmox VE takes it, and what is to be said where it does not."""
    if value is None:
        return None, ()
    models = [name for name, _ in case.cluster.custom_models] if case.cluster else None
    try:
        cpu_option.parse(value, models, version)
    except InputError as error:
        why = " ".join(str(error).split())
        return None, (f"Proxmox VE does not take {value}, so that nothing of it is kept: {why}.",)
    return value, ()


def _none(case: GuestCase) -> Cluster:
    return Cluster(case.guest.host, "", Platform.PROXMOX)


def proxmox_value(before: str | None, words: Words, names: Mapping[str, str], default: str) -> str:
    """Return the value of `cpu` with a wish merged into it; nothing of it is lost.

    Args:
        before: The value now, None where there is none or Proxmox VE does not take it.
        words: The wish.
        names: How Proxmox VE spells the wish's flags.
        default: The cputype of a guest that names none.
    """
    kept = dict(cpu_option.split(before or ""))
    cputype = words.model or kept.pop("cputype", "") or default
    kept.pop("cputype", None)
    present = [flag for flag in kept.get("flags", "").split(";") if flag]
    wanted = dict.fromkeys(words.on, "+") | dict.fromkeys(words.off, "-")
    there = {features.canonical(flag[1:]) for flag in present}
    # A flag may be there twice, and the last counts.
    merged = [f"{wanted.get(features.canonical(flag[1:]), flag[0])}{flag[1:]}" for flag in present]
    merged += [f"{sign}{names[flag]}" for flag, sign in wanted.items() if flag not in there]
    if merged:
        kept["flags"] = ";".join(dict.fromkeys(merged))
    kept |= words.rest
    return ",".join([cputype, *(f"{key}={value}" for key, value in kept.items())])


def _version(case: GuestCase) -> str:
    host = case.host.value if isinstance(case.host, Known) else None
    return (host.software.hypervisor.removeprefix(HYPERVISOR).strip() if host else "") or NEWEST


def _default(case: GuestCase) -> str:
    runs = case.guest.pending_accelerator or case.guest.accelerator
    return catalogue.proxmox_default(case.guest.arch, kvm=runs is not Accelerator.TCG)


def _name(flag: str, version: str, case: GuestCase) -> str:
    """Return how Proxmox VE spells a flag that a guest's own `cpu` may name.

    Raises:
        UsageError: It may not; the message says what may.
    """
    allowed = catalogue.proxmox_vm_flags(version)
    found = [name for name in allowed if features.canonical(name) == flag or name == flag]
    if found:
        return found[0]
    name = features.qemu_name(flag)
    known = isinstance(case.host, Known) and isinstance(case.host.value.cpu, Known)
    wanted = _advice.BOTH | {flag}
    model = ""
    if known:
        model = _advice.smallest(case, wanted) or _advice.smallest(case, wanted, own_host=True)
    named = f"a named model that has it (--cpu {model})" if model else "a named model that has it"
    raise UsageError(
        f"{case.guest.subject}: Proxmox VE takes no {name} among the flags of a single guest: it "
        f"takes {_words.listed(sorted(allowed))}; give the guest {named}, or a custom model "
        "(--cpu custom-NAME, which unmask makes for the nodes of the cluster)"
    )


def _libvirt(words: Words, case: GuestCase, before: Setting) -> Wished:
    if words.rest:
        raise UsageError(f"--cpu: {next(iter(words.rest))}= is Proxmox VE's, not libvirt's")
    if words.model.startswith(CUSTOM):
        raise UsageError(
            f"--cpu {words.model}: libvirt has no custom models; name one of its models with flags "
            "(Westmere,+aes)"
        )
    guest = case.guest
    x86 = guest.arch in ("x86_64", "i686", "")
    mode = MODES.get(words.model, words.model if words.model in OF_LIBVIRT else "")
    model = "" if mode else words.model
    if model and x86 and catalogue.find(model) is None:
        raise UsageError(f"--cpu {model}: libvirt has no such model; unmask models lists them")
    runs = guest.pending_accelerator or guest.accelerator
    wish = cpu_element.Wish(mode=mode, model=model, on=words.on, off=words.off)
    built = cpu_element.build(before.value, wish, runs, x86=x86)
    place = Place(guest.arch, runs)
    spec = libvirt_cpu.spec(xml.parse(built.element, "the new <cpu>"), place)
    notes = tuple(f"{note[:1].upper()}{note[1:].rstrip('.')}." for note in built.notes)
    return Wished(Setting(built.element), spec, words.on, notes=notes)
