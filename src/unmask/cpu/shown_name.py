"""What the name that a guest shows for its CPU tells of how the CPU was configured.

Every named model of QEMU has a text of its own (its property `model-id`, `data/model_ids.json`);
`host` passes the silicon's name on. `qemu64` and whatever a platform builds on it, as Proxmox VE
does with x86-64-v2 to v4, say "QEMU Virtual CPU"; only their flags tell them apart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from unmask.cpu import catalogue, data_file, features
from unmask.model.cpu import Accelerator, CpuSpec, HostCpu, Mode, Origin

QEMU64 = "qemu64 or a model built on it"
"""How `qemu64` is called where only the name was seen."""

ATHLON = (6, 2)
"""Family and model of QEMU's athlon, which has the same name as qemu32 and qemu64."""

_VIRTUAL = re.compile(r"QEMU Virtual CPU version .*")
_EMULATED = re.compile(r"QEMU TCG CPU version .*")
_SILICON = re.compile(
    r"(Intel|AMD|VIA|Zhaoxin|ZHAOXIN|ZX|Hygon|Centaur|Cyrix)\b.*"
    r"|.*\b(Xeon|EPYC|Ryzen|Opteron|Pentium|Celeron|Core\(TM\)|Atom\(TM\))\b.*"
)
"""Makers' own names: "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz", "AMD EPYC 7713 64-Core Processor",
"VIA Nano U3300@1200MHz". Looked at after QEMU's names, some of which begin likewise."""

_WITH_AES = re.compile(
    r"Xeon\(R\) (?:CPU )?(?:E[357]-\d{4}\w? v[2-9]|D-\d|W-\d|Gold|Silver|Bronze|Platinum|6\d{3})"
    r"|\bEPYC\b|\bRyzen\b|Core\(TM\) (?:i9|Ultra)"
)
"""Silicon of which every model has AES, as QEMU's definitions from IvyBridge and EPYC on have."""


@cache
def models() -> Mapping[str, tuple[str, ...]]:
    """Return QEMU's versioned models by the name that they show, white space folded."""
    return {name: tuple(text.split()) for name, text in data_file.read("model_ids").items()}


def named(name: str) -> str:
    """Return the QEMU model that shows `name`, as operators call it; "" where none does.

    Several versions of a model can show one name; the first of them is then meant.
    """
    versions = models().get(name, ())
    if not versions:
        return ""
    aliases = [alias for alias in catalogue.names() if catalogue.resolved(alias) == versions[0]]
    return min(aliases, key=lambda alias: (alias in versions, len(alias)))


def is_silicon(name: str) -> bool:
    """Return whether `name` is a maker's name for silicon, and none of QEMU's own."""
    return name not in models() and _SILICON.fullmatch(name) is not None


def surely_has_aes(name: str) -> bool:
    """Return whether every processor that is called `name` by its maker has AES."""
    return is_silicon(name) and _WITH_AES.search(name) is not None


def spec(cpu: HostCpu, accelerator: Accelerator) -> CpuSpec:
    """Return what the CPU that a guest shows tells of its configuration.

    Flags that the model has or lacks against what is seen are in `on` and `off`, where a model is
    named and the flags are known. Nothing here was read from a hypervisor: `steps` says what it
    rests on.
    """
    name = cpu.model_name
    if cpu.arch in ("aarch64", "armv7l") and accelerator is Accelerator.KVM:
        said = f'"{name}": under' if name else "under"
        return _spec(Mode.HOST, "host", f"{said} KVM, an ARM guest has its host's own CPU")
    if not name:
        return _spec(Mode.UNKNOWN, "not told", "the guest shows no name for its CPU")
    if _VIRTUAL.fullmatch(name):
        return _virtual(cpu, accelerator)
    if _EMULATED.fullmatch(name):
        said = f'"{name}" is what QEMU\'s max shows where it emulates the CPU'
        return _spec(Mode.MAXIMUM, "max", said)
    model = named(name)
    if model:
        return _model(cpu, accelerator, model, model, f'"{name}" is what QEMU\'s {model} shows')
    if not is_silicon(name):
        said = f"\"{name}\" is neither QEMU's nor a maker's name: the platform chose it"
        return _spec(Mode.UNKNOWN, name, said)
    said = f'"{name}" is the name of silicon, which is passed on'
    if accelerator is Accelerator.KVM:
        return _spec(Mode.HOST, "host", f"{said} by the model host")
    return _spec(Mode.UNKNOWN, name, f"{said}; flags may be hidden all the same")


def _virtual(cpu: HostCpu, accelerator: Accelerator) -> CpuSpec:
    """Return one of the three models that are called "QEMU Virtual CPU"."""
    said = f'"{cpu.model_name}" is what QEMU\'s'
    if (cpu.family, cpu.model) == ATHLON:
        return _model(cpu, accelerator, "athlon", "athlon", f"{said} athlon shows")
    if cpu.arch == "i686" and "lm" not in cpu.flags and cpu.family == 6:
        return _model(cpu, accelerator, "qemu32", "qemu32", f"{said} qemu32 shows")
    steps = [f"{said} qemu64 shows, and every model that is built on it"]
    built = _built(cpu.flags)
    if built:
        steps.append(f"with the flags that Proxmox VE's {built} adds to it")
    return _model(cpu, accelerator, "qemu64", QEMU64, *steps)


def _built(flags: frozenset[str]) -> str:
    """Return the largest of Proxmox's models on qemu64 that is in `flags`; "" for none."""
    known = filter(None, map(catalogue.proxmox_model, catalogue.proxmox_names()))
    fitting = [m for m in known if m.reported_model == "qemu64" and m.on <= flags]
    return max(fitting, key=lambda model: len(model.on)).name if fitting else ""


def _model(cpu: HostCpu, accelerator: Accelerator, model: str, label: str, *steps: str) -> CpuSpec:
    """Return a named model, and what is seen beside it or lacks; only what a kernel would list.

    Where the flags were not read, the name alone is not enough: flags can be turned on and off
    beside every model, and are in those that are built on qemu64.
    """
    if not cpu.complete:
        return _spec(Mode.UNKNOWN, label, *steps, "its flags were not read")
    found = catalogue.find(model)
    flags = cpu.flags
    if found:
        flags = found.tcg_flags if accelerator is Accelerator.TCG else found.flags
    on = frozenset(f for f in cpu.flags - flags if features.qemu_knows(features.qemu_name(f)))
    off = frozenset(filter(features.listed, flags - cpu.flags))
    return _spec(Mode.MODEL, label, *steps, model=model, on=on, off=off)


def _spec(
    mode: Mode,
    label: str,
    *steps: str,
    model: str = "",
    on: frozenset[str] = frozenset(),
    off: frozenset[str] = frozenset(),
) -> CpuSpec:
    return CpuSpec(
        written="",
        origin=Origin.LIVE,
        mode=mode,
        label=label,
        model=model,
        on=on,
        off=off,
        exact=mode is Mode.MODEL,
        steps=steps,
    )
