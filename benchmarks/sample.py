"""An inventory of any size that looks like a site's: few hosts, few CPU settings, many guests."""

from __future__ import annotations

from unmask.dialects.qemu import spec_of
from unmask.model.cpu import Accelerator, HostCpu, Origin
from unmask.model.inventory import (
    Cluster,
    Guest,
    GuestKind,
    GuestState,
    Host,
    Inventory,
    Platform,
    Software,
)
from unmask.model.reading import Known, Missing, Reading

GUESTS_PER_HOST = 100
HOSTS_PER_CLUSTER = 10

V3 = (
    "qemu64,+abm,+aes,+avx,+avx2,+bmi1,+bmi2,+f16c,+fma,+movbe,+pni,+popcnt,+sse4.1,+sse4.2"
    ",+ssse3,+xsave,enforce"
)

OPTIONS = (
    "kvm64,+kvm_pv_eoi,+kvm_pv_unhalt,+lahf_lm,+sep,enforce",
    "qemu64,+aes,+pni,+popcnt,+sse4.1,+sse4.2,+ssse3,+kvm_pv_eoi,+kvm_pv_unhalt,enforce",
    "qemu64,+pni,+popcnt,+sse4.1,+sse4.2,+ssse3,enforce",
    V3,
    "host,+kvm_pv_eoi,+kvm_pv_unhalt",
    "Haswell,+pcid,-aes,enforce,vendor=GenuineIntel",
    "Westmere,enforce",
    "EPYC-Rome,enforce,vendor=AuthenticAMD",
    "max",
    "NoSuchModel,+aes",
)

INTEL = (
    "aes pclmulqdq ssse3 sse4_1 sse4_2 popcnt avx avx2 movbe bmi1 bmi2 f16c fma abm xsave rdrand "
    "pcid invpcid fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush "
    "mmx fxsr sse sse2 ht syscall nx pdpe1gb rdtscp lm pni cx16 x2apic lahf_lm arat smep erms"
)


def inventory(guests: int) -> Inventory:
    """Return an inventory of so many guests; every guest has objects of its own."""
    hosts = tuple(_host(number) for number in range(-(-guests // GUESTS_PER_HOST)))
    clusters = sorted({host.cluster for host in hosts})
    return Inventory(
        targets=("sample",),
        hosts=hosts,
        guests=tuple(_guest(number, hosts[number // GUESTS_PER_HOST]) for number in range(guests)),
        clusters=tuple(Cluster(name, name, Platform.PROXMOX) for name in clusters),
    )


def _host(number: int) -> Host:
    cluster = f"cluster{number // HOSTS_PER_CLUSTER:04}"
    flags = frozenset(INTEL.split()) - (frozenset({"avx2"}) if number % 3 == 0 else frozenset())
    cpu: Reading[HostCpu] = Known(
        HostCpu("x86_64", flags, "GenuineIntel", "Xeon E5-2680 v3", 6, 63, 2)
    )
    if number % 7 == 0:
        cpu = Missing("no cpuinfo file", "nodes/NAME/cpuinfo")
    name = f"node{number:04}"
    return Host(
        f"{cluster}/{name}", name, Platform.PROXMOX, cluster, cpu, Software("Proxmox VE 9.2.11")
    )


def _guest(number: int, host: Host) -> Guest:
    option = OPTIONS[number % len(OPTIONS)]
    running = number % 4 == 0
    changed = number % 40 == 0
    configured = spec_of(option, Origin.CONFIG)
    return Guest(
        subject=f"{host.cluster}/{number:06}",
        ident=str(number),
        name=f"guest-{number}",
        platform=Platform.PROXMOX,
        kind=GuestKind.VM,
        host=host.subject,
        state=GuestState.RUNNING if running else GuestState.STOPPED,
        arch="x86_64",
        accelerator=Accelerator.TCG if number % 50 == 0 else Accelerator.KVM,
        configured=configured,
        running=spec_of(option, Origin.LIVE) if running else None,
        pending=spec_of("Haswell-noTSX", Origin.CONFIG) if changed else None,
        os_declared="win11" if number % 9 == 0 else "l26",
        location=f"/etc/pve/nodes/{host.name}/qemu-server/{number}.conf",
    )
