"""What a login may not see, by privilege and path.

`access/permissions` tells the privileges at each path with their propagate flag (0: only there).
Lists of guests silently leave out what one may not see, so that only these tell of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from unmask.model.inventory import Gap
from unmask.model.reading import Known, Reading
from unmask.sources._pve_api_answers import Row, number

GUEST = re.compile(r"/vms/[0-9]+")


def granted(permissions: Row, path: str, privilege: str) -> bool:
    """Return whether a privilege is granted at a path, by itself or from above."""
    steps = [path]
    while steps[-1] != "/":
        steps.append(steps[-1].rpartition("/")[0] or "/")
    for step in steps:
        grants = permissions.get(step)
        if isinstance(grants, Mapping):
            flag = number(grants.get(privilege))
            return flag >= 0 if step == path else flag == 1
    return False


def everywhere(permissions: Row, path: str, privilege: str) -> bool:
    """Return whether a privilege is granted at a path and passed on to everything below."""
    grants = permissions.get(path, permissions.get("/"))
    return isinstance(grants, Mapping) and number(grants.get(privilege)) == 1


def hidden_guests(reading: Reading[Row], cluster: str, seen: int) -> list[Gap]:
    """Return what is to be said of guests that the lists may leave out."""
    if not isinstance(reading, Known):
        reason = f"whether all guests may be seen is not known: {reading.reason}"
        return [Gap(cluster, reason, reading.needs)]
    permissions = reading.value
    gaps = [
        Gap(f"{cluster}/{path.removeprefix('/vms/')}", "it may not be seen", f"VM.Audit on {path}")
        for path in sorted(permissions)
        if GUEST.fullmatch(path) and not granted(permissions, path, "VM.Audit")
    ]
    if not everywhere(permissions, "/vms", "VM.Audit"):
        reason = f"only guests that may be seen are listed, {seen} of them: there may be more"
        gaps.append(Gap(cluster, reason, "VM.Audit on /vms, propagated"))
    return gaps
