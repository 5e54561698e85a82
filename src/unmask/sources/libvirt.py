"""A host that libvirt manages, by any libvirt URI."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from unmask.connect.libvirt import Connection, DomainRecord, OfferKey, within
from unmask.dialects import cpuinfo
from unmask.dialects.libvirt import capabilities, domain, xml
from unmask.dialects.libvirt.capabilities import Capabilities, DomainCapabilities
from unmask.dialects.libvirt.guest import Forms, guest, with_snapshots
from unmask.dialects.libvirt.place import accelerator, architecture
from unmask.errors import InputError, UnreadError
from unmask.model.cpu import HostCpu
from unmask.model.inventory import Gap, Guest, Host, Inventory, Platform, Software
from unmask.model.reading import Known, Missing, Reading
from unmask.model.source import CollectOptions, Source

if TYPE_CHECKING:
    from unmask.dialects.libvirt.xml import Element

SCHEMES = (
    "bhyve", "ch", "esx", "gsx", "hyperv", "lxc", "openvz", "qemu", "test", "vbox",
    "vmwarefusion", "vmwareplayer", "vmwarews", "vpx", "vz", "xen",
)  # fmt: skip
"""libvirt's drivers (https://libvirt.org/drivers.html)."""

URI = re.compile(rf"(?:{'|'.join(SCHEMES)})(?:\+[a-z0-9]+)?:/")
CPUINFO = Path("/proc/cpuinfo")
BY_QEMU = ("kvm", "qemu")
"""Types of domain whose CPU the domain capabilities tell about."""
MOST_OFFERS = 64
"""Distinct emulators, machines and types asked about at one host."""


@dataclass(frozen=True, slots=True)
class Texts:
    """One domain's documents, parsed; None where libvirt gave none."""

    record: DomainRecord
    live: Element | None
    inactive: Element | None
    started: Element | None
    saved: Element | None

    @property
    def main(self) -> Element | None:
        """Return the document that describes the domain as it is now."""
        return self.live if self.live is not None else self.inactive


def fits(target: str) -> bool:
    """Return whether the target is spelt as the URI of a driver that libvirt has."""
    return URI.match(target) is not None


def collect(target: str, options: CollectOptions) -> Inventory:
    """Read one host.

    The URI must be the operator's own: parameters such as `command=` let it run programs.

    Raises:
        MissingPackageError: libvirt-python is not installed.
        TargetError: libvirt cannot be reached, refuses, or does not answer in time.
    """
    return within(target, options, _collect)


def _collect(connection: Connection) -> Inventory:
    name = connection.hostname()
    gaps: list[Gap] = []
    physical = _capabilities(connection, name, gaps)
    records, unread = connection.domains()
    gaps += (Gap(f"{name}/{gap.subject}", gap.reason, gap.needs) for gap in unread)
    texts = [found for record in records if (found := _texts(record, name, gaps)) is not None]
    offers = _offers(connection, texts, physical, name, gaps)
    local = is_local(connection.uri)
    if connection.read_only:
        gaps.append(_read_only(name))
    software = connection.software()
    host = Host(
        subject=name,
        name=name,
        platform=Platform.LIBVIRT,
        cluster="",
        cpu=_host_cpu(physical, local=local),
        software=Software(software.hypervisor, software.qemu, platform.release() if local else ""),
        offers=tuple(offer.cpu for offer in offers),
    )
    guests = _guests(texts, host, physical, offers, connection.uri)
    return Inventory(
        targets=(connection.uri,),
        hosts=(host,),
        guests=tuple(sorted(guests, key=lambda item: item.subject)),
        gaps=tuple(sorted(gaps, key=lambda gap: gap.subject)),
    )


def _read_only(name: str) -> Gap:
    return Gap(
        name,
        "libvirt gave a read-only connection: host-model cannot be expanded, and not every change "
        "that waits for a restart can be told",
        "write access to libvirt (membership of the group libvirt, or root)",
    )


def _capabilities(connection: Connection, name: str, gaps: list[Gap]) -> Capabilities:
    text = connection.capabilities()
    if isinstance(text, Known):
        try:
            return capabilities.host(xml.parse(text.value, f"the capabilities of {name}"))
        except InputError as error:
            text = Missing(str(error))
    gaps.append(Gap(name, f"the host's capabilities: {text.reason}", text.needs))
    return Capabilities("", None, frozenset())


def _texts(record: DomainRecord, host: str, gaps: list[Gap]) -> Texts | None:
    documents = (record.live, record.inactive, record.started, record.saved)
    try:
        return Texts(record, *(_parse(text, record.name) for text in documents))
    except InputError as error:
        gaps.append(Gap(f"{host}/{record.name}", str(error)))
        return None


def _parse(text: str, name: str) -> Element | None:
    return xml.parse(text, f"the XML of domain {name}") if text else None


def _offers(
    connection: Connection,
    texts: Iterable[Texts],
    physical: Capabilities,
    name: str,
    gaps: list[Gap],
) -> list[DomainCapabilities]:
    """Ask once for every emulator, machine and type that domains use, and for the default."""
    keys = sorted({key for item in texts if (key := _key(item.main)) is not None})
    if len(keys) > MOST_OFFERS:
        reason = f"domain capabilities were asked for {MOST_OFFERS} of {len(keys)} kinds of guest"
        gaps.append(Gap(name, reason))
    found: list[DomainCapabilities] = []
    if connection.driver() != "QEMU" or connection.read_only:
        return found
    for key in (OfferKey(), *keys[:MOST_OFFERS]):
        if key.emulator and key.emulator not in physical.emulators:
            reason = f"libvirt does not list the emulator {key.emulator}, so it was not asked about"
            gaps.append(Gap(name, reason))
            continue
        answer = connection.domain_capabilities(key)
        try:
            offer = capabilities.domain(xml.parse(answer.value, "the domain capabilities"))
        except (InputError, UnreadError) as error:
            if key.kind:
                gaps.append(Gap(name, f"domain capabilities for {_words(key)}: {error}"))
            continue
        if offer not in found:
            found.append(offer)
    return found


def _words(key: OfferKey) -> str:
    return " ".join(word for word in (key.kind, key.arch, key.machine, key.emulator) if word)


def _key(root: Element | None) -> OfferKey | None:
    kind = root.get("type", "") if root is not None else ""
    if root is None or kind not in BY_QEMU:
        return None
    system = root.find("os/type")
    emulator = xml.text_of(root, "devices/emulator")
    written = system.get("arch", "") if system is not None else ""
    machine = system.get("machine", "") if system is not None else ""
    return OfferKey(kind, written, machine, emulator)


def _guests(
    texts: Iterable[Texts],
    host: Host,
    physical: Capabilities,
    offers: list[DomainCapabilities],
    uri: str,
) -> Iterable[Guest]:
    for item in texts:
        root = item.main
        if root is None:
            continue
        models = _models(root, physical.arch, offers)
        forms = Forms(
            *(
                domain.read(element, physical.arch, models) if element is not None else None
                for element in (item.live, item.inactive, item.started, item.saved)
            )
        )
        record = item.record
        found = guest(forms, host.subject, record.state, host.offers, record.name, uri)
        yield with_snapshots(found, kept=record.snapshots)


def _models(
    root: Element, host_arch: str, offers: Iterable[DomainCapabilities]
) -> frozenset[str] | None:
    """Return the model names of the capabilities that fit a domain; None where none do."""
    key = _key(root)
    if key is None:
        return None
    arch, runner = architecture(key.arch, key.emulator, host_arch), accelerator(key.kind)
    fitting = [
        offer.models
        for offer in offers
        if (offer.cpu.arch, offer.cpu.accelerator) == (arch, runner)
        and key.emulator in ("", offer.cpu.emulator)
    ]
    return frozenset().union(*fitting) if fitting else None


def is_local(uri: str) -> bool:
    """Return whether the URI leads to the machine that this runs on, by its own sockets."""
    parts = urlsplit(uri)
    driver, _, transport = parts.scheme.partition("+")
    elsewhere = parts.netloc or "socket=" in parts.query or transport not in ("", "unix")
    return driver != "test" and not elsewhere


def _host_cpu(physical: Capabilities, *, local: bool) -> Reading[HostCpu]:
    """Prefer the kernel's own list, which is complete, where this is the host."""
    if local:
        try:
            text = CPUINFO.read_text(encoding="utf-8", errors="replace")
            return Known(cpuinfo.parse(text, physical.arch))
        except (OSError, InputError):
            pass  # libvirt's account of the host is the next best
    if physical.cpu is not None:
        return Known(physical.cpu)
    return Missing("libvirt describes no CPU model of this host", "a cpuinfo file of the host")


SOURCE = Source(
    name="libvirt",
    summary="qemu:///system, qemu+ssh://HOST/system, test:///default: any libvirt URI",
    fits=fits,
    collect=collect,
    order=20,
)
