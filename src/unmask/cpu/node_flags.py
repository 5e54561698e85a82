"""Which flags a host can give to guests: the hypervisor's own word first, its kernel's second."""

from __future__ import annotations

from collections.abc import Iterable

from unmask.cpu import catalogue
from unmask.cpu.features import listed
from unmask.cpu.passthrough import EMULATED, gives, passed
from unmask.cpu.resolve import resolve
from unmask.model.baseline import FlagSource, Node, UnknownNode
from unmask.model.cpu import Accelerator, CpuSpec, HostCpu, HypervisorCpu, Mode, Origin, State
from unmask.model.inventory import Host, Platform
from unmask.model.reading import Known, Missing

X86 = ("x86_64", "i686")
INTEL = "GenuineIntel"
EXPANDED = CpuSpec("host-model", Origin.CONFIG, Mode.HOST_MODEL, "host-model")
NO_FLAGS = "none of its flags are known"
READ_CPUINFO = "/proc/cpuinfo of the node, or a connection that may ask for domain capabilities"


def node(host: Host, spoken: frozenset[str] | None = None) -> Node | UnknownNode:
    """Return what is known of the flags that guests can be given on `host`.

    Args:
        host: The host.
        spoken: The flags that libvirt's description of a physical CPU knows: one that is not
            listed there and not in here may be there all the same.
    """
    offer = _offer(host)
    if offer is not None and offer.host_model is not None:
        return Node(
            host=host,
            arch=offer.arch,
            vendor=_vendor(host, offer.host_model),
            source=FlagSource.HYPERVISOR,
            given=_expanded(host, offer),
            usable=offer.usable,
        )
    if isinstance(host.cpu, Missing):
        return UnknownNode(host, host.cpu.reason, host.cpu.needs or READ_CPUINFO)
    cpu = host.cpu.value
    if not cpu.flags:
        return UnknownNode(host, NO_FLAGS, READ_CPUINFO)
    by_libvirt = host.platform is Platform.LIBVIRT
    source = FlagSource.KERNEL
    if not cpu.complete:
        source = FlagSource.CAPABILITIES if by_libvirt else FlagSource.HYPERVISOR
    return Node(
        host=host,
        arch=cpu.arch,
        vendor=cpu.vendor,
        source=source,
        given=_passed(cpu) if cpu.arch in X86 else cpu.flags,
        spoken=None if cpu.complete else ((by_libvirt and spoken) or frozenset()),
        usable=offer.usable if offer else (),
    )


def sure(place: Node, flag: str) -> bool:
    """Return whether a guest can surely be given `flag` on this node."""
    return flag in place.given


def can(place: Node, flag: str) -> bool:
    """Return whether a model with `flag` starts here, as far as its kernel's list tells.

    Beside what is sure these are flags of which KVM does not hand on every bit by itself
    (`topoext`). One that no kernel prints is not taken for granted.
    """
    if sure(place, flag):
        return True
    if place.source is not FlagSource.KERNEL or lacks(place, flag):
        return False
    return listed(flag) or flag in EMULATED


def lacks(place: Node, flag: str) -> bool:
    """Return whether the node surely cannot give `flag`."""
    if sure(place, flag):
        return False
    if place.spoken is not None:
        return flag in place.spoken
    if place.source is FlagSource.KERNEL and place.arch in X86:
        flags = place.host.cpu.value.flags
        return not gives(flag, flags)
    return True


def lacking(place: Node, flags: Iterable[str]) -> frozenset[str]:
    """Return those of `flags` that the node surely cannot give."""
    return frozenset(flag for flag in flags if lacks(place, flag))


def uncertain(place: Node, flags: Iterable[str]) -> frozenset[str]:
    """Return those of `flags` that the node may have or not, though a kernel would print them.

    A flag that no kernel prints is not counted: as everywhere in unmask its absence from a list
    says nothing.
    """
    return frozenset(
        flag
        for flag in flags
        if place.spoken is not None
        and listed(flag)
        and not sure(place, flag)
        and not lacks(place, flag)
    )


def _offer(host: Host) -> HypervisorCpu | None:
    """Return what the hypervisor offers to guests of the host's own architecture under KVM."""
    arch = host.cpu.value.arch if isinstance(host.cpu, Known) else ""
    offers = [item for item in host.offers if item.accelerator is Accelerator.KVM]
    native = [item for item in offers if item.arch == arch] if arch else offers
    with_model = [item for item in native if item.host_model is not None]
    return next(iter(with_model or native), None)


def _passed(cpu: HostCpu) -> frozenset[str]:
    """Return what KVM passes on, by what is known beside the list of flags.

    Intel's CPUs have one bit behind the word `ibrs`; and only on them KVM makes `umip` itself
    (vmx_set_cpu_caps in Linux, arch/x86/kvm/vmx/vmx.c).
    """
    bits = {"spec-ctrl"} if cpu.vendor == INTEL and "ibrs" in cpu.flags else set()
    unmade = frozenset({"umip"}) - cpu.flags if cpu.vendor != INTEL else frozenset[str]()
    return (passed(cpu.flags) | bits) - unmade


def _expanded(host: Host, offer: HypervisorCpu) -> frozenset[str]:
    view = resolve(EXPANDED, offer.arch, Accelerator.KVM, host.cpu, (offer,), host.software.qemu)
    return frozenset(flag for flag, state in view.states.items() if state is State.SHOWN)


def _vendor(host: Host, expansion: CpuSpec) -> str:
    if isinstance(host.cpu, Known) and host.cpu.value.vendor:
        return host.cpu.value.vendor
    model = catalogue.find(expansion.model)
    return model.vendor if model else ""
