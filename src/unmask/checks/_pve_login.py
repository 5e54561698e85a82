"""What a Proxmox VE API says to a login: its release, and what the login may do."""

from __future__ import annotations

from unmask.connect import threads
from unmask.connect.deadline import Clock
from unmask.connect.proxmox_address import Address
from unmask.dialects.proxmox.permissions import Permissions
from unmask.errors import TargetError
from unmask.model.access import Login, Trust


def ask(entry: Address, login: Login, trust: Trust, seconds: float) -> tuple[str, Permissions]:
    """Return the release of Proxmox VE and the privileges of the login.

    Raises:
        TargetError: It cannot be reached in time, refuses, or is no Proxmox VE.
        UnmaskError: The request is refused.
    """
    from unmask.connect.proxmox import Api  # noqa: PLC0415 - needed for these targets only

    api = Api((entry,), login, trust, Clock(seconds), 1)
    late = TargetError(f"it did not answer within {seconds:g} s")
    try:
        version, permissions = threads.within(
            seconds, lambda: (api.get("version"), api.get("access/permissions")), late
        )
    finally:
        api.close()
    if not isinstance(version, dict) or not isinstance(permissions, dict):
        raise TargetError("it does not answer as Proxmox VE does")
    return str(version.get("version", ""))[:40], permissions
