"""The `<feature>` elements of a `<cpu>`: policies in, flags turned on and off out.

libvirt accepts nearly any name when a domain is defined and refuses it only when it starts
(observed with libvirt 9.0), so a misspelt feature is a guest that does not start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unmask.cpu import features
from unmask.model.cpu import Remark, RemarkKind

if TYPE_CHECKING:
    from unmask.dialects.libvirt.xml import Element

POLICIES = ("force", "require", "optional", "disable", "forbid")
GIVEN = ("force", "require")
WITHHELD = ("disable", "forbid")


@dataclass(frozen=True, slots=True)
class Policies:
    """What the feature list of one `<cpu>` asks for, in our spelling."""

    on: frozenset[str] = frozenset()
    off: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    forbidden: frozenset[str] = frozenset()
    """Those of `off` that the host must not have (policy `forbid`)."""
    remarks: tuple[Remark, ...] = ()

    @property
    def empty(self) -> bool:
        """Return whether no feature is named at all."""
        return not (self.on or self.off or self.optional or self.remarks)


def read(cpu: Element, *, x86: bool, live: bool = False) -> Policies:
    """Return the policies of the features of `cpu`.

    Args:
        cpu: A guest's `<cpu>`, or a `<mode>` of the domain capabilities.
        x86: Whether x86 names apply; names of other architectures are taken as they are.
        live: Whether libvirt wrote the list itself, so that there is nothing to remark on.
    """
    policies: dict[str, str] = {}
    remarks: list[Remark] = []
    for element in cpu.iterfind("feature"):
        name = element.get("name", "")
        policy = element.get("policy", "require")
        if not live:
            remarks += _remarks(name, policy, policies, x86=x86)
        if name and policy in POLICIES:
            policies[name] = policy
    on = _flags(policies, GIVEN, x86=x86)
    return Policies(
        on=on,
        off=_flags(policies, WITHHELD, x86=x86) - on,
        optional=_flags(policies, ("optional",), x86=x86) - on,
        forbidden=_flags(policies, ("forbid",), x86=x86),
        remarks=tuple(remarks),
    )


def _flags(policies: Mapping[str, str], wanted: tuple[str, ...], *, x86: bool) -> frozenset[str]:
    """A flag that two names turn on (`ssbd` by ssbd and virt-ssbd) is on if either is."""
    names = [name for name, policy in policies.items() if policy in wanted]
    if not x86:
        return frozenset(names)
    return frozenset(flag for name in names for flag in features.flags_of(name))


def _remarks(name: str, policy: str, earlier: Mapping[str, str], *, x86: bool) -> list[Remark]:
    found = []
    if policy not in POLICIES:
        found.append(
            _no_start(f"Feature {name} has the policy '{policy}', which libvirt does not accept.")
        )
    if name in earlier:
        found.append(_no_start(f"Feature {name} is listed twice, which libvirt does not accept."))
    if x86 and features.known(name):
        spelt = features.libvirt_name(features.canonical(name))
        if spelt != name:
            found.append(
                _no_start(
                    f"libvirt's name of feature {name} is {spelt}: it takes the definition, but "
                    "the guest does not start (unknown CPU feature)."
                )
            )
    elif x86:
        found.append(
            Remark(
                RemarkKind.UNRESOLVED,
                f"Feature {name or '(without a name)'} is not known to unmask; where libvirt does "
                "not know it either, the guest does not start.",
            )
        )
    return found


def _no_start(text: str) -> Remark:
    return Remark(RemarkKind.NO_START, text)
