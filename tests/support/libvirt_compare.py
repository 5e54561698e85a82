"""libvirt's own verdicts on CPUs, and why ours differ from them where they do.

`virConnectBaselineCPU` intersects CPUs: what it leaves out of one of two is what the other lacks.
That compares any two CPUs, where `virConnectCompareCPU` knows only the machine it runs on.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from support import peers
from support.libvirt_map import NOT_QEMU, WHY_LIBVIRT_DIFFERS, explains
from unmask.cpu import features

WHY_OURS_DIFFERS = (
    # Flags that libvirt finds lacking and we do not; the models that are asked for; and why.
    ("arat tsc_deadline_timer umip x2apic", "*", "KVM makes it itself, whatever the host's list"),
    ("arch_capabilities", "*", "KVM makes it itself, whatever the host's list"),
    ("la57", "*", "KVM asks the silicon: a kernel that does not use it does not print it"),
    ("monitor npt nrip_save svm", "*", "KVM's defaults leave it out of every model"),
    (
        (
            "amd-ssbd amd-stibp core-capability ibrs-all mds-no pschange-mc-no rdctl-no "
            "skip-l1dfl-vmentry spec-ctrl svme-addr-chk taa-no"
        ),
        "*",
        "no kernel prints it: its absence from a list says nothing",
    ),
    ("ibpb ibrs ssbd stibp", "*", "one word of Linux for the bits of either vendor"),
)

Difference = tuple[str, str, str, str]
"""A flag, who finds it lacking ("ours", "libvirt"), the model asked for, and the host."""


def connect(uri: str = "test:///default") -> Any:
    """Return a connection, or skip where libvirt-python is missing."""
    try:
        libvirt = importlib.import_module("libvirt")
    except ImportError:
        peers.missing("libvirt-python")
    libvirt.registerErrorHandler(lambda *_: None, None)
    return libvirt.open(uri)


@cache
def test_driver() -> Any:
    """Return the connection to libvirt's test driver, which every libvirt has."""
    return connect()


@cache
def names() -> tuple[str, ...]:
    """Return the names of the models that libvirt knows and QEMU 7.2 to 11 have."""
    known = test_driver().getCPUModelNames("x86_64")
    return tuple(name for name in known if not NOT_QEMU.fullmatch(name))


def element(name: str, listed: Iterable[str] = ()) -> str:
    """Return a CPU of libvirt's, as `virsh cpu-baseline` takes it."""
    features_of_it = "".join(f"<feature name='{each}'/>" for each in listed)
    return f"<cpu><arch>x86_64</arch><model>{name}</model>{features_of_it}</cpu>"


@cache
def shared(*cpus: str) -> frozenset[str]:
    """Return the features that CPUs (as XML) have in common by libvirt's map, in our spelling."""
    expand = importlib.import_module("libvirt").VIR_CONNECT_BASELINE_CPU_EXPAND_FEATURES
    text = test_driver().baselineCPU(list(cpus), expand)
    return ours(re.findall(r"<feature policy='require' name='([^']+)'", text))


def ours(listed: Iterable[str]) -> frozenset[str]:
    """Return libvirt's features in our spelling."""
    return frozenset[str]().union(*map(features.flags_of, listed))


def refused(message: str) -> frozenset[str]:
    """Return the flags that libvirt's refusal of a CPU lists."""
    listed = message.partition("features: ")[2]
    assert listed, message
    return ours(listed.split(", "))


def differences(
    lacking: frozenset[str], by_libvirt: frozenset[str], asked: str, host: str
) -> Iterator[Difference]:
    """Yield each flag that only one of the two finds lacking."""
    for flag in lacking - by_libvirt:
        yield flag, "ours", asked, host
    for flag in by_libvirt - lacking:
        yield flag, "libvirt", asked, host


def explained(difference: Difference) -> bool:
    """Return whether it is known why the two differ."""
    flag, said_by, asked, host = difference
    in_asked, in_host = ("lacks", "has") if said_by == "ours" else ("has", "lacks")
    by_map = any(
        explains(line, (flag, asked, in_asked)) or explains(line, (flag, host, in_host))
        for line in WHY_LIBVIRT_DIFFERS
    )
    return by_map or (said_by == "libvirt" and bool(reasons(flag, asked)))


def reasons(flag: str, asked: str) -> tuple[str, ...]:
    """Return why a flag that libvirt finds lacking is no obstacle to us."""
    return tuple(
        why
        for flags, models, why in WHY_OURS_DIFFERS
        if flag in flags.split() and fnmatchcase(asked, models)
    )
