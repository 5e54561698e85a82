"""Versions against what pyproject asks, held against the reference implementation of the rules."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import cast

import pytest
from packaging.requirements import Requirement as Oracle
from packaging.specifiers import SpecifierSet

from unmask.checks import packages
from unmask.checks._check import Surroundings
from unmask.checks.packages import Requirement, requirement, satisfied
from unmask.config.settings import Settings, Target
from unmask.model.checkup import Status

VERSIONS = ("0.9", "1", "1.0.0", "1.1", "1.9.9", "2.0", "2.2", "2.2.1", "3.0", "10.0", "2026.1")
LIMITS = ("", ">=2.2", ">=1,<3", "==1.0", "==2.*", "!=2.2", "~=2.2", "~=1.0.0", "<=2.2", ">2.2")


@pytest.mark.parametrize(("version", "limits"), list(itertools.product(VERSIONS, LIMITS)))
def test_a_version_is_judged_as_pip_judges_it(version: str, limits: str) -> None:
    assert satisfied(version, limits) is SpecifierSet(limits).contains(version)


@pytest.mark.parametrize(
    "line",
    [
        "paramiko>=3.4",
        "typer",
        "keyring>=24; extra == 'keyring'",
        'libvirt-python>=9.0; extra == "libvirt"',
        "typer[all]<1,>=0.19.2",
    ],
)
def test_a_line_of_metadata_is_read(line: str) -> None:
    oracle = Oracle(line)
    extra = line.partition("extra == ")[2].strip("'\"")
    found = requirement(line)
    assert found is not None
    assert (found.name, found.extra) == (oracle.name, extra)
    assert SpecifierSet(found.limits) == oracle.specifier


def test_what_is_not_understood_is_left_alone() -> None:
    assert requirement("a @ https://example.org/a.whl") is None
    assert requirement("a>=1") == Requirement("a", ">=1", "")
    assert satisfied("unknown", "") is True


@pytest.mark.parametrize(
    ("address", "status"), [("pve+ssh://pve1", Status.PROBLEM), ("pve://pve1", Status.NOTE)]
)
def test_paramiko_without_its_compiled_parts_is_not_there(
    monkeypatch: pytest.MonkeyPatch, address: str, status: Status
) -> None:
    """As in unmask.pyz on a system without python3-paramiko."""
    monkeypatch.setattr(packages, "find_spec", lambda name: None if name == "nacl" else name)
    settings = Settings(targets=(Target("one", address),))
    around = cast(Surroundings, SimpleNamespace(targets=(), settings=settings))
    remark = packages._remark(Requirement("paramiko", ">=3.4", ""), around)
    assert (remark.status, remark.subject) == (status, "paramiko")
    assert remark.what.endswith(", which needs nacl")
    assert remark.todo.endswith("-m pip install 'paramiko>=3.4'")
