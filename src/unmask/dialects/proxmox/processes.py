"""What runs on a node: the command lines of QEMU and of containers, as /proc/PID/cmdline has them.

Source: config_to_command of PVE/QemuServer.pm and pve-container@.service (Proxmox VE 9.2); which
accelerator QEMU takes unasked is system/vl.c (configure_accelerators). The `-cpu` of a process is
what the guest has, and beats every inference from its configuration.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from unmask.cpu import catalogue
from unmask.dialects import qemu
from unmask.dialects.excerpt import excerpt
from unmask.dialects.proxmox import command
from unmask.dialects.proxmox.command import Setting
from unmask.dialects.proxmox.cpu_option import CpuOption
from unmask.errors import InputError
from unmask.model.cpu import Accelerator, CpuSpec, Origin, Remark, RemarkKind
from unmask.model.inventory import Guest, GuestKind, GuestState

LIMIT = 2 * 1024 * 1024
"""Bytes of one command line, which is what Linux allows."""

VMID = re.compile(r"[1-9][0-9]{0,8}")
QEMU = re.compile(r"(?:.*/)?(?:kvm|qemu-system-[a-z0-9_]+)")
LXC = re.compile(r"(?:.*/)?lxc-start")
ACCEL = re.compile(r"(?:^|,)accel=(?P<name>[a-z]+)")
MACHINE = re.compile(r"(?:^|,)(?:type=)?(?P<name>[^=,]+)(?:,|$)")


@dataclass(frozen=True, slots=True)
class Process:
    """One running guest."""

    vmid: str
    kind: GuestKind
    cpu: str = ""
    """The value of `-cpu`; "" for a container."""
    accelerator: Accelerator = Accelerator.OTHER
    incoming: bool = False
    """It waits for a guest that is being migrated to here."""
    machine: str = ""
    """The type of `-machine`: "pc-q35-9.2+pve1"; "" where it names none."""


def parse(content: bytes) -> Process | None:
    """Return the guest that a /proc/PID/cmdline belongs to, None where it is another program's."""
    if len(content) > LIMIT:
        return None
    words = content.decode("utf-8", errors="replace").rstrip("\0").split("\0")
    if QEMU.fullmatch(words[0]):
        vmid = _value(words, "-id")
        if VMID.fullmatch(vmid):
            return Process(
                vmid,
                GuestKind.VM,
                qemu.cpu_option(words) or "",
                _accelerator(words),
                incoming=bool(_value(words, "-incoming")),
                machine=_machine(words),
            )
    elif LXC.fullmatch(words[0]):
        vmid = _value(words, "-n")
        if VMID.fullmatch(vmid):
            return Process(vmid, GuestKind.CONTAINER)
    return None


def _value(words: Sequence[str], option: str) -> str:
    """Return the word behind the last `option`, "" without one."""
    found = [words[at + 1] for at, word in enumerate(words[:-1]) if word == option]
    return found[-1] if found else ""


def _machine(words: Sequence[str]) -> str:
    """Return the type of machine, which stands alone or behind `type=`."""
    match = MACHINE.search(_value(words, "-machine") or _value(words, "-M"))
    return excerpt(match["name"], 80) if match else ""


def _accelerator(words: Sequence[str]) -> Accelerator:
    """Return what runs the guest; a QEMU that is called kvm takes KVM unless told otherwise."""
    if "-enable-kvm" in words:
        return Accelerator.KVM
    machine = ACCEL.search(_value(words, "-machine") or _value(words, "-M"))
    name = _value(words, "-accel").partition(",")[0] or (machine["name"] if machine else "")
    if name:
        return {"kvm": Accelerator.KVM, "tcg": Accelerator.TCG}.get(name, Accelerator.OTHER)
    return Accelerator.KVM if words[0].endswith("kvm") else Accelerator.TCG


def observed(
    guest: Guest, process: Process | None, custom: Mapping[str, CpuSpec], version: str
) -> Guest:
    """Return a guest with what is known from the processes of its node.

    Args:
        guest: As its configuration describes it.
        process: Its own; None where it has none, so that it does not run.
        custom: The cluster's custom models by name.
        version: Of Proxmox VE there.
    """
    if process is None:
        return guest if guest.state is GuestState.SUSPENDED else _stopped(guest)
    guest = replace(guest, machine=process.machine or guest.machine)
    if not process.cpu:
        return replace(guest, state=GuestState.RUNNING)
    then = guest.pending or guest.configured
    written = guest.pending_accelerator or guest.accelerator
    bare = qemu.spec_of(process.cpu, Origin.LIVE, arch=guest.arch)
    running = replace(
        bare,
        label=_label(bare, (guest.configured, then), guest, custom, version),
        steps=(f"its QEMU process runs with -cpu {process.cpu}",),
    )
    changes = written is not process.accelerator or not same_cpu(running, then)
    return replace(
        guest,
        state=GuestState.RUNNING,
        running=running,
        accelerator=process.accelerator,
        pending=_noted(then, guest, process) if changes else None,
        pending_accelerator=written if written is not process.accelerator else None,
    )


def _stopped(guest: Guest) -> Guest:
    """Its next start takes what is pending: nothing waits for a stop any more."""
    return replace(
        guest,
        state=GuestState.STOPPED,
        configured=guest.pending or guest.configured,
        accelerator=guest.pending_accelerator or guest.accelerator,
        pending=None,
        pending_accelerator=None,
    )


def _noted(then: CpuSpec, guest: Guest, process: Process) -> CpuSpec:
    """Say what kind of change is pending where the configuration has no pending section for it."""
    if guest.pending is not None:
        return then
    if guest.accelerator is not process.accelerator:
        how = "emulated" if guest.accelerator is Accelerator.TCG else "run by KVM"
        said = f"kvm or arch was changed: after a stop and start the guest is {how}."
    else:
        said = "The guest was started before its configuration, or Proxmox itself, was changed."
    return replace(then, remarks=(*then.remarks, Remark(RemarkKind.NOTE, said)))


def same_cpu(one: CpuSpec, other: CpuSpec) -> bool:
    """Return whether two specifications give the same flags, whatever led to them."""
    return (one.mode, one.model, one.on, one.off) == (other.mode, other.model, other.on, other.off)


def _label(
    running: CpuSpec,
    configured: Iterable[CpuSpec],
    guest: Guest,
    custom: Mapping[str, CpuSpec],
    version: str,
) -> str:
    """Return what the operator calls a CPU: as it is configured, or else as Proxmox names it."""
    for spec in (*configured, *custom.values()):
        if same_cpu(running, spec):
            return spec.label
    setting = Setting(
        kvm=guest.accelerator is Accelerator.KVM,
        arch=guest.arch,
        ostype=guest.os_declared,
        version=version,
    )
    for name in catalogue.proxmox_names():
        try:
            text = command.cpu_argument(CpuOption(name), {}, setting)
        except InputError:
            continue  # not of this architecture
        if same_cpu(running, qemu.spec_of(text, Origin.LIVE, arch=guest.arch)):
            return name
    return running.label
