"""Where libvirt's map of CPU models differs from QEMU's definitions, with the reason for each."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

MODERN = "Westmere* SandyBridge* IvyBridge* Haswell* Broadwell*"
LATER = "QEMU's model has it, libvirt's map was never told"

WHY_LIBVIRT_DIFFERS = (
    # Flags, models (patterns), what libvirt's map does with them, and why.
    ("hypervisor", "*", "lacks", "the map describes hardware; QEMU says that it is there"),
    ("pclmulqdq", "Westmere*", "lacks", LATER),
    ("abm f16c rdrand", "Haswell* Broadwell*", "lacks", LATER),
    ("arat", MODERN, "lacks", LATER),
    ("xsaveopt", MODERN, "lacks", LATER),
    ("pku", "Skylake-Server* Cascadelake-Server*", "lacks", LATER),
    ("clflushopt", "Skylake-Server", "lacks", LATER),
    ("lahf_lm", "core2duo n270 phenom qemu64", "lacks", LATER),
    ("xsaves", "EPYC-Rome", "lacks", LATER),
    ("vme", f"kvm* Conroe Penryn Nehalem* phenom Opteron_G? {MODERN}", "lacks", LATER),
    ("acpi ss cx16", "core2duo coreduo n270", "lacks", LATER),
    ("movbe", "n270", "lacks", LATER),
    ("apic", "pentium pentium2 pentium3", "lacks", LATER),
    ("mca", "athlon", "lacks", LATER),
    ("cx16 pdpe1gb popcnt rdtscp sse4a abm", "phenom", "lacks", LATER),
    ("npt nrip_save", "phenom Opteron_G? EPYC EPYC-* Dhyana*", "lacks", "belongs to svm"),
    ("topoext", "EPYC* Dhyana*", "lacks", "QEMU decides it by the guest's topology"),
    ("monitor", "EPYC* Dhyana* Opteron_G3 Snowridge* Denverton*", "lacks", "removed from the map"),
    ("mpx", "Snowridge*", "lacks", "gone since QEMU's second version of the model"),
    (
        "arch_capabilities ibrs-all ibrs_enhanced mds-no rdctl-no skip-l1dfl-vmentry",
        "Cascadelake-Server*",
        "lacks",
        "in QEMU's second version of the model and those that follow",
    ),
    ("mpx", "Skylake-* Cascadelake-* Icelake-*", "has", "QEMU took it out of these models"),
    ("rdtscp", "Opteron_G2", "has", "QEMU's model does not have it"),
    ("vmx-*", "*", "has", "newer maps list the bits below vmx, which follow the host in QEMU"),
)

NOT_QEMU = re.compile(r"pentiumpro|cpu64-rhel\d|Icelake-Client.*")
"""Models of libvirt's map that QEMU 7.2 to 11 do not have."""


def explains(line: tuple[str, str, str, str], difference: tuple[str, str, str]) -> bool:
    flags, models, kind, _ = line
    flag, model, is_kind = difference
    return (
        kind == is_kind
        and any(fnmatchcase(flag, each) for each in flags.split())
        # Newer maps name the first version of a model too.
        and any(fnmatchcase(model.removesuffix("-v1"), each) for each in models.split())
    )
