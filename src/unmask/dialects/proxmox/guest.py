"""From one configuration under /etc/pve to a guest.

Sources: PVE/QemuServer.pm and PVE/LXC/Config.pm of Proxmox VE 9.2; what a suspended guest and a
snapshot with memory resume with is their `runningcpu` (pve-docs, qm; PVE/QemuConfig.pm).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from unmask.dialects import declared, qemu
from unmask.dialects.declared import Declared
from unmask.dialects.excerpt import excerpt
from unmask.dialects.proxmox import cpu_option, disk_ties, specification, ties
from unmask.dialects.proxmox.conf import Dropped, GuestConfig, Section, parse, without_comment
from unmask.dialects.proxmox.specification import Place, accelerator, architecture
from unmask.model.cpu import Accelerator, CpuSpec, Mode, Origin, Remark, RemarkKind
from unmask.model.inventory import Guest, GuestKind, GuestState, Platform, Snapshot
from unmask.model.reading import Known

REMARKS_LIMIT = 20
"""Lines of one configuration that are spoken of one by one."""

NAME_LIMIT = 255
"""Characters of a guest's name; Proxmox allows a DNS name."""

CONTAINER_ARCHITECTURES = {
    "amd64": "x86_64",
    "i386": "i686",
    "arm64": "aarch64",
    "armhf": "arm",
    "riscv32": "riscv32",
    "riscv64": "riscv64",
}
"""LXC's names (PVE/LXC/Config.pm) to QEMU's."""

SHARED = CpuSpec(
    written="",
    origin=Origin.DEFAULT,
    mode=Mode.NONE,
    label="the host's",
    steps=("a container has no CPU of its own: it shares the host's",),
)
"""The CPU of a container."""


def read(text: str, vmid: str, place: Place, location: str = "") -> Guest:
    """Return the virtual machine that a file of qemu-server describes.

    A file cannot tell whether a guest runs, so the state is UNKNOWN but for a suspended one.

    Args:
        text: The file.
        vmid: From its name.
        place: Where it lies.
        location: Its path, for people.

    Raises:
        InputError: The text is too large or binary.
    """
    config = parse(text, None if place.models is None else place.models.keys(), place.version)
    return build(config, vmid, place, location)


def build(config: GuestConfig, vmid: str, place: Place, location: str = "") -> Guest:
    """Return the virtual machine that a configuration describes."""
    values = config.main.values
    said = declarations(values)
    configured = specification.specify(config.main, place)
    running = _running(values, place, configured)
    return Guest(
        subject=f"{place.cluster}/{vmid}",
        ident=vmid,
        name=_name(config.main, vmid),
        platform=Platform.PROXMOX,
        kind=GuestKind.VM,
        host=f"{place.cluster}/{place.node}",
        state=GuestState.SUSPENDED if running else GuestState.UNKNOWN,
        arch=architecture(values, place),
        accelerator=accelerator(values, place),
        configured=configured,
        running=running,
        pending=_pending(config, place, configured) or _cold(running, configured),
        pending_accelerator=_pending_accelerator(config, place),
        template=values.get("template") == "1",
        os_declared=excerpt(without_comment(values.get("ostype", "")), 40),
        remarks=_remarks(config) + said.remarks,
        snapshots=tuple(
            _snapshot(name, section, place) for name, section in sorted(config.snapshots.items())
        ),
        location=location,
        lock=excerpt(values.get("lock", ""), 40),
        declared=said.declarations,
        agent=has_agent(values.get("agent", "")),
        machine=_machine(values, suspended=running is not None),
        ties=Known(ties.ties(config, vmid, place.node, place.around)),
    )


def _machine(values: Mapping[str, str], *, suspended: bool) -> str:
    """Return the type of machine: a suspended guest resumes with the one that it ran on."""
    option = values.get("runningmachine", "") if suspended else values.get("machine", "")
    words = (word.strip() for word in option.split(","))
    types = (word.removeprefix("type=") for word in words if "=" not in word or "type=" in word)
    return excerpt(next(types, ""), 80)


def has_agent(option: str) -> bool:
    """Return whether a value of `agent` switches the guest agent on; "" does not."""
    pairs = (part.strip().partition("=") for part in option.split(","))
    words = [value if sign else key for key, sign, value in pairs if not sign or key == "enabled"]
    return any(cpu_option.TRUE.fullmatch(word) for word in words[:1])


def declarations(values: Mapping[str, str]) -> Declared:
    """Return what a guest's tags and then its notes say of its workloads.

    Args:
        values: Options by name, of which `tags` and `description` are looked at.
    """
    tags = re.split(r"[;,\s]+", values.get("tags", ""))
    return declared.of_tags(tags) + declared.of_notes(values.get("description", ""))


def _name(section: Section, vmid: str) -> str:
    """Return the name, also one that Proxmox drops: it is for people to recognise the guest."""
    written = [line.value for line in section.dropped if line.key == "name"]
    name = section.values.get("name") or (without_comment(written[-1]) if written else "")
    return excerpt(name, NAME_LIMIT) or f"VM {vmid}"


def _running(values: Mapping[str, str], place: Place, configured: CpuSpec) -> CpuSpec | None:
    """Return the CPU with which a suspended guest resumes, None for any other guest."""
    text = values.get("runningcpu", "")
    if values.get("lock") != "suspended" or not text:
        return None
    step = "the guest is suspended: it resumes with the CPU that it was started with"
    return replace(_resumed(text, values, place, configured), steps=(step,))


def _resumed(text: str, values: Mapping[str, str], place: Place, like: CpuSpec) -> CpuSpec:
    """Return the CPU of a stored `runningcpu`, called as `like` where it is the same."""
    spec = qemu.spec_of(text, Origin.LIVE, arch=architecture(values, place))
    same = (spec.mode, spec.model, spec.on, spec.off) == (like.mode, like.model, like.on, like.off)
    return replace(spec, label=like.label) if same else spec


def _snapshot(name: str, section: Section, place: Place) -> Snapshot:
    spec = specification.specify(section, place)
    text = section.values.get("runningcpu", "")
    with_memory = "vmstate" in section.values
    if with_memory and text:
        spec = _resumed(text, section.values, place, spec)
    return Snapshot(excerpt(name, NAME_LIMIT), spec, with_memory)


def _pending(config: GuestConfig, place: Place, configured: CpuSpec) -> CpuSpec | None:
    """Return the CPU of the next start where it differs from the configured one."""
    if config.pending is None:
        return None
    values = _next(config)
    same_cpu = values.get("cpu") == config.main.values.get("cpu")
    section = Section(values, config.main.dropped if same_cpu else config.pending.dropped)
    spec = specification.specify(section, place)
    now, then = accelerator(config.main.values, place), accelerator(values, place)
    if now is then and _alike(spec, configured):
        return None
    if now is not then:
        how = "emulated" if then is Accelerator.TCG else "run by KVM"
        said = (
            f"A change of kvm, arch or args is pending: after a stop and start the guest is {how}."
        )
        spec = replace(spec, remarks=(*spec.remarks, Remark(RemarkKind.NOTE, said)))
    return spec


def _cold(running: CpuSpec | None, configured: CpuSpec) -> CpuSpec | None:
    """Return what a suspended guest gets once it is stopped and started instead of resumed."""
    return configured if running and not _alike(running, configured) else None


def _next(config: GuestConfig) -> Mapping[str, str]:
    """Return the options that the next start takes."""
    if config.pending is None:
        return config.main.values
    deleted = config.pending.deletes
    kept = {key: value for key, value in config.main.values.items() if key not in deleted}
    return kept | dict(config.pending.values)


def _pending_accelerator(config: GuestConfig, place: Place) -> Accelerator | None:
    then = accelerator(_next(config), place)
    return None if then is accelerator(config.main.values, place) else then


def _alike(one: CpuSpec, other: CpuSpec) -> bool:
    """Return whether two specifications give the same CPU, whatever led to them."""
    same = replace(other, written=one.written, origin=one.origin)
    return one == replace(same, remarks=one.remarks, steps=one.steps)


def _remarks(config: GuestConfig) -> tuple[Remark, ...]:
    """Say what Proxmox does not read as it is written, its `cpu` lines apart."""
    said = [_dropped(line, "") for line in config.main.dropped if line.key != "cpu"]
    said += [
        f"{excerpt(key, 40)}: Proxmox has no comments behind a value and takes this one as a part"
        " of it."
        for key in config.main.commented
    ]
    if config.pending:
        said += [_dropped(line, " pending") for line in config.pending.dropped]
    if len(said) > REMARKS_LIMIT:
        more = len(said) - REMARKS_LIMIT
        said = [*said[:REMARKS_LIMIT], f"{more} more lines are dropped or ignored by Proxmox."]
    return tuple(Remark(RemarkKind.IGNORED, text) for text in said)


def _dropped(line: Dropped, where: str) -> str:
    what = f"{excerpt(line.key, 40)}: {excerpt(line.value)}" if line.key else excerpt(line.value)
    reason = excerpt(" ".join(line.reason.split()), 240)
    return f"Proxmox drops the{where} line {line.line}, {what} ({reason})."


def read_container(text: str, vmid: str, place: Place, location: str = "") -> Guest:
    """Return the container that a file of pve-container describes.

    Raises:
        InputError: The text is too large or binary.
    """
    config = parse(text, None)
    values = config.main.values
    arch = values.get("arch", "")
    said = declarations(values)
    return Guest(
        subject=f"{place.cluster}/{vmid}",
        ident=vmid,
        name=excerpt(values.get("hostname", ""), NAME_LIMIT) or f"CT {vmid}",
        platform=Platform.PROXMOX,
        kind=GuestKind.CONTAINER,
        host=f"{place.cluster}/{place.node}",
        state=GuestState.UNKNOWN,
        arch=CONTAINER_ARCHITECTURES.get(arch, arch) or place.host_arch or "x86_64",
        accelerator=Accelerator.OTHER,
        configured=SHARED,
        template=values.get("template") == "1",
        os_declared=excerpt(values.get("ostype", ""), 40),
        remarks=said.remarks,
        location=location,
        lock=excerpt(values.get("lock", ""), 40),
        declared=said.declarations,
        ties=Known(tuple(disk_ties.of_container(config, vmid, place.node, place.around))),
    )
