"""The smallest model that hosts can run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support.rule_case import host_cpu
from unmask.cpu import catalogue
from unmask.model.cpu import HostCpu
from unmask.model.inventory import Platform
from unmask.rules._models import smallest

BOTH = frozenset({"aes", "pclmulqdq"})
NONE = frozenset[str]()


def hosts(*names: str) -> frozenset[HostCpu]:
    """Return the CPUs of that name in the fixtures."""
    return frozenset(host_cpu(name).value for name in names)


def everything(vendor: str) -> frozenset[HostCpu]:
    """Return one CPU that has every flag there is."""
    flags = frozenset[str]().union(
        *(model.flags for name in catalogue.names() if (model := catalogue.find(name)))
    )
    return frozenset([replace(host_cpu("broadwell").value, vendor=vendor, flags=flags)])


@pytest.mark.parametrize(
    ("names", "level", "wanted", "model"),
    [
        (("broadwell",), 1, BOTH, "Westmere"),
        (("broadwell",), 3, BOTH, "Haswell-noTSX"),
        (("broadwell", "cascadelake"), 4, BOTH, "Haswell-noTSX"),
        (("cascadelake",), 4, BOTH, "Skylake-Server-noTSX-IBRS"),
        (("rome",), 2, BOTH, "EPYC"),
        (("rome", "broadwell"), 2, BOTH, ""),
        (("rome", "broadwell"), 2, frozenset({"aes"}), "x86-64-v2-AES"),
        (("rome", "broadwell"), 3, NONE, "x86-64-v3"),
        (("nehalem", "broadwell"), 3, NONE, "x86-64-v2"),
        (("nehalem",), 2, BOTH, ""),
    ],
)
def test_proxmox(names: tuple[str, ...], level: int, wanted: frozenset[str], model: str) -> None:
    assert smallest(hosts(*names), Platform.PROXMOX, level, wanted) == model


def test_libvirt_does_not_know_the_levels_of_proxmox() -> None:
    for level in range(5):
        assert not smallest(hosts("broadwell"), Platform.LIBVIRT, level, NONE).startswith("x86-64")


@pytest.mark.parametrize("vendor", ["GenuineIntel", "AuthenticAMD"])
@pytest.mark.parametrize("platform", list(Platform))
def test_names_that_old_and_new_versions_know(vendor: str, platform: Platform) -> None:
    """For each flag by itself: no version suffix, nothing deprecated, nothing only new."""
    (host,) = everything(vendor)
    for flag in host.flags:
        name = smallest(frozenset([host]), platform, 0, frozenset({flag}))
        model = catalogue.find(name)
        if not name or catalogue.proxmox_model(name):
            continue
        assert model is not None
        assert model.since == catalogue.releases()[0]
        assert not model.deprecated
        assert name.rpartition("-")[2] not in ("v1", "v2", "v3", "v4", "v5")
        if platform is Platform.PROXMOX:
            assert name in catalogue.proxmox_cpu_names("x86_64")
            assert catalogue.proxmox_deprecated(name) is None


def test_a_list_of_flags_that_is_not_complete_proves_nothing() -> None:
    (host,) = hosts("broadwell")
    incomplete = frozenset([replace(host, complete=False)])
    assert smallest(incomplete, Platform.PROXMOX, 1, BOTH) == ""
