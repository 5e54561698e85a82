"""Hosts and nodes made from the CPU models that they are like."""

from __future__ import annotations

from dataclasses import replace

from unmask.cpu import catalogue
from unmask.cpu.node_flags import node
from unmask.dialects import described_host
from unmask.model.baseline import Node
from unmask.model.cpu import (
    Accelerator,
    CpuSpec,
    HostCpu,
    HypervisorCpu,
    Mode,
    Origin,
)
from unmask.model.inventory import Guest, GuestKind, GuestState, Host, Platform, Software
from unmask.model.reading import Known, Missing

UNREADABLE = Missing("the node is offline", "the node")
PROXMOX_9 = Software("Proxmox VE 9.2.11", "11.0", "6.17.2-1-pve")


def host(
    name: str,
    like: str | None,
    *,
    without: str = "",
    more: str = "",
    vendor: str = "",
    platform: Platform = Platform.PROXMOX,
    software: Software = PROXMOX_9,
    microcode: str = "",
) -> Host:
    """Return a host whose kernel prints the flags of a model; None for one that was not read."""
    if like is None:
        return Host(f"lab/{name}", name, platform, "lab", UNREADABLE, software)
    model = catalogue.find(like)
    assert model, like
    flags = (model.flags - {"hypervisor"} - set(without.split())) | set(more.split())
    cpu = HostCpu("x86_64", flags, vendor or model.vendor, f"CPU {like}", microcode=microcode)
    return Host(f"lab/{name}", name, platform, "lab", Known(cpu), software)


def offering(name: str, like: str, usable: dict[str, bool], *, without: str = "") -> Host:
    """Return a libvirt host that is known by its domain capabilities alone."""
    off = frozenset(without.split())
    expansion = CpuSpec("", Origin.CONFIG, Mode.MODEL, like, like, off=off, exact=True)
    offer = HypervisorCpu(
        "x86_64", Accelerator.KVM, host_model=expansion, usable=tuple(sorted(usable.items()))
    )
    cpu = Missing("the capabilities were not asked for")
    return Host(name, name, Platform.LIBVIRT, "", cpu, Software("libvirt 9.0.0"), offers=(offer,))


def known(found: Host) -> Node:
    """Return the node of a host whose flags are known."""
    made = node(found, described_host.spoken())
    assert isinstance(made, Node), made
    return made


def nodes(*hosts: Host) -> tuple[Node, ...]:
    return tuple(map(known, hosts))


def arm(name: str, flags: str) -> Host:
    """Return an ARM host."""
    cpu = HostCpu("aarch64", frozenset(flags.split()), "ARM", "Neoverse-N1")
    return replace(host(name, None), cpu=Known(cpu))


def guest(
    vmid: int,
    cpu: CpuSpec,
    where: str = "one",
    *,
    name: str = "",
    os: str = "l26",
    accelerator: Accelerator = Accelerator.KVM,
    arch: str = "x86_64",
) -> Guest:
    """Return a running virtual machine of the cluster lab."""
    return Guest(
        subject=f"lab/{vmid}",
        ident=str(vmid),
        name=name or f"vm{vmid}",
        platform=Platform.PROXMOX,
        kind=GuestKind.VM,
        host=f"lab/{where}",
        state=GuestState.RUNNING,
        arch=arch,
        accelerator=accelerator,
        configured=cpu,
        os_declared=os,
    )


def model(name: str, *, on: str = "", enforced: bool = True) -> CpuSpec:
    """Return the CPU of a named model."""
    flags = frozenset(on.split())
    return CpuSpec(name, Origin.CONFIG, Mode.MODEL, name, name, flags, enforced=enforced)


HOST = CpuSpec("host", Origin.CONFIG, Mode.HOST, "host")
