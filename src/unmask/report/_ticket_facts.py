"""What a guest shows of its CPU, as evidence for whoever runs its hypervisor.

Nothing here tells who the guest is: no addresses, no users, no names of its data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeVar

from unmask.crypto import drivers
from unmask.crypto.consumers import consumers
from unmask.crypto.sentence import percent
from unmask.model.case import GuestCase
from unmask.model.cpu import HostCpu
from unmask.model.inside import Inside, KernelCrypto, System, Virtualisation
from unmask.model.outlook import Status
from unmask.model.reading import Known, Reading
from unmask.model.workload import Activity, JudgedWorkload, WorkloadKind
from unmask.report._text import clean

T = TypeVar("T")

MESSAGES = 6
"""Lines of the kernel's log that are quoted."""
ALGORITHMS = ("xts(aes)", "gcm(aes)", "cbc(aes)")
SLOW = (Status.SOFTWARE.value, Status.PARTIAL.value)

WORK = {
    WorkloadKind.ZFS: "ZFS encryption",
    WorkloadKind.LUKS: "LUKS or dm-crypt",
    WorkloadKind.BITLOCKER: "BitLocker",
    WorkloadKind.GELI: "GELI",
    WorkloadKind.FILES: "file encryption",
    WorkloadKind.TLS: "TLS server",
    WorkloadKind.DATABASE: "database encryption",
    WorkloadKind.OPENVPN: "OpenVPN",
    WorkloadKind.IPSEC: "IPsec",
    WorkloadKind.WIREGUARD: "WireGuard",
    WorkloadKind.SSH: "SSH",
    WorkloadKind.SAMBA: "SMB encryption",
    WorkloadKind.BACKUP: "encrypted backups",
}

BY_ANYBODY = frozenset(
    {
        WorkloadKind.FILES,
        WorkloadKind.TLS,
        WorkloadKind.DATABASE,
        WorkloadKind.SSH,
        WorkloadKind.SAMBA,
        WorkloadKind.BACKUP,
    }
)
"""Kinds of work that different software does."""

_ADDRESS = re.compile(
    r"\b\d{1,3}(?:\.\d{1,3}){3}\b|(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){3,7}[0-9A-Fa-f]{0,4}(?![\w:])"
)
"""IPv4 and IPv6 addresses, and those of network cards."""


def inside(case: GuestCase) -> Inside | None:
    """Return what was read in the guest; None where nobody was inside."""
    reading = case.guest.visit.inside
    return reading.value if isinstance(reading, Known) else None


def known(reading: Reading[T]) -> T | None:
    """Return what was read, None where it was not."""
    return reading.value if isinstance(reading, Known) else None


def anonymous(text: str, limit: int = 160) -> str:
    """Return a text from the guest as one clean line without addresses."""
    return _ADDRESS.sub("(address)", clean(text, limit))


def machine(case: GuestCase, seen: Inside) -> Iterator[tuple[str, str]]:
    """Yield label and text of each line about the machine."""
    system = known(seen.system)
    if system:
        yield "operating system", _system(system)
    virtual = known(seen.virtualisation)
    if virtual:
        yield "hypervisor", _hypervisor(virtual)
    cpu = known(seen.cpu)
    if cpu:
        yield "CPU", _cpu(cpu)
    if cpu and case.guest.configured.steps:
        yield "which means", anonymous(", ".join(case.guest.configured.steps), 300)
    for remark in case.guest.remarks:
        yield "note", anonymous(remark.text, 300)


def _system(system: System) -> str:
    name = system.name or system.ident or system.kernel_name
    kernel = f"{system.kernel_name} {system.kernel}".strip()
    return anonymous(name if name == kernel else f"{name}, {kernel}")


def _hypervisor(virtual: Virtualisation) -> str:
    word = virtual.detected or ("one that is not named" if virtual.hypervisor_flag else "none seen")
    around = f", in a container ({virtual.container})" if virtual.container else ""
    made = ", ".join(filter(None, (virtual.vendor, virtual.product, virtual.version)))
    return anonymous(f"{word}{around}" + (f"; the firmware says: {made}" if made else ""), 300)


def _cpu(cpu: HostCpu) -> str:
    numbers = (("family", cpu.family), ("model", cpu.model), ("stepping", cpu.stepping))
    told = [f"{word} {number}" for word, number in numbers if number is not None]
    name = f'"{clean(cpu.model_name)}"' if cpu.model_name else "no name"
    return ", ".join([name, *filter(None, [cpu.vendor]), *told])


def shown_name(seen: Inside) -> str:
    """Return the name that the CPU shows, "" for none."""
    cpu = known(seen.cpu)
    return clean(cpu.model_name) if cpu else ""


def kernel(seen: Inside) -> Iterator[str]:
    """Yield what the kernel says of these instructions, a sentence each."""
    crypto = known(seen.kernel_crypto)
    if crypto:
        yield from _module(crypto)
        yield from (f"FreeBSD's {anonymous(device)}." for device in crypto.devices)
    if isinstance(seen.crypto_drivers, Known):
        for algorithm in ALGORITHMS:
            driver = seen.serving(algorithm)
            if driver and drivers.meaning(driver.driver) is not Status.UNKNOWN:
                word = drivers.meaning(driver.driver).value
                yield f"For {algorithm} the kernel uses {clean(driver.driver, 80)} ({word})."
    yield from _messages(crypto) if crypto else ()


def _messages(crypto: KernelCrypto) -> Iterator[str]:
    """Yield lines of the kernel's log; FreeBSD's devices and flags are told elsewhere."""
    devices = tuple(device.partition(":")[0] for device in crypto.devices)
    told = [line for line in crypto.messages if not line.strip().startswith((*devices, "Features"))]
    yield from (f"The kernel's log: {anonymous(line)}" for line in told[:MESSAGES])


def _module(crypto: KernelCrypto) -> Iterator[str]:
    if crypto.loaded("aesni_intel"):
        yield "The kernel's module aesni_intel is loaded."
    elif crypto.aesni_built_in:
        yield "The kernel has aesni_intel built in."
    elif crypto.aesni_available:
        yield "The kernel has the module aesni_intel, and it is not loaded."
    hidden = [word for word in crypto.parameters if word.startswith(("clearcpuid", "no"))]
    if hidden:
        words = clean(" ".join(hidden), 80)
        yield f"The kernel itself was told to overlook some: {words} on its command line."


def costs(case: GuestCase) -> Iterator[str]:
    """Yield what runs slowly and by how much, as measured; what differs in names only once."""
    lines = [_cost(item) for item in case.workloads if item.status in SLOW]
    yield from dict.fromkeys(lines)


def _cost(item: JudgedWorkload) -> str:
    work, outlook = item.workload, item.outlook
    consumer = consumers().get(work.consumer) if work.kind in BY_ANYBODY else None
    what = WORK[work.kind]
    cipher = clean(work.cipher, 60) or (outlook.cipher if outlook else "")
    details = ", ".join(filter(None, [consumer.name if consumer else "", cipher]))
    state = {Activity.CONFIGURED: ", set up", Activity.CLOSED: ", closed now"}.get(
        work.activity, ""
    )
    text = f"{what}{f' ({details})' if details else ''}{state}: {item.status}"
    if outlook is None:
        return text
    if outlook.missing:
        text += f"; lacks {', '.join(outlook.missing)}"
    if outlook.factor is not None and outlook.factor < 1:
        text += f"; keeps {percent(outlook.factor)} of the speed ({outlook.factor_origin})"
    return text


def measured(case: GuestCase) -> bool:
    """Return whether a figure stands behind anything that runs slowly."""
    slow = [item.outlook for item in case.workloads if item.status in SLOW]
    return any(outlook is not None and outlook.factor is not None for outlook in slow)


def unread(case: GuestCase, seen: Inside) -> Iterator[str]:
    """Yield what could not be read, a sentence each."""
    kinds = sorted({WORK[item.kind] for item in case.unread})
    if kinds:
        yield f"Not read inside, and so not in this list: {', '.join(kinds)}."
    if seen.root is False:
        yield "It was read as a user who is not root, so that some workloads may be left out."
