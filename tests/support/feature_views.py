"""Feature views for tests: of a CPU model, or of a handful of flags."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from unmask.cpu import catalogue, levels
from unmask.model.cpu import Accelerator, FeatureView, State


def view(
    flags: Iterable[str] = (),
    *,
    unknown: Collection[str] = (),
    rest: State = State.HIDDEN,
    accelerator: Accelerator = Accelerator.KVM,
    arch: str = "x86_64",
    model: str = "",
    vendor: str = "",
) -> FeatureView:
    """Return a view that shows `flags`, does not know `unknown`, and has `rest` for the others."""
    states = dict.fromkeys(flags, State.SHOWN) | dict.fromkeys(unknown, State.UNKNOWN)
    return FeatureView(
        arch=arch,
        accelerator=accelerator,
        label=model or "a guest",
        model=model,
        vendor=vendor,
        states=states,
        rest=rest,
        level=levels.level(states),
        level_certain=True,
    )


def of_model(name: str, *more: str, accelerator: Accelerator = Accelerator.KVM) -> FeatureView:
    """Return what a guest sees of a QEMU or Proxmox VE model whose flags the host all has."""
    built_in = catalogue.proxmox_model(name)
    model = catalogue.find(built_in.reported_model if built_in else name)
    assert model
    flags = model.flags | (built_in.on if built_in else frozenset()) | set(more)
    return view(flags, accelerator=accelerator, model=model.name)
