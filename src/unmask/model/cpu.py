"""A guest's CPU as it is configured (`CpuSpec`) and as the guest sees it (`FeatureView`).

Flags are spelled as Linux spells them in /proc/cpuinfo (`pclmulqdq`, `sse4_1`, `sha_ni`); a flag
that Linux has no word for keeps QEMU's name. `unmask.cpu.features` translates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Accelerator(StrEnum):
    """What runs the guest's instructions."""

    KVM = "kvm"
    TCG = "tcg"
    """QEMU's own emulation: no guest instruction reaches the silicon."""
    OTHER = "other"
    """Another hypervisor (Xen, bhyve, a container's host): not judged by KVM's rules."""
    UNKNOWN = "unknown"


class Origin(StrEnum):
    """Where a guest's CPU was decided."""

    CONFIG = "config"
    DEFAULT = "default"
    """Nothing is configured, or what is configured was dropped: the hypervisor's default."""
    ARGS = "args"
    """A raw QEMU `-cpu` (Proxmox `args:`, `qemu:commandline`) replaces the configuration."""
    CUSTOM = "custom"
    """A custom model of the cluster."""
    LIVE = "live"
    """Read from the running guest's process or live XML, which beats every inference."""


class Mode(StrEnum):
    """How a CPU specification chooses its features."""

    MODEL = "model"
    """A named QEMU model plus and minus flags."""
    HOST = "host"
    """Everything that the accelerator can pass through (`host`, host-passthrough)."""
    HOST_MODEL = "host-model"
    """libvirt's host-model, expanded for the host on which the guest starts."""
    MAXIMUM = "maximum"
    """QEMU's `max`: like `host` under KVM, all that TCG implements under TCG."""
    NONE = "none"
    """There is no CPU of its own (a container shares its host's)."""
    UNKNOWN = "unknown"
    """It could not be determined; `remarks` says why."""


class State(StrEnum):
    """What the guest sees of one flag."""

    SHOWN = "shown"
    HIDDEN = "hidden"
    HOST = "host"
    """Depends on a host whose flags are not known."""
    UNKNOWN = "unknown"


class RemarkKind(StrEnum):
    """What a source has to say about a configuration beside its meaning."""

    CPU_DROPPED = "cpu-dropped"
    """The hypervisor drops a `cpu` value that does not validate; the guest gets the default."""
    CUSTOM_MISSING = "custom-missing"
    """The configuration names a custom model that does not exist."""
    OVERRIDDEN = "overridden"
    """The configured model is replaced by a raw `-cpu`."""
    DEPRECATED = "deprecated"
    """The name is mapped to another, or is going to disappear."""
    IGNORED = "ignored"
    """A line or option that the hypervisor itself ignores or drops."""
    NO_START = "no-start"
    """With this configuration the guest cannot start on any host."""
    UNRESOLVED = "unresolved"
    """Something this program does not know: the outcome is unknown, not assumed."""
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Remark:
    """One remark on a configuration; `text` is a full sentence for people."""

    kind: RemarkKind
    text: str


@dataclass(frozen=True, slots=True)
class CpuSpec:
    """A guest's CPU as configured, in QEMU's terms, before any host is looked at."""

    written: str
    """What the configuration says, verbatim; empty where it says nothing."""
    origin: Origin
    mode: Mode
    label: str
    """The name the operator knows: "kvm64", "x86-64-v2-AES", "custom-nas", "host-model"."""
    model: str = ""
    """QEMU's (or libvirt's) model name where `mode` is MODEL; empty otherwise."""
    on: frozenset[str] = frozenset()
    """Flags turned on beside the model. A flag is never in `on` and `off` at once."""
    off: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    """Flags given only where the host has them (libvirt's policy `optional`)."""
    enforced: bool = False
    """The guest does not start on a host that lacks a flag of it (`enforce`, check=partial)."""
    exact: bool = False
    """Read from the running guest: flags neither in the model nor in `on` are hidden for sure."""
    properties: tuple[tuple[str, str], ...] = ()
    """Other properties, sorted: vendor, phys-bits, level, hidden, migratable, check ..."""
    remarks: tuple[Remark, ...] = ()
    steps: tuple[str, ...] = ()
    """How the configuration led here, one sentence a step."""

    @property
    def brief(self) -> str:
        """Return the configuration in its own words where they are one line, else its label.

        Proxmox's "kvm64,flags=+aes" comes back as it is, libvirt's XML as its mode or model.
        """
        return self.label if not self.written or self.written.startswith("<") else self.written

    def remarked(self, kind: RemarkKind) -> tuple[Remark, ...]:
        """Return the remarks of one kind."""
        return tuple(remark for remark in self.remarks if remark.kind is kind)


@dataclass(frozen=True, slots=True)
class HostCpu:
    """The physical CPU of a host as its kernel or hypervisor describes it."""

    arch: str
    """QEMU's name of the architecture: x86_64, aarch64, s390x, ppc64, riscv64; "" if not known."""
    flags: frozenset[str]
    vendor: str = ""
    """CPUID vendor (GenuineIntel, AuthenticAMD ...) or ARM implementer; "" if not known."""
    model_name: str = ""
    family: int | None = None
    model: int | None = None
    stepping: int | None = None
    microcode: str = ""
    bugs: frozenset[str] = frozenset()
    """Hardware vulnerabilities that the kernel lists under "bugs"."""
    complete: bool = True
    """False where flags beside the listed ones may be there (a capability document's model map)."""


@dataclass(frozen=True, slots=True)
class HypervisorCpu:
    """What one hypervisor binary offers guests on one host (libvirt's domain capabilities)."""

    arch: str
    accelerator: Accelerator
    emulator: str = ""
    machine: str = ""
    host_model: CpuSpec | None = None
    """How host-model would be expanded here; None where it is not supported."""
    host_passthrough: bool = False
    usable: tuple[tuple[str, bool], ...] = ()
    """Model names and whether this host can run them, sorted; absent where that is unknown."""


@dataclass(frozen=True, slots=True)
class FeatureView:
    """What a guest sees of its CPU."""

    arch: str
    accelerator: Accelerator
    label: str
    """The effective CPU in the operator's words: "kvm64", "x86-64-v3", "host"."""
    model: str
    """The QEMU model behind it; "" for host, maximum and unknown."""
    vendor: str
    """The CPUID vendor that the guest sees; "" where it depends on an unknown host."""
    states: Mapping[str, State] = field(hash=False)
    """The flags that are not in the state `rest`."""
    rest: State
    """The state of every flag that `states` does not name."""
    level: int | None
    """x86-64 psABI level 1 to 4; 0 below v1; None where it is unknown or does not apply."""
    level_certain: bool
    """False where the level could be higher on a host that is not known."""
    lost: frozenset[str] = frozenset()
    """Flags that the specification asks for and that this host cannot give."""
    starts: bool = True
    """False where the guest cannot start as specified on this host."""
    steps: tuple[str, ...] = ()

    def state(self, flag: str) -> State:
        """Return what the guest sees of `flag` (canonical spelling)."""
        return self.states.get(flag, self.rest)

    def shows(self, *flags: str) -> bool:
        """Return whether the guest surely sees every one of `flags`."""
        return all(self.state(flag) is State.SHOWN for flag in flags)

    def hides(self, flag: str) -> bool:
        """Return whether the guest surely does not see `flag`."""
        return self.state(flag) is State.HIDDEN

    @property
    def x86(self) -> bool:
        """Return whether x86 flags mean anything here."""
        return self.arch in ("x86_64", "i686")
