"""What a login may not see, by privilege and path.

Lists of guests silently leave out what one may not see, so that only `access/permissions` tells.
"""

from __future__ import annotations

import re

from unmask.dialects.proxmox.permissions import everywhere, granted
from unmask.model.inventory import Gap
from unmask.model.reading import Known, Reading
from unmask.sources._pve_api_answers import Row

GUEST = re.compile(r"/vms/[0-9]+")


def guests(reading: Reading[Row], cluster: str, seen: int) -> list[Gap]:
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
