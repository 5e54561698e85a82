"""A custom CPU model as libvirt takes it: a `<cpu>` with a model of its map and its features."""

from __future__ import annotations

from unmask.cpu.custom_model import properties
from unmask.cpu.features import libvirt_name
from unmask.dialects.libvirt import cpu_map
from unmask.model.baseline import CustomModel


def written(model: CustomModel) -> str:
    """Return the element for KVM, in lines.

    `check='partial'` lets libvirt refuse a host that lacks a feature. What its map counts to the
    model and KVM does not give is disabled, for libvirt would otherwise ask it of every host; what
    is needed and its map leaves out of the model is required by name, for it would not be checked.
    """
    differs = cpu_map.difference(model.base)
    required = model.on | (frozenset(model.shows) & differs.lacks)
    disabled = properties(model.off | (cpu_map.demanded(model.base) - required))
    policies = {libvirt_name(flag): "disable" for flag in disabled}
    policies |= {libvirt_name(flag): "require" for flag in required}
    return "\n".join(
        [
            "<cpu mode='custom' match='exact' check='partial'>",
            f"  <model fallback='forbid'>{model.base}</model>",
            *(
                f"  <feature policy='{policy}' name='{name}'/>"
                for name, policy in sorted(policies.items())
            ),
            "</cpu>",
            "",
        ]
    )
