"""Words that several rules use when they speak to the operator."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from unmask.model.case import GuestCase
from unmask.model.cpu import Origin
from unmask.model.finding import Severity
from unmask.rules import _scope

NAMES = {"aes": "AES-NI", "pclmulqdq": "PCLMULQDQ"}
ARM = ("aarch64", "arm", "armv7l", "armv8l")
"""Architectures whose flags `aes` and `pmull` are not x86's."""
SHOWN_AT_MOST = 12
ORIGINS = {
    Origin.CONFIG: "from the configuration",
    Origin.DEFAULT: "the default, as nothing valid is configured",
    Origin.ARGS: "from the raw arguments",
    Origin.CUSTOM: "a custom model",
    Origin.LIVE: "as the running guest has it",
}


def name(flag: str, arch: str = "x86_64") -> str:
    """Return how people call a flag."""
    if arch in ARM:
        return flag.upper()
    return NAMES.get(flag, flag)


def listed(words: Iterable[str], joint: str = "and") -> str:
    """Return words as a list for a sentence: "a, b and c"."""
    items = list(words)
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {joint} {items[-1]}"


def few(words: Iterable[str], most: int = 3) -> str:
    """Return words as a list for a sentence; of a long one the first and how many more."""
    items = list(words)
    rest = len(items) - most
    return listed([*items[:most], f"{rest} more"] if rest > 1 else items)


def flags(given: Collection[str], arch: str = "x86_64") -> str:
    """Return flags, sorted, as a list for a sentence; a long list is cut with a count."""
    items = [name(flag, arch) for flag in sorted(given)]
    rest = len(items) - SHOWN_AT_MOST
    if rest > 1:
        return f"{', '.join(items[:SHOWN_AT_MOST])} and {rest} more"
    return listed(items)


def count(number: int, noun: str) -> str:
    """Return "1 node", "2 nodes"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def about(case: GuestCase, text: str) -> str:
    """Return a finding's message, marked where the guest is a template."""
    if case.guest.template:
        return f"template: {text}; a change reaches future clones only"
    return text


def outcome_of_loss(case: GuestCase, *, enforced: bool) -> str:
    """Return what becomes of a guest that asks for flags which its host lacks."""
    if not enforced:
        return "so the flags vanish silently"
    return "so its next start fails" if _scope.runs(case) else "so it does not start"


def severity_of_loss(case: GuestCase, *, enforced: bool) -> Severity:
    """Return how much that matters: most where the guest cannot be started now."""
    return Severity.HIGH if enforced and not _scope.runs(case) else Severity.MEDIUM


def looked_for(case: GuestCase) -> str:
    """Return a sentence on what is known of encrypted workloads, for rules that know of none."""
    found = [item for item in case.workloads if not item.workload.host_side]
    if found:
        kinds = listed(sorted({item.workload.kind.value for item in found}))
        return f"Encryption is used in the guest ({kinds}): the findings CRY say what each loses."
    if case.guest.visit.inside.known:
        return "Nothing that encrypts was found in the guest, so that little is lost."
    return "No encrypted workload has been looked for, so this is a possibility, not an alarm."


def host(case: GuestCase) -> str:
    """Return the host with its CPU's name: "one (Intel Xeon ...)"; the host must be known."""
    model = case.host_cpu.model_name
    label = case.host.value.name
    return f"{label} ({model})" if model else label


def next_cpu(case: GuestCase, ahead: GuestCase) -> str:
    """Return a sentence on the CPU of the next start; `ahead` is the case as it will be then."""
    return cpu(case) if ahead is case else cpu(ahead, "after the change that is pending")


def cpu(case: GuestCase, when: str = "in force") -> str:
    """Return a sentence on where the guest's CPU comes from."""
    spec = case.guest.current
    written = f" ({spec.brief})" if spec.brief != spec.label else ""
    return f"The CPU {when} is {case.view.label}{written}, {ORIGINS[spec.origin]}."
