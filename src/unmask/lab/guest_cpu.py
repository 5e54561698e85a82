"""The CPU that a guest of the lab gets when it starts: whether it starts, and its /proc/cpuinfo."""

from __future__ import annotations

from collections.abc import Mapping

from unmask.cpu import features
from unmask.cpu.resolve import resolve
from unmask.dialects import qemu
from unmask.dialects.proxmox import command, cpu_option
from unmask.dialects.proxmox.command import Setting
from unmask.errors import InputError
from unmask.lab.cluster import Cluster
from unmask.lab.guest_file import Values
from unmask.model.cpu import Accelerator, FeatureView, Mode, Origin
from unmask.model.reading import Known

FIELDS = ("vendor_id", "cpu family", "model", "model name", "stepping")
"""Lines of /proc/cpuinfo that a guest has as well, in their order."""
NAMES = {
    "qemu64": ("QEMU Virtual CPU version 2.5+", 15, 107, 1),
    "kvm64": ("Common KVM processor", 15, 6, 1),
}
"""Name, family, model and stepping (QEMU, target/i386/cpu.c); the vendor is the host's with KVM."""

FAILED = "start failed: QEMU exited with code 1"
NEEDS_KVM = "kvm: CPU model 'host' requires KVM or HVF"

BITS = {
    "aes": ("01H:ECX.aes", 25), "pclmulqdq": ("01H:ECX.pclmulqdq", 1),
    "ssse3": ("01H:ECX.ssse3", 9), "fma": ("01H:ECX.fma", 12), "movbe": ("01H:ECX.movbe", 22),
    "sse4_1": ("01H:ECX.sse4.1", 19), "sse4_2": ("01H:ECX.sse4.2", 20),
    "popcnt": ("01H:ECX.popcnt", 23), "avx": ("01H:ECX.avx", 28), "f16c": ("01H:ECX.f16c", 29),
    "rdrand": ("01H:ECX.rdrand", 30), "bmi1": ("07H:EBX.bmi1", 3), "avx2": ("07H:EBX.avx2", 5),
    "bmi2": ("07H:EBX.bmi2", 8), "avx512f": ("07H:EBX.avx512f", 16),
    "sha_ni": ("07H:EBX.sha-ni", 29), "vaes": ("07H:ECX.vaes", 9),
    "vpclmulqdq": ("07H:ECX.vpclmulqdq", 10),
}  # fmt: skip
"""CPUID leaf, register and bit, as QEMU words them in its warnings."""


def argument(cluster: Cluster, values: Values) -> str:
    """Return the value of QEMU's -cpu for a guest with these options.

    Raises:
        InputError: Proxmox does not start it; the text is what it says.
    """
    written = values.get("cpu", "")
    version = cluster.edition.version
    models = cluster.models()
    option = cpu_option.parse(written, tuple(models), version) if written else None
    setting = Setting(
        kvm=values.get("kvm", "1") == "1",
        arch=values.get("arch", "x86_64"),
        ostype=values.get("ostype", ""),
        bios=values.get("bios", ""),
        machine=values.get("machine", ""),
        version=version,
    )
    own = command.cpu_argument(option, models, setting)
    return qemu.cpu_option(qemu.argument_list(values.get("args", ""))) or own


def view(cluster: Cluster, node: str, values: Values) -> FeatureView:
    """Return what a guest with these options sees on a node.

    Raises:
        InputError: Proxmox does not start it.
    """
    arch = values.get("arch", "x86_64")
    spec = qemu.spec_of(argument(cluster, values), Origin.LIVE, arch=arch)
    kvm = values.get("kvm", "1") == "1"
    accelerator = Accelerator.KVM if kvm else Accelerator.TCG
    host = Known(cluster.hosts[node].cpu)
    return resolve(spec, arch, accelerator, host, qemu=cluster.edition.qemu)


def obstacle(cluster: Cluster, node: str, values: Values) -> tuple[str, list[str]]:
    """Return why a guest does not start on a node, and what its task logs; "" if it does."""
    try:
        text = argument(cluster, values)
        found = view(cluster, node, values)
    except InputError as error:
        return str(error), []
    spec = qemu.spec_of(text, Origin.LIVE)
    if spec.mode is Mode.HOST and values.get("kvm", "1") != "1":
        return FAILED, [NEEDS_KVM]
    if found.starts or not spec.enforced:
        return "", []
    lines = [_warning(flag) for flag in sorted(found.lost)]
    return FAILED, [*lines, "kvm: Host doesn't support requested features"]


def _warning(flag: str) -> str:
    leaf, bit = BITS.get(flag, ("", 0))
    what = f"CPUID.{leaf} [bit {bit}]" if leaf else features.qemu_name(flag)
    return f"kvm: warning: host doesn't support requested feature: {what}"


def proc_cpuinfo(found: FeatureView, fields: Mapping[str, str], processors: int) -> str:
    """Return /proc/cpuinfo of a guest.

    Args:
        found: What it sees.
        fields: Lines such as "model name", as the host's kernel has them.
        processors: How many it has.
    """
    flags = [flag for flag in sorted(found.states) if found.shows(flag)]
    name, family, model, stepping = NAMES.get(found.model, (f"QEMU CPU {found.model}", 15, 6, 1))
    own = {"cpu family": family, "model": model, "model name": name, "stepping": stepping}
    passthrough = not found.model
    lines = [(field, fields[field] if passthrough else own.get(field, "")) for field in FIELDS]
    lines[0] = ("vendor_id", fields["vendor_id"])
    lines.append(("flags", " ".join(flags)))
    return "".join(
        "".join(f"{key:<16}: {value}\n" for key, value in [("processor", str(number)), *lines])
        + "\n"
        for number in range(processors)
    )
