"""What operating systems need, by the name that a configuration declares."""

from __future__ import annotations

import pytest

from unmask.cpu import data_file
from unmask.cpu.levels import LEVELS
from unmask.cpu.os_levels import need, need_of, need_of_program, strict
from unmask.model.inside import System

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
    groups = ("proxmox", "libosinfo", "programs", "builds")
    entries = [entry for group in groups for entry in TABLE[group].values()]
    entries += [entry["arm"] for entry in TABLE["programs"].values()]
    assert {entry["origin"] for entry in entries} == set(TABLE["origins"])


def test_what_does_not_start_without_single_flags() -> None:
    wanted = {need.system: need.flags for need in strict()}
    assert wanted == {
        "Windows 11 24H2 or Server 2025": {"sse4_2", "popcnt"},
        "MongoDB 5.0 and newer": {"avx"},
    }
    assert all(flags <= LEVELS[found.level] for found in strict() for flags in [found.flags])


@pytest.mark.parametrize(
    ("ident", "version", "level"),
    [
        ("rhel", "9.4", 2),
        ("rhel", "10.0", 3),
        ("centos", "9", 2),
        ("rocky", "9.6", 2),
        ("almalinux", "10.0", 2),
        ("ol", "10.1", 3),
        ("sles", "16.0", 2),
        ("opensuse-leap", "16.0", 2),
    ],
)
def test_systems_that_were_seen(ident: str, version: str, level: int) -> None:
    found = need_of(System("Linux", ident=ident, version=version))
    assert found is not None
    assert (found.level, found.several) == (level, False)


@pytest.mark.parametrize(
    ("ident", "version"),
    [("rhel", "8.10"), ("debian", "13"), ("centos", "8"), ("alpine", "3.22.0"), ("", ""),
     ("amzn", "2023"), ("rhel", "")],
)  # fmt: skip
def test_systems_that_run_on_anything(ident: str, version: str) -> None:
    assert need_of(System("Linux", ident=ident, version=version)) is None


def test_a_rebuild_that_nobody_knows_may_need_less() -> None:
    seen = System("Linux", ident="newbuild", like=("rhel", "fedora"), version="9.1", name="New 9")
    found = need_of(seen)
    assert found is not None
    assert (found.system, found.level, found.several) == ("New 9", 2, True)
    assert need_of(System("Linux", ident="newbuild", like=("fedora",), version="9")) is None


@pytest.mark.parametrize(
    ("build", "needs"),
    [
        ("26100", True),
        ("26200", True),
        ("22631", False),
        ("20348", False),
        ("", False),
        ("²", False),
    ],
)
def test_windows_by_its_build(build: str, needs: bool) -> None:  # noqa: FBT001 - the answer
    found = need_of(System("Windows", ident="windows", version=build))
    assert (found is not None) is needs
    assert not needs or (found and found.flags == {"sse4_2", "popcnt"})


@pytest.mark.parametrize(
    ("version", "arch", "flags", "several"),
    [
        ("7.0.5", "x86_64", {"avx"}, False),
        ("5.0", "x86_64", {"avx"}, False),
        ("1:8.0.4-2", "x86_64", {"avx"}, False),
        ("", "x86_64", {"avx"}, True),
        ("6.0.1", "aarch64", {"atomics"}, False),
    ],
)
def test_mongodb(version: str, arch: str, flags: set[str], several: bool) -> None:  # noqa: FBT001
    found = need_of_program("mongodb", version, arch)
    assert found is not None
    assert (set(found.flags), found.several) == (flags, several)


@pytest.mark.parametrize(
    ("name", "version", "arch"),
    [("mongodb", "4.4.29", "x86_64"), ("mongodb", "7.0", "s390x"), ("redis", "7.0", "x86_64")],
)
def test_programs_that_start_anywhere(name: str, version: str, arch: str) -> None:
    assert need_of_program(name, version, arch) is None
