"""What is said of a guest that runs with one QEMU's `-cpu` and goes to another QEMU's host.

A host is a QEMU binary, and the flags of its `/proc/cpuinfo` are those that this binary says its
emulation has. What is asked of `engine.moves` is the very `-cpu` that QEMU is started with.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from support import nodes
from support.qemu_migration import Machine, running
from support.qemu_program import Program
from unmask import plugins
from unmask.cpu import catalogue, features
from unmask.cpu.resolve import resolve
from unmask.dialects import qemu
from unmask.engine import moves
from unmask.model.cpu import Accelerator, HostCpu, Origin, State
from unmask.model.finding import Rule
from unmask.model.inventory import Cluster, Host, Inventory, Platform, Software
from unmask.model.move import Move
from unmask.model.reading import Known, Missing

RULES = plugins.load("unmask.rules", "RULE", Rule)
MODELS = (
    "kvm64", "Penryn", "Nehalem", "Westmere", "Broadwell-noTSX", "Skylake-Client-noTSX-IBRS",
    "Opteron_G3", "EPYC", "EPYC-Rome",
    "qemu64,+aes,+pni,+popcnt,+sse4.1,+sse4.2,+ssse3",
)  # fmt: skip
"""The last is what Proxmox VE makes of x86-64-v2-AES."""
OFF_UNDER_KVM = frozenset({"acpi", "monitor", "svm"})
"""QEMU turns them off in models under KVM, not in its emulation (kvm_default_props)."""
ORIGIN, TARGET = "lab/one", "lab/two"


@cache
def emulated(program: Program) -> frozenset[str]:
    """Return what a QEMU says that its emulation has, in Linux's words."""
    with (
        TemporaryDirectory(prefix="unmask-") as place,
        running(program, Path(place) / "m", "-machine", "none") as machine,
    ):
        assert isinstance(machine, Machine), machine
        most = {"type": "full", "model": {"name": "max"}}
        props = machine.ask("query-cpu-model-expansion", **most)["model"]["props"]
    names = (name for name, value in props.items() if value is True and features.known(name))
    return frozenset(map(features.canonical, names))


def option(
    model: str, program: Program, *, enforce: bool = True, beside: frozenset[str] = frozenset()
) -> str:
    """Return `-cpu` for a model without the flags that this QEMU's emulation does not have.

    Args:
        model: A model and what is turned on beside it.
        program: Where it is to start.
        enforce: Whether flags that are not there keep it from starting.
        beside: More flags to turn off.
    """
    name, *asked = model.split(",")
    spec = qemu.spec_of(model, Origin.LIVE)
    nowhere = Missing("no host is looked at")
    view = resolve(spec, "x86_64", Accelerator.KVM, nowhere)
    wanted = {flag for flag, state in view.states.items() if state is State.SHOWN}
    off = sorted((wanted - emulated(program)) | OFF_UNDER_KVM | beside)
    written = [f"-{features.qemu_name(flag)}" for flag in off if features.settable(flag)]
    return ",".join([name, *asked, *written, *["enforce"] * enforce])


def host(subject: str, program: Program, vendor: str) -> Host:
    """Return the host that a QEMU is: its flags as a kernel would print them."""
    shown = frozenset(filter(features.listed, emulated(program)))
    cpu = HostCpu("x86_64", shown, vendor, "an emulated processor")
    software = Software("Proxmox VE 9.1.4", program.version, "6.14.11-4-pve")
    name = subject.partition("/")[2]
    return Host(
        subject, name, Platform.PROXMOX, "lab", Known(cpu), software,
        parameters=(("kvm_amd.nested", "N"), ("kvm_intel.nested", "N")),
    )  # fmt: skip


def predicted(cpu: str, origin: Program, target: Program, machine: str) -> Move:
    """Return what unmask says of a guest that runs with `-cpu` on one QEMU and goes to another."""
    spec = qemu.spec_of(cpu, Origin.LIVE)
    model = catalogue.find(spec.model)
    vendor = model.vendor if model else "AuthenticAMD"
    guest = replace(
        nodes.guest(100, spec), running=spec, machine=machine, ties=Known(()), confined=Known(())
    )
    inventory = Inventory(
        hosts=(host(ORIGIN, origin, vendor), host(TARGET, target, vendor)),
        guests=(guest,),
        clusters=(Cluster("lab", "lab", Platform.PROXMOX),),
    )
    (move,) = moves.moves(inventory, RULES, moves.Asked())
    return move


def newest(program: Program, kind: str = "pc-i440fx") -> str:
    """Return the newest machine type of a kind that a QEMU knows."""
    major, minor, _ = program.version.split(".")
    return f"{kind}-{major}.{minor}"


def blocking(move: Move) -> frozenset[str]:
    """Return the codes of the rules that block the live move."""
    return frozenset(reason.code for reason in move.reasons if reason.stops)


def lost(move: Move) -> frozenset[str]:
    """Return the flags for whose want it is blocked."""
    return frozenset(flag for reason in move.reasons if reason.stops for flag in reason.features)


def refused(text: str) -> frozenset[str]:
    """Return the flags of which QEMU says that it cannot give them."""
    found = re.findall(r"doesn't support requested feature: CPUID\S+?\.([a-z0-9_.-]+) \[", text)
    return frozenset(map(features.canonical, found))
