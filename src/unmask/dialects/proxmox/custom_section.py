"""A custom CPU model as Proxmox VE keeps it: a section of virtual-guest/cpu-models.conf."""

from __future__ import annotations

from collections.abc import Collection

from unmask.cpu import catalogue
from unmask.cpu.custom_model import properties
from unmask.cpu.features import canonical, qemu_name
from unmask.dialects.proxmox import command, custom_models
from unmask.dialects.proxmox.command import Setting
from unmask.dialects.proxmox.cpu_option import CUSTOM, CpuOption
from unmask.model.baseline import CustomModel

STEM = "baseline"


def written(name: str, model: CustomModel) -> str:
    """Return the section; an empty line ends it, so that it can be appended to the file.

    What Proxmox VE adds to a base by itself (`sep` and `lahf_lm` to kvm64) is not written.
    """
    given = {canonical(word[1:]) for word in catalogue.proxmox_added(model.base) if word[0] == "+"}
    words = [f"+{qemu_name(flag)}" for flag in sorted(model.on - given)]
    words += [f"-{qemu_name(flag)}" for flag in sorted(properties(model.off))]
    flags = [f"\tflags {';'.join(words)}"] if words else []
    lines = [f"cpu-model: {name}", *flags, f"\treported-model {model.base}"]
    return "\n".join(lines) + "\n\n"


def argument(name: str, section: str, *, kvm: bool = True) -> str:
    """Return the `-cpu` value with which Proxmox VE starts a guest of this model.

    Raises:
        InputError: The section defines no such model, or Proxmox VE does not start it.
    """
    models = custom_models.parse(section).models
    return command.cpu_argument(CpuOption(CUSTOM + name), models, Setting(kvm=kvm))


def free_name(taken: Collection[str]) -> str:
    """Return a name that no custom model of the cluster has: "baseline", else with a number."""
    numbers = (f"{STEM}-{number}" for number in range(2, len(taken) + 3))
    return next(name for name in (STEM, *numbers) if name not in taken)
