"""What operating systems need, by the name that a configuration declares."""

from __future__ import annotations

import pytest

from unmask.cpu import data_file
from unmask.cpu.levels import LEVELS
from unmask.cpu.os_levels import need, strict

TABLE = data_file.read("os_levels")
DECLARED = [*TABLE["proxmox"], *(f"http://{name}.0" for name in TABLE["libosinfo"])]


@pytest.mark.parametrize(
    ("declared", "level"),
    [
        ("http://redhat.com/rhel/9.0", 2),
        ("http://redhat.com/rhel/10.1", 3),
        ("http://redhat.com/rhel/9-unknown", 2),
        ("http://centos.org/centos-stream/9", 2),
        ("http://oracle.com/ol/10.0", 3),
        ("http://rockylinux.org/rocky/9", 2),
        ("http://almalinux.org/almalinux/10", 2),
        ("http://opensuse.org/opensuse/16.0", 2),
        ("http://suse.com/sle/16.0", 2),
        ("http://microsoft.com/win/2k25", 2),
        ("win11", 2),
    ],
)
def test_systems_and_their_levels(declared: str, level: int) -> None:
    found = need(declared)
    assert found is not None
    assert found.level == level


@pytest.mark.parametrize(
    "declared",
    [
        "",
        "l26",
        "win10",
        "other",
        "http://redhat.com/rhel/90",
        "http://redhat.com/rhel/8.10",
        "9",
        "http://redhat.com/rhel-unknown",
        "http://redhat.com/rhel/9-beta",
    ],
)
def test_systems_of_which_nothing_is_known(declared: str) -> None:
    assert need(declared) is None


@pytest.mark.parametrize("declared", DECLARED)
def test_every_entry_is_found_and_has_its_origin(declared: str) -> None:
    found = need(declared)
    assert found is not None
    assert found.origin in TABLE["origins"].values()
    assert found.reason
    assert found.reason[-1] != "."
    assert found.flags <= LEVELS[found.level]
    assert found.flags - LEVELS[found.level - 1], "a lower level would be enough"


def test_every_origin_is_used() -> None:
    groups = ("proxmox", "libosinfo", "programs")
    entries = [entry for group in groups for entry in TABLE[group].values()]
    assert {entry["origin"] for entry in entries} == set(TABLE["origins"])


def test_what_does_not_start_without_single_flags() -> None:
    wanted = {need.system: need.flags for need in strict()}
    assert wanted == {
        "Windows 11 24H2 or Server 2025": {"sse4_2", "popcnt"},
        "MongoDB 5.0 and newer": {"avx"},
    }
    assert all(flags <= LEVELS[found.level] for found in strict() for flags in [found.flags])
