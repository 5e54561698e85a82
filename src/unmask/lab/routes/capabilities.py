"""What QEMU offers on a node: CPU models, machine types, CPU flags.

Sources: PVE/API2/Qemu/CPU.pm, CPUFlags.pm and Machine.pm, and recorded answers.
"""

from __future__ import annotations

from collections.abc import Iterable

from unmask.cpu import catalogue, features
from unmask.dialects.proxmox.cpu_option import CUSTOM
from unmask.lab.answer import Json, Refused
from unmask.lab.call import Call, Route, at
from unmask.lab.parameters import Parameter

ARCH = Parameter(words=("x86_64", "aarch64"))
ACCELERATOR = Parameter(words=("kvm", "tcg"))
HOST_ARCH = "x86_64"
OLDEST_MACHINE = (6, 0)

DESCRIPTIONS = {
    "aes": "Lets the guest use the AES instructions of the host.",
    "amd-no-ssb": "Tells the guest that AMD hosts are not open to Spectre's variant 4.",
    "amd-ssbd": "Spectre mitigation of AMD CPUs, to be used with virt-ssbd.",
    "hv-evmcs": "Faster nested virtualisation for Windows guests.",
    "hv-tlbflush": "Faster TLB flushes for overcommitted Windows guests.",
    "ibpb": "Lets the guest use Spectre mitigation of AMD CPUs.",
    "md-clear": "Tells the guest that MDS is mitigated.",
    "nested-virt": "Nested virtualisation: svm on AMD, vmx on Intel.",
    "pcid": "Cheaper Meltdown mitigation of Intel CPUs.",
    "pdpe1gb": "Pages of 1 GiB.",
    "spec-ctrl": "Lets the guest use Spectre mitigation of Intel CPUs.",
    "ssbd": "Spectre's variant 4 mitigation of Intel CPUs.",
    "virt-ssbd": "Spectre's variant 4 mitigation, for guests on AMD.",
}
"""Of the flags that a guest's own `cpu` may have."""


def models(call: Call) -> Json:
    """Return the CPU models for a guest's `cpu`."""
    arch = call.text("arch") or "x86_64"
    edition = call.cluster.edition
    found = []
    for name in sorted(catalogue.proxmox_cpu_names(arch)):
        if name == "host" and arch != HOST_ARCH:
            continue
        own = catalogue.proxmox_model(name)
        if own is not None and not edition.since(own.since):
            continue
        row: dict[str, Json] = {
            "custom": 0, "name": name, "vendor": _vendor(name, arch),
        }  # fmt: skip
        if own is not None and edition.since("9.0"):
            row["abstract"] = 1
        found.append(row)
    return found + (_custom(call) if arch == HOST_ARCH else [])


def _vendor(name: str, arch: str) -> str:
    if arch == "aarch64":
        return "default" if name in ("host", "max") else "ARM"
    return catalogue.proxmox_vendor(name) or "default"


def _custom(call: Call) -> list[dict[str, Json]]:
    node_audit = call.may("/nodes", "Sys.Audit")
    return [
        {
            "custom": 1,
            "name": f"{CUSTOM}{name}",
            "vendor": catalogue.proxmox_vendor(model.reported_model) or "default",
        }
        for name, model in sorted(call.cluster.models().items())
        if node_audit or call.may(f"/mapping/cpu/{name}", *MAPPING)
    ]


def machines(call: Call) -> Json:
    """Return the machine types, the newest first."""
    edition, host = call.cluster.edition, call.cluster.hosts[call.node]
    qemu = (edition.since("9.0") and host.qemu) or edition.qemu
    newest = tuple(int(part) for part in qemu.split(".")[:2])
    releases = [(major, minor) for major in range(newest[0], 5, -1) for minor in (2, 1, 0)]
    return [
        {"id": f"pc-{kind}-{major}.{minor}", "type": kind, "version": f"{major}.{minor}"}
        for major, minor in releases
        if OLDEST_MACHINE <= (major, minor) <= newest
        for kind in ("i440fx", "q35")
    ]


def vm_flags(call: Call) -> Json:
    """Return the flags that a guest's own `cpu` may have, and where they work."""
    return _flags(call, sorted(catalogue.proxmox_vm_flags(call.cluster.edition.version)))


def all_flags(call: Call) -> Json:
    """Return every flag that a custom model may have, and where it works."""
    names = {features.qemu_name(flag) for flag in features.reported("x86_64")}
    for host in call.cluster.hosts.values():
        names |= {features.qemu_name(flag) for flag in host.cpu.flags if features.known(flag)}
    own = catalogue.proxmox_vm_flags(call.cluster.edition.version)
    return _flags(call, sorted({name.replace("_", "-") for name in names} | own))


def _flags(call: Call, names: Iterable[str]) -> list[dict[str, Json]]:
    found = []
    for name in names:
        row: dict[str, Json] = {"name": name, "supported-on": _nodes_with(call, name)}
        if name in DESCRIPTIONS:
            row["description"] = DESCRIPTIONS[name]
        found.append(row)
    return found


def _nodes_with(call: Call, name: str) -> list[str]:
    """Return the nodes whose pvestatd reports the flag."""
    wanted = {"svm", "vmx"} if name == "nested-virt" else features.flags_of(name)
    any_of = name == "nested-virt"
    found = []
    for node, host in sorted(call.cluster.hosts.items()):
        emulated = call.text("accel") == "tcg"
        here = catalogue.emulated() | {"svm"} if emulated else host.cpu.flags
        if (wanted & here) if any_of else (wanted <= here):
            found.append(node)
    return found


def migration(_: Call) -> Json:
    """Return what a node can do for live migration."""
    return {"has-dbus-vmstate": False}


def index(_: Call) -> Json:
    """Return what there is to ask."""
    return [{"name": name} for name in ("cpu", "cpu-flags", "machines", "migration")]


def cluster_index(_: Call) -> Json:
    """Return what there is to ask the cluster."""
    return [{"name": "cpu-flags"}, {"name": "custom-cpu-models"}]


def _may_see_flags(call: Call) -> None:
    if not call.may("/nodes", "Sys.Audit") and not call.may("/mapping/cpu", *MAPPING):
        raise Refused("Permission check failed", 403)


MAPPING = ("Mapping.Audit", "Mapping.Use", "Mapping.Modify")
BELOW = "/nodes/{node}/capabilities/qemu"
ROUTES = (
    Route("GET", BELOW, index),
    Route("GET", f"{BELOW}/cpu", models, {"arch": ARCH}),
    Route("GET", f"{BELOW}/machines", machines, {"arch": ARCH}),
    Route("GET", f"{BELOW}/cpu-flags", vm_flags, {"accel": ACCELERATOR, "arch": ARCH}, since="9.0"),
    Route(
        "GET",
        f"{BELOW}/migration",
        migration,
        check=at("/nodes/{node}", "Sys.Audit"),
        since="9.0",
    ),
    Route("GET", "/cluster/qemu", cluster_index, since="9.0"),
    Route(
        "GET",
        "/cluster/qemu/cpu-flags",
        all_flags,
        {"accel": ACCELERATOR, "arch": ARCH},
        _may_see_flags,
        since="9.0",
    ),
)
