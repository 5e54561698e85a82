"""A feature view in the making, and where it is made."""

from __future__ import annotations

from dataclasses import dataclass, replace

from unmask.model.cpu import Accelerator, CpuSpec, HostCpu, HypervisorCpu, State

X86 = ("x86_64", "i686")


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a specification is resolved: architecture, accelerator, host, hypervisor's offers."""

    arch: str
    accelerator: Accelerator
    host: HostCpu | None
    """None where the host's CPU is not known."""
    offers: tuple[HypervisorCpu, ...] = ()
    qemu: str = ""

    @property
    def emulated(self) -> bool:
        """Return whether QEMU's TCG makes the CPU."""
        return self.accelerator is Accelerator.TCG

    @property
    def x86(self) -> bool:
        """Return whether x86 flags mean anything here."""
        return self.arch in X86


@dataclass(frozen=True, slots=True)
class Draft:
    """What is surely shown, what is otherwise, and the state of the rest."""

    label: str
    model: str
    shown: frozenset[str]
    rest: State
    other: tuple[tuple[str, State], ...] = ()
    """Flags in another state than SHOWN and `rest`; they win over `shown`."""
    lost: frozenset[str] = frozenset()
    starts: bool = True
    steps: tuple[str, ...] = ()

    def noting(self, *steps: str) -> Draft:
        """Return this draft with more steps."""
        return replace(self, steps=self.steps + steps)

    def marking(self, flags: frozenset[str], state: State) -> Draft:
        """Return this draft with `flags` in another state."""
        return replace(self, other=self.other + tuple((flag, state) for flag in sorted(flags)))


def unknown(spec: CpuSpec, step: str) -> Draft:
    """Return a draft that knows only what the specification itself names."""
    shown = spec.on - spec.off
    draft = Draft(spec.label, spec.model, shown, State.UNKNOWN, steps=(step,))
    return draft.marking(spec.off, State.HIDDEN)
