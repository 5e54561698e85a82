"""Privileges as Proxmox VE's `access/permissions` tells them.

It has the privileges at each path with their propagate flag: 0 grants at exactly that path, 1 also
below it (PVE/RPCEnvironment.pm). Paths without a privilege are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Permissions: TypeAlias = Mapping[str, Any]
"""Privileges and their flag by path, as the server has sent them."""


def granted(permissions: Permissions, path: str, privilege: str) -> bool:
    """Return whether a privilege is granted at a path, by itself or from above."""
    step = path
    while True:
        grants = permissions.get(step)
        if isinstance(grants, Mapping):
            flag = grants.get(privilege)
            return flag in (0, 1) if step == path else flag == 1
        if step == "/":
            return False
        step = step.rpartition("/")[0] or "/"


def everywhere(permissions: Permissions, path: str, privilege: str) -> bool:
    """Return whether a privilege is granted at a path and passed on to everything below."""
    step = path
    while step != "/" and step not in permissions:
        step = step.rpartition("/")[0] or "/"
    grants = permissions.get(step)
    return isinstance(grants, Mapping) and grants.get(privilege) == 1
