"""A custom CPU model is made right before the guest gets it."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from unmask.fixes._target import RefusedError, Target
from unmask.model.change import Plan


@runtime_checkable
class MakesModels(Protocol):
    """A target whose cluster can be given custom models."""

    def make_model(self, section: str) -> None:
        """Define the model of a section of cpu-models.conf; one that is there already stays.

        Raises:
            RefusedError: There is another one of that name, or the hypervisor refuses.
            TargetError: The answer was lost.
        """


def make(plan: Plan, target: Target) -> None:
    """Make the custom model that a plan needs, where it needs one; `Hooks.prepare`."""
    if not plan.custom_model:
        return
    if not isinstance(target, MakesModels):
        raise RefusedError(f"{plan.place.target} has no custom models")
    target.make_model(plan.custom_model)
