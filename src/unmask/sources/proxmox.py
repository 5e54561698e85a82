"""A Proxmox VE cluster, or a node on its own, by way of its API: pve://HOST[:PORT]."""

from __future__ import annotations

from unmask.connect import proxmox_address
from unmask.connect.deadline import Clock
from unmask.connect.proxmox_answer import ApiError
from unmask.errors import TargetError
from unmask.model.inventory import Inventory
from unmask.model.source import CollectOptions, Interrupted, Source
from unmask.sources import _pve_api_inventory, _pve_api_reading

RESERVE = 0.95
"""Of the time allowed: the rest is for making sense of the answers."""


def fits(target: str) -> bool:
    """Return whether the target is spelt as an address of the API."""
    return proxmox_address.fits(target)


def collect(target: str, options: CollectOptions) -> Inventory:
    """Read one cluster from any of its nodes.

    Raises:
        UsageError: The address is none.
        TargetError: There is no login, or nothing at all could be read.
        Interrupted: Ctrl-C was pressed after the cluster had been listed.
    """
    from unmask.connect.proxmox import Api  # noqa: PLC0415 - needed for these targets only

    address = proxmox_address.parse(target)
    entries = (address, *(proxmox_address.entry(item) for item in options.access.entries))
    login = options.access.login
    if login is None:
        raise TargetError(f"{target}: there is no token or password for it (docs/proxmox.md)")
    clock = Clock(options.timeout * RESERVE)
    api = Api(entries, login, options.access.trust, clock, options.workers)
    try:
        answers = _pve_api_reading.read(api, options.workers, options.progress)
    except ApiError as error:
        needs = f" (needs {error.needs})" if error.needs else ""
        raise TargetError(f"{error}{needs}") from None
    finally:
        api.close()
        options.progress("")
    found = _pve_api_inventory.inventory(answers, target, address.host)
    if options.access.trust.insecure:
        found = _pve_api_inventory.unverified(found)
    if answers.interrupted:
        raise Interrupted(found)
    return found


SOURCE = Source(
    name="proxmox",
    summary="pve://HOST[:PORT], the API of a Proxmox VE cluster",
    fits=fits,
    collect=collect,
    order=10,
)
