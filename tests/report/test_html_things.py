"""Which workload the page names as what a finding is about."""

from __future__ import annotations

import pytest

from unmask.model.finding import Finding, Problem, Severity
from unmask.report._html.things import _names


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("tank", True),
        ("tank/media", False),
        ("tan", False),
        ("ank", False),
        ("aes", False),
        ("", False),
        ("aes-256-gcm", True),
    ],
)
def test_a_name_is_not_a_part_of_another(name: str, *, there: bool) -> None:
    problem = Problem(Severity.HIGH, "ZFS encryption of tank (aes-256-gcm) runs in software")
    finding = Finding("CRY001", "Encrypted ZFS", "lab/101", "nas", "lab/one", problem)
    assert _names(finding, name) is there


def test_a_child_is_not_its_parent() -> None:
    problem = Problem(Severity.HIGH, "ZFS encryption of tank/media runs in software")
    finding = Finding("CRY001", "Encrypted ZFS", "lab/101", "nas", "lab/one", problem)
    assert not _names(finding, "tank")
    assert _names(finding, "tank/media")
