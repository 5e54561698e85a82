"""A custom CPU model as libvirt takes it: a `<cpu>` with a model of its map and its features."""

from __future__ import annotations

from unmask.cpu import catalogue
from unmask.cpu.custom_model import properties
from unmask.cpu.features import libvirt_name
from unmask.dialects.libvirt import cpu_map
from unmask.model.baseline import CustomModel


def written(model: CustomModel) -> str:
    """Return the element for KVM, in lines.

    `check='partial'` lets libvirt refuse a host that lacks a feature. What its map counts to the
    model and KVM does not give with it (`svm`, `mpx`) is disabled, for libvirt would otherwise ask
    it of every host; what is needed and its map leaves out of the model is required by name, for
    it would not be checked.
    """
    known, by_map = catalogue.find(model.base), cpu_map.flags(model.base)
    counted = by_map - known.flags if known and by_map else frozenset[str]()
    required = model.on | (frozenset(model.shows) & cpu_map.difference(model.base).lacks)
    disabled = properties(model.off | (counted - required))
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
