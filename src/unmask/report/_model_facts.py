"""What is known about a named CPU model of QEMU or of Proxmox VE, for `unmask models`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches

from unmask.cpu import catalogue, levels
from unmask.errors import UsageError

_VERSION = re.compile(r"-v[0-9]+$")
_VENDORS = {
    "GenuineIntel": "Intel",
    "AuthenticAMD": "AMD",
    "HygonGenuine": "Hygon",
    "CentaurHauls": "VIA",
}
_NO_MODELS = {
    "host": "it passes on what the host has, so there is no list of its flags",
    "max": "it shows all that the accelerator can give, so there is no list of its flags",
    "host-model": "libvirt chooses a model for the host on which the guest starts",
    "host-passthrough": "it passes on what the host has, so there is no list of its flags",
}


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """One model as a guest sees it under KVM on a host that has all of its flags."""

    name: str
    platform: str
    """"qemu" or "proxmox"."""
    vendor: str
    """A short name; "" where a guest sees the host's."""
    flags: frozenset[str]
    since: str
    """"QEMU 10.0", "QEMU 7.2 or older" (the oldest looked at), "Proxmox VE 8.0"."""
    same: tuple[str, ...] = ()
    """Other names of the very same model."""
    versions: tuple[str, ...] = ()
    """Its other versions, sorted by number."""
    built_on: str = ""
    """The QEMU model below a model of Proxmox's."""
    added: tuple[str, ...] = ()
    """The flags beside it, sorted."""
    notes: tuple[str, ...] = ()

    @property
    def level(self) -> int:
        """Return the x86-64 level, 0 below the first."""
        return levels.level(self.flags)


def listing(*, versions: bool) -> tuple[ModelFacts, ...]:
    """Return Proxmox VE's models, then QEMU's; with every version, or one for each model."""
    names = [name for name in catalogue.names() if versions or not _VERSION.search(name)]
    return tuple(map(facts, (*catalogue.proxmox_names(), *names)))


def facts(name: str) -> ModelFacts:
    """Return the facts of the model of this name.

    Raises:
        UsageError: There is none; the message names the nearest ones.
    """
    own = catalogue.proxmox_model(name)
    if own:
        return _of_proxmox(own)
    model = catalogue.find(name)
    if model:
        return _of_qemu(model)
    if name in _NO_MODELS:
        raise UsageError(f"{name} is no model: {_NO_MODELS[name]}")
    raise UsageError(f"there is no CPU model {name!r}; {_suggestion(name)}")


def _of_proxmox(model: catalogue.ProxmoxModel) -> ModelFacts:
    base = catalogue.find(model.reported_model)
    below = base.flags if base else frozenset()
    return ModelFacts(
        name=model.name,
        platform="proxmox",
        vendor="",
        flags=below | model.on,
        since=f"Proxmox VE {model.since}",
        built_on=model.reported_model,
        added=tuple(sorted(model.on)),
        notes=_notes(model.name, below | model.on),
    )


def _of_qemu(model: catalogue.CpuModel) -> ModelFacts:
    family = _VERSION.sub("", model.resolved)
    relatives = [name for name in catalogue.names() if _VERSION.sub("", name) == family]
    same = [name for name in catalogue.names() if catalogue.resolved(name) == model.resolved]
    return ModelFacts(
        name=model.name,
        platform="qemu",
        vendor=_VENDORS.get(model.vendor, model.vendor),
        flags=model.flags,
        since=_since(model.since),
        same=tuple(other for other in same if other != model.name),
        versions=tuple(sorted((n for n in relatives if _VERSION.search(n)), key=_number)),
        notes=(*_notes(model.name, model.flags), *filter(None, [model.deprecated])),
    )


def _since(release: str) -> str:
    oldest = release == catalogue.releases()[0]
    return f"QEMU {release} or older" if oldest else f"QEMU {release}"


def _number(name: str) -> int:
    return int(name.rpartition("-v")[2])


def _notes(name: str, flags: frozenset[str]) -> tuple[str, ...]:
    notes = []
    if "aes" in flags and "pclmulqdq" not in flags:
        notes.append("It shows AES without PCLMULQDQ: AES-GCM stays slow in most user space.")
    if name == "kvm64":
        notes.append("Proxmox VE's default where no cpu is configured; it adds lahf_lm and sep.")
    if name == "qemu64":
        notes.append("The default of QEMU itself, and of Proxmox VE for emulated guests (kvm: 0).")
    replacement = catalogue.proxmox_deprecated(name)
    if replacement:
        notes.append(f"Proxmox VE starts {replacement} instead.")
    return tuple(notes)


def _suggestion(name: str) -> str:
    known = {other.lower(): other for other in (*catalogue.names(), *catalogue.proxmox_names())}
    near = get_close_matches(name.lower(), known, n=3, cutoff=0.6)
    if near:
        return f"did you mean {' or '.join(known[other] for other in near)}?"
    return "unmask models lists them"
