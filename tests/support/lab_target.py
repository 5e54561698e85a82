"""A lab as a target: how to get in, and reading it in this process."""

from __future__ import annotations

from unmask.connect import proxmox_address
from unmask.connect.deadline import Clock
from unmask.connect.proxmox import Api
from unmask.lab.lab import Lab
from unmask.model.access import Access, Login, Trust
from unmask.model.inventory import Inventory
from unmask.model.secret import Secret
from unmask.model.source import CollectOptions
from unmask.sources import proxmox


def login(lab: Lab, name: str = "audit") -> Login:
    """Return the login of a token by the lab's own name, or of a user (root@pam)."""
    if name in lab.tokens:
        user, _, secret = lab.tokens[name].partition("=")
        return Login(user, Secret(secret))
    return Login(name, Secret(lab.passwords[name]))


def trust(lab: Lab) -> Trust:
    """Return the trust in the lab's own authority."""
    return Trust(ca_file=str(lab.ca_file))


def address(lab: Lab) -> str:
    """Return the lab as `unmask audit` takes it."""
    return f"pve://{lab.address}"


def read(
    lab: Lab, name: str = "audit", timeout: float = 30, entries: tuple[str, ...] = ()
) -> Inventory:
    """Read the lab."""
    access = Access(login(lab, name), trust(lab), entries)
    return proxmox.collect(address(lab), CollectOptions(timeout=timeout, access=access))


def api(
    lab: Lab, *entries: str, name: str = "audit", seconds: float = 20, by: Trust | None = None
) -> Api:
    """Return a client of `entries`, by default of the lab itself."""
    places = tuple(proxmox_address.entry(item) for item in entries or (lab.address,))
    return Api(places, login(lab, name), by or trust(lab), Clock(seconds), 4)
