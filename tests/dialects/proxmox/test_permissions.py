"""Privileges with their propagate flag, from the root down."""

import pytest

from unmask.dialects.proxmox.permissions import everywhere, granted

PERMISSIONS = {
    "/": {"Sys.Audit": 1},
    "/nodes": {"Sys.Audit": 1},
    "/vms": {"VM.Audit": 0},
    "/vms/101": {"VM.Audit": 1},
    "/vms/102": {"VM.Config.CPU": 1},
}


@pytest.mark.parametrize(
    ("path", "privilege", "at", "below"),
    [
        ("/nodes", "Sys.Audit", True, True),
        ("/nodes/pve1", "Sys.Audit", True, True),
        ("/vms", "VM.Audit", True, False),
        ("/vms/100", "VM.Audit", False, False),
        ("/vms/101", "VM.Audit", True, True),
        ("/vms/102", "VM.Audit", False, False),
        ("/mapping/cpu", "Sys.Audit", True, True),
        ("/", "VM.Audit", False, False),
    ],
)
def test_where_a_privilege_holds(path: str, privilege: str, *, at: bool, below: bool) -> None:
    assert granted(PERMISSIONS, path, privilege) is at
    assert everywhere(PERMISSIONS, path, privilege) is below


def test_nothing_is_granted_by_nothing() -> None:
    assert not granted({}, "/vms/101", "VM.Audit")
    assert not everywhere({}, "/", "Sys.Audit")
    assert not granted({"/": "x"}, "/", "Sys.Audit")
