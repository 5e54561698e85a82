"""libvirt's documents in files: which host each belongs to, and the inventory of them all.

A directory is a host. A directory below it that holds capabilities or a cpuinfo file of its own is
another host, so that several hosts can be collected side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from unmask.dialects import cpuinfo
from unmask.dialects.libvirt import capabilities, domain, xml
from unmask.dialects.libvirt.capabilities import Capabilities, DomainCapabilities
from unmask.dialects.libvirt.domain import Domain
from unmask.dialects.libvirt.guest import Forms, guest, with_snapshots
from unmask.errors import InputError
from unmask.model.cpu import HostCpu, HypervisorCpu
from unmask.model.inventory import Gap, Guest, GuestState, Host, Inventory, Platform, Software
from unmask.model.reading import Known, Missing, Reading

if TYPE_CHECKING:
    from unmask.dialects.libvirt.xml import Element

CPUINFO = ("cpuinfo", "cpuinfo.txt")
"""Names of a file that holds the host's /proc/cpuinfo."""

STATES = {"paused": GuestState.PAUSED, "running": GuestState.RUNNING}


@dataclass(slots=True)
class Folder:
    """What lies in one host's directory."""

    capabilities: dict[str, Capabilities] = field(default_factory=dict)
    cpus: dict[str, HostCpu] = field(default_factory=dict)
    offers: dict[str, DomainCapabilities] = field(default_factory=dict)
    domains: dict[str, tuple[Element, GuestState]] = field(default_factory=dict)
    """Each by the path of its file."""


def wanted(name: str) -> bool:
    """Return whether a file of this path is to be read."""
    path = PurePosixPath(name)
    return path.suffix.lower() == ".xml" or path.name in CPUINFO


def inventory(files: Mapping[str, bytes], name: str, target: str, gaps: Iterable[Gap]) -> Inventory:
    """Return what the files say.

    Args:
        files: Content by path, relative and with slashes.
        name: The host's name.
        target: As the operator wrote it.
        gaps: What could not be read before.
    """
    found = list(gaps)
    folders = _folders(files, target, found)
    hosts: list[Host] = []
    guests: list[Guest] = []
    for path, folder in sorted(folders.items()):
        subject = name if path == "." else f"{name}/{path}"
        host = _host(folder, subject, found)
        hosts.append(host)
        guests += _guests(folder, host, target)
    return Inventory(
        targets=(target,),
        hosts=tuple(hosts),
        guests=tuple(sorted(guests, key=lambda item: item.subject)),
        gaps=tuple(found),
    )


def _folders(files: Mapping[str, bytes], target: str, gaps: list[Gap]) -> dict[str, Folder]:
    everything: dict[str, Folder] = {}
    for path, content in sorted(files.items()):
        folder = everything.setdefault(str(PurePosixPath(path).parent), Folder())
        try:
            _place(folder, path, content)
        except InputError as error:
            gaps.append(Gap(f"{target}: {path}", str(error)))
    hosts: dict[str, Folder] = {}
    for path, folder in sorted(everything.items()):
        owner = next(
            (
                str(above)
                for above in (PurePosixPath(path), *PurePosixPath(path).parents)
                if str(above) in everything and _describes_a_host(everything[str(above)])
            ),
            ".",
        )
        _merge(hosts.setdefault(owner, Folder()), folder)
    return {path: folder for path, folder in hosts.items() if not _empty(folder)}


def _describes_a_host(folder: Folder) -> bool:
    return bool(folder.capabilities or folder.cpus)


def _merge(into: Folder, folder: Folder) -> None:
    into.capabilities |= folder.capabilities
    into.cpus |= folder.cpus
    into.offers |= folder.offers
    into.domains |= folder.domains


def _empty(folder: Folder) -> bool:
    return not (folder.capabilities or folder.cpus or folder.offers or folder.domains)


def _place(folder: Folder, path: str, content: bytes) -> None:
    """Put one file where it belongs; raises `InputError` with what is wrong with it."""
    text = _decoded(content)
    if PurePosixPath(path).name in CPUINFO:
        folder.cpus[path] = cpuinfo.parse(text)
        return
    root = xml.parse(text, "it")
    match root.tag:
        case "domain" | "cpu":
            state = GuestState.UNKNOWN if root.get("id") is None else GuestState.RUNNING
            folder.domains[path] = (root, state)
        case "domstatus":
            inner = root.find("domain")
            if inner is None:
                raise InputError("it is a status file without a domain in it")
            state = STATES.get(root.get("state", ""), GuestState.RUNNING)
            folder.domains[path] = (inner, state)
        case "capabilities":
            folder.capabilities[path] = capabilities.host(root)
        case "domainCapabilities":
            folder.offers[path] = capabilities.domain(root)
        case _:
            pass  # another document, which says nothing about a guest's CPU


def _decoded(content: bytes) -> str:
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError("it is binary or not UTF-8 text") from error


def _host(folder: Folder, subject: str, gaps: list[Gap]) -> Host:
    return Host(
        subject=subject,
        name=subject,
        platform=Platform.LIBVIRT,
        cluster="",
        cpu=_cpu(folder, subject, gaps),
        software=Software(),
        offers=_agreeing(folder, subject, gaps),
    )


def _cpu(folder: Folder, subject: str, gaps: list[Gap]) -> Reading[HostCpu]:
    """A cpuinfo file is complete, so it goes before libvirt's account of the host."""
    described = [found.cpu for found in folder.capabilities.values() if found.cpu is not None]
    choices = list(folder.cpus.values()) or described
    if len(choices) == 1 or (choices and all(choice == choices[0] for choice in choices)):
        return Known(choices[0])
    if not choices and folder.capabilities:
        return Missing(
            "the capabilities file does not describe the host's CPU", "a copy of /proc/cpuinfo"
        )
    if not choices:
        return Missing(
            "no capabilities or cpuinfo file lies beside the domain XML",
            "`virsh capabilities > capabilities.xml`, or a copy of /proc/cpuinfo",
        )
    reason = f"{len(choices)} files describe different CPUs for one host"
    gaps.append(Gap(subject, reason, "one directory for each host"))
    return Missing(reason, "one directory for each host")


def _agreeing(folder: Folder, subject: str, gaps: list[Gap]) -> tuple[HypervisorCpu, ...]:
    """Return the offers, without host-model where two files expand it differently."""
    offers = [offer.cpu for offer in folder.offers.values()]
    kinds = {(offer.arch, offer.accelerator) for offer in offers}
    kept = []
    for kind in sorted(kinds):
        same = [offer for offer in offers if (offer.arch, offer.accelerator) == kind]
        expansions = {(o.host_model.model, o.host_model.on) for o in same if o.host_model}
        if len(expansions) > 1:
            reason = f"files expand host-model differently for {kind[0]} under {kind[1]}"
            gaps.append(Gap(subject, reason, "one directory for each host"))
            continue
        kept += same
    return tuple(kept)


def _guests(folder: Folder, host: Host, target: str) -> Iterator[Guest]:
    arches = {found.arch for found in folder.capabilities.values()}
    arch = arches.pop() if len(arches) == 1 else ""
    models = [offer.models for offer in folder.offers.values()]
    known = frozenset[str]().union(*models) if models else None
    read = {path: _domain(root, arch, known) for path, (root, _) in folder.domains.items()}
    taken: set[str] = set()
    for path, forms in _forms(read):
        name = forms.main.name or PurePosixPath(path).stem
        unique = name if name not in taken else f"{name} ({path})"
        taken.add(unique)
        where = target if target.endswith(path) else f"{target}: {path}"
        state = folder.domains[path][1]
        if forms.live and state is GuestState.UNKNOWN:
            state = GuestState.RUNNING  # a fragment has no id; its check tells that it is live
        found = guest(forms, host.subject, state, host.offers, name, where)
        found = with_snapshots(found, kept=None)
        yield replace(found, subject=f"{host.subject}/{unique}")


def _domain(root: Element, arch: str, models: frozenset[str] | None) -> Domain:
    return domain.fragment(root) if root.tag == "cpu" else domain.read(root, arch, models)


def _forms(read: Mapping[str, Domain]) -> Iterator[tuple[str, Forms]]:
    """Yield every guest with the path of the file that describes it as it is now.

    A live dump and a configuration with the same UUID (or name) are one guest. Of equal files, such
    as /etc/libvirt/qemu/autostart links to, one is enough; different ones are all kept.
    """
    for paths in _same_guest(read):
        live = [path for path in paths if read[path].live]
        inactive = [path for path in paths if not read[path].live]
        if live and inactive:
            first = live.pop(0)
            yield first, Forms(live=read[first], inactive=read[inactive.pop(0)])
        yield from ((path, Forms(live=read[path])) for path in live)
        yield from ((path, Forms(inactive=read[path])) for path in inactive)


def _same_guest(read: Mapping[str, Domain]) -> list[list[str]]:
    """Group different files by the guest that they describe: UUID and name, or the file alone."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for path, found in read.items():
        own = "" if found.uuid or found.name else path
        group = groups.setdefault((found.uuid, found.name, own), [])
        if not any(read[other] == found for other in group):
            group.append(path)
    return list(groups.values())
