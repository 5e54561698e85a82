"""QEMU's x86 CPU models and the flags that a guest sees of them.

The definitions are QEMU's own (`data/qemu_models.json`, written by `tools/cpu_catalogue.py` from
QEMU 7.2 to 11), never libvirt's map of them: a guest gets what QEMU defines. An accelerator changes
a definition before the guest sees it: KVM's defaults turn some flags on and off for every model,
and TCG shows only what it implements.

What Proxmox VE adds to these models (`data/proxmox.json`) follows at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from unmask.cpu import data_file, features, levels

_NEWEST = 9999


@dataclass(frozen=True, slots=True)
class CpuModel:
    """A named CPU model of QEMU."""

    name: str
    resolved: str
    """The versioned model that the name stands for on the `pc` and `q35` machines."""
    vendor: str
    """As defined: "GenuineIntel", "AuthenticAMD", "HygonGenuine", "CentaurHauls", "" for `base`.

    Under KVM a guest sees the host's vendor unless `vendor=` says otherwise.
    """
    flags: frozenset[str]
    """What a guest sees under KVM on a host that has all of it."""
    tcg_flags: frozenset[str]
    """What a guest sees under TCG of the oldest QEMU that has the model."""
    defined: frozenset[str]
    """The definition before the accelerator's defaults (with `svm` where it has it)."""
    since: str
    """The oldest QEMU looked at that has it: "7.2", "10.0", "11.1"."""
    deprecated: str
    """Why it is going to disappear, or ""; no QEMU of 7.2 to 11 says so of any x86 model."""
    level: int
    """x86-64 level under KVM, 1 to 4; 0 below level 1."""


@cache
def find(name: str) -> CpuModel | None:
    """Return the model that QEMU knows by exactly this name, else None.

    `host` and `max` are no models: they stand for what the host or the accelerator offers.
    """
    data = _data()
    if name in data["aliases"]:
        version = find(data["aliases"][name])
        return version and replace(version, name=name)
    entry = data["models"].get(name)
    if entry is None:
        return None
    defined = _ours(expand(data["models"], name))
    flags = under_kvm(defined) if name != "base" else defined
    return CpuModel(
        name=name,
        resolved=name,
        vendor=entry["vendor"],
        flags=flags,
        tcg_flags=under_tcg(defined, entry["since"]),
        defined=defined,
        since=entry["since"],
        deprecated=entry.get("deprecated", ""),
        level=levels.level(flags),
    )


def resolved(name: str) -> str:
    """Return the versioned model that a name means; "" where QEMU knows none of that name."""
    model = find(name)
    return model.resolved if model else ""


@cache
def names() -> tuple[str, ...]:
    """Return every model name, versions and aliases included, sorted."""
    data = _data()
    return tuple(sorted((*data["models"], *data["aliases"])))


@cache
def releases() -> tuple[str, ...]:
    """Return the QEMU releases that the data was read from, oldest first: ("7.2", ...)."""
    return tuple(sorted(_data()["releases"], key=_order))


def under_kvm(defined: frozenset[str]) -> frozenset[str]:
    """Return a definition as KVM's defaults change it: `x2apic` on, `svm` and all below it off.

    Who turns `svm` on beside the model gets what the definition has below it (`npt` ...) as well.
    """
    on, off = _kvm_defaults()
    return (defined | on) - off


def under_tcg(defined: frozenset[str], release: str = "") -> frozenset[str]:
    """Return what TCG shows of a definition; TCG's defaults turn `vme` off."""
    return (defined & emulated(release)) - {"vme"}


@cache
def emulated(release: str = "") -> frozenset[str]:
    """Return every flag that TCG implements, which is what `max` shows under it.

    `release` is a QEMU version such as "10.0.13" or "9.2"; the newest one looked at that is not
    newer decides. Without it, or for a QEMU before 7.2, the oldest decides.
    """
    known = releases()
    fitting = [number for number in known if release and _order(number) <= _order(release)]
    return _ours(_data()["releases"][(fitting or known[:1])[-1]]["tcg"].split())


def expand(models: Mapping[str, Mapping[str, str]], name: str) -> frozenset[str]:
    """Return a model's flags in QEMU's names from the data file's form.

    A later version of a model is written as what it changes in the version before.
    """
    entry = models[name]
    whole = expand(models, entry["like"]) if "like" in entry else frozenset[str]()
    added = (*entry.get("flags", "").split(), *entry.get("plus", "").split())
    return whole.union(added).difference(entry.get("minus", "").split())


@dataclass(frozen=True, slots=True)
class ProxmoxModel:
    """A model of Proxmox's own: one of QEMU's plus flags."""

    name: str
    reported_model: str
    """The QEMU model that it is built on."""
    on: frozenset[str]
    """The flags beside it, in our spelling."""
    qemu_flags: tuple[str, ...]
    """The same as Proxmox spells them ("sse4.1"), sorted."""
    since: str
    """The first Proxmox VE that has it."""


@cache
def proxmox_model(name: str) -> ProxmoxModel | None:
    """Return the built-in model of exactly this name, else None."""
    entry = _proxmox()["models"].get(name)
    if entry is None:
        return None
    flags = tuple(sorted(entry["flags"].split()))
    return ProxmoxModel(name, entry["reported_model"], _ours(flags), flags, entry["since"])


@cache
def proxmox_names() -> tuple[str, ...]:
    """Return the names of Proxmox's built-in models, sorted."""
    return tuple(sorted(_proxmox()["models"]))


def proxmox_deprecated(name: str) -> str | None:
    """Return the model that Proxmox starts instead of `name`, or None where it takes the name."""
    replacement: str | None = _proxmox()["deprecated"].get(name)
    return replacement


def proxmox_vm_flags(version: str) -> frozenset[str]:
    """Return the flags that `flags=` in a guest's `cpu:` may name, as Proxmox spells them.

    A custom model may name any. `version` is one of Proxmox VE ("8.4", "9.0.27"); one that leaves
    numbers out ("9") means the newest that begins with them.
    """
    allowed: set[str] = set()
    for since, flags in _proxmox()["vm_flags"].items():
        first = _order(since)
        if (_order(version) + (_NEWEST,) * len(first))[: len(first)] >= first:
            allowed.update(flags.split())
    return frozenset(allowed)


@cache
def proxmox_cpu_names(arch: str = "") -> frozenset[str]:
    """Return the cputypes that an architecture has in Proxmox VE 9.2, custom models apart.

    Without `arch` all those that validate in a `cpu:` line: Proxmox lets `cortex-a57` pass there
    for an x86 guest, and refuses to start it.
    """
    types = _proxmox()["cputypes"]
    wanted = [types.get(arch, {})] if arch else types.values()
    own = proxmox_names() if arch in {"", "x86_64"} else ()
    return frozenset(own).union(
        *(listed.split() for vendors in wanted for listed in vendors.values())
    )


def proxmox_vendor(name: str) -> str:
    """Return the vendor that Proxmox asks QEMU to report for an x86 cputype.

    "" means that it asks for none, as for kvm64 and its built-in models: the guest then sees the
    host's vendor under KVM, and QEMU's under TCG.
    """
    for vendor, listed in _proxmox()["cputypes"]["x86_64"].items():
        if vendor != "default" and name in listed.split():
            return str(vendor)
    return ""


def proxmox_default(arch: str, *, kvm: bool) -> str:
    """Return the cputype of a guest without `cpu:`; x86_64's for an architecture not known.

    It is not what the GUI's wizard proposes since Proxmox VE 8.0, which is `x86-64-v2-AES`.
    """
    defaults = _proxmox()["defaults"]
    return str(defaults.get(arch, defaults["x86_64"])["kvm" if kvm else "tcg"])


def proxmox_added(model: str) -> tuple[str, ...]:
    """Return the flags, with sign, that Proxmox adds to a QEMU model: `+sep` to kvm32 and kvm64."""
    return tuple(
        flag
        for pattern, flags in _proxmox()["added"].items()
        if fnmatchcase(model, pattern)
        for flag in flags.split()
    )


def proxmox_added_when(condition: str) -> tuple[str, ...]:
    """Return the flags, with sign, that Proxmox adds to any x86 model under a condition.

    Conditions: "kvm"; "solaris" (`ostype`); "windows11_qemu11" (Windows 11 or newer on a machine
    of QEMU 11.0 or newer).

    Raises:
        KeyError: There is no such condition.
    """
    return tuple(_proxmox()["added_when"][condition].split())


def _ours(names_of_qemu: Iterable[str]) -> frozenset[str]:
    return frozenset[str]().union(*map(features.flags_of, names_of_qemu))


def _order(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split(".") if part.isdigit())


@cache
def _kvm_defaults() -> tuple[frozenset[str], frozenset[str]]:
    rule = _data()["kvm"]
    return _ours(rule["on"].split()), _ours(rule["off"].split())


@cache
def _proxmox() -> dict[str, Any]:
    return data_file.read("proxmox")


@cache
def _data() -> dict[str, Any]:
    return data_file.read("qemu_models")
