"""Where libvirt's CPU map differs from QEMU's definitions of the same models.

libvirt writes a running guest's CPU, host-model and the host's CPU as a model of *its* map plus and
minus features. To know what such a list means, one needs the map: QEMU's Westmere has PCLMULQDQ and
libvirt's has not, so a live Westmere that does not list `pclmuldq` surely lacks it.

Source: src/cpu_map/x86_*.xml of libvirt 9.0.0 and 11.3.0, compared with QEMU 7.2 to 11; a test asks
the installed libvirt to expand every model it knows and compares.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from unmask.cpu import catalogue
from unmask.model.cpu import Accelerator

LACKS = (
    (("Broadwell-v1 Broadwell-v2 Broadwell-v3 Broadwell-v4 Haswell-v1 Haswell-v2 Haswell-v3 "
     "Haswell-v4"), "abm arat f16c rdrand vme xsaveopt"),
    ("Cascadelake-Server-v1 Skylake-Server-v2 Skylake-Server-v3", "pku"),
    ("Cascadelake-Server-v3",
     "arch_capabilities ibrs-all ibrs_enhanced mds-no pku rdctl-no skip-l1dfl-vmentry"),
    ("Conroe-v1 Nehalem-v1 Nehalem-v2 Opteron_G1-v1 Opteron_G2-v1 Penryn-v1 kvm32-v1 kvm64-v1",
     "vme"),
    ("Denverton-v1 Snowridge-v2 Snowridge-v3 Snowridge-v4", "monitor"),
    ("Dhyana-v1 EPYC-v1 EPYC-v2", "monitor npt nrip_save topoext"),
    (("Dhyana-v2 EPYC-Genoa-v1 EPYC-Milan-v1 EPYC-Milan-v2 EPYC-Rome-v2 EPYC-Rome-v3 EPYC-Rome-v4 "
     "EPYC-v3 EPYC-v4"), "monitor topoext"),
    ("EPYC-Rome-v1", "monitor topoext xsaves"),
    ("IvyBridge-v1 IvyBridge-v2", "arat xsaveopt"),
    ("Opteron_G3-v1", "monitor vme"),
    ("Opteron_G4-v1 Opteron_G5-v1", "npt nrip_save vme"),
    ("SandyBridge-v1 SandyBridge-v2", "arat vme xsaveopt"),
    ("Skylake-Server-v1", "clflushopt pku"),
    ("Snowridge-v1", "monitor mpx"),
    ("Westmere-v1 Westmere-v2", "arat pclmulqdq vme"),
    ("athlon-v1", "mca"),
    ("core2duo-v1", "acpi cx16 lahf_lm ss"),
    ("coreduo-v1", "acpi ss"),
    ("n270-v1", "acpi lahf_lm movbe ss"),
    ("pentium-v1 pentium2-v1 pentium3-v1", "apic"),
    ("phenom-v1", "abm cx16 lahf_lm npt pdpe1gb popcnt rdtscp sse4a vme"),
    ("qemu64-v1", "lahf_lm"),
)  # fmt: skip
"""QEMU models (by version) and what libvirt's map leaves out of them, beside `hypervisor`."""

ADDS = (
    (("Cascadelake-Server Cascadelake-Server-noTSX Icelake-Server Icelake-Server-noTSX "
     "Skylake-Client Skylake-Client-IBRS Skylake-Client-noTSX-IBRS Skylake-Server "
     "Skylake-Server-IBRS Skylake-Server-noTSX-IBRS"), "mpx"),
    ("Opteron_G2 Opteron_G2-v1", "rdtscp"),
)  # fmt: skip
"""libvirt's names and what the map gives them that QEMU's definition has not."""

DEMANDED = {"qemu64": frozenset({"svm"})}
"""What the map has and KVM's defaults take from the model whatever the host has."""

REMOVED = (("Dhyana EPYC EPYC-IBPB Opteron_G3", "monitor"),)
"""libvirt's names and what it tells QEMU to leave out of them (removed='yes' in the map)."""

WITHDRAWN = frozenset({"intel_pt", "monitor", "mpx"})
"""Features that one version or another removed from models: libvirt disables them by itself."""

OUTSIDE = re.compile(r"(hv|kvm|vmx)[-_]|kvmclock")
"""Flags that libvirt's lists of CPU features do not speak of, or not in every version."""


@dataclass(frozen=True, slots=True)
class Difference:
    """How libvirt's idea of a model differs from QEMU's, in our spelling."""

    lacks: frozenset[str] = frozenset()
    adds: frozenset[str] = frozenset()


def difference(name: str) -> Difference:
    """Return how libvirt's map differs from QEMU's definition of the model `name`."""
    known = catalogue.find(name)
    if known is None:
        return Difference()
    lacks = _table(LACKS).get(known.resolved, frozenset()) | {"hypervisor"}
    return Difference(lacks, _table(ADDS).get(name, frozenset()))


def demanded(name: str) -> frozenset[str]:
    """Return what check='partial' may ask of a KVM host that KVM then does not give the guest."""
    return difference(name).adds | DEMANDED.get(name, frozenset())


def removed(name: str) -> frozenset[str]:
    """Return what libvirt turns off with a model, unless the domain turns it on."""
    return _table(REMOVED).get(name, frozenset())


def flags(name: str) -> frozenset[str] | None:
    """Return a model's flags by libvirt's map; None for a model that is not in the catalogue."""
    known = catalogue.find(name)
    if known is None:
        return None
    differs = difference(name)
    return (known.defined - differs.lacks) | differs.adds


def as_changes(
    name: str, on: frozenset[str], off: frozenset[str], accelerator: Accelerator
) -> tuple[frozenset[str], frozenset[str]]:
    """Turn a complete list of changes to libvirt's model into changes to QEMU's.

    Args:
        name: The model.
        on: Flags that libvirt lists as given beside its model.
        off: Flags that it lists as withheld.
        accelerator: Whose view of QEMU's model the changes are to apply to.

    Returns:
        Flags turned on and off, such that QEMU's model with them is what libvirt describes. For a
        model that is not in the catalogue they are the lists themselves.
    """
    known = catalogue.find(name)
    by_map = flags(name)
    if known is None or by_map is None:
        return on, off
    shown = (by_map - off) | on
    emulated = accelerator is Accelerator.TCG
    base = known.tcg_flags if emulated else known.flags
    hidden = frozenset(flag for flag in base - shown if not OUTSIDE.match(flag))
    return on | (shown - base), (off - shown) | hidden


@cache
def _table(rows: tuple[tuple[str, str], ...]) -> dict[str, frozenset[str]]:
    return {name: frozenset(words.split()) for names, words in rows for name in names.split()}
