"""The lab's guests, entered through its API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest

from support.lab_target import address, login, read, trust
from unmask.lab.guest_agent import GuestAgent
from unmask.lab.lab import Lab
from unmask.model.access import Access
from unmask.model.entry import VisitOptions
from unmask.model.inside import Inside
from unmask.model.inventory import Guest
from unmask.model.source import CollectOptions
from unmask.visits import _agent
from unmask.visits._channel import Channel, NoWayError
from unmask.visits.proxmox import HYPERVISOR


@contextmanager
def entered(
    lab: Lab, name: str = "agent", seconds: float = 20
) -> Iterator[tuple[Channel, Mapping[str, Guest]]]:
    """Open the way to a lab's guests; gives them by their ids, too."""
    found = read(lab, "audit")
    options = CollectOptions(
        access=Access(login(lab, name), trust(lab)), visits=VisitOptions(seconds=seconds)
    )
    with HYPERVISOR.open(address(lab), options, found) as channel:
        yield channel, {guest.ident: guest for guest in found.guests}


def look(channel: Channel, guest: Guest, seconds: float = 20) -> Inside:
    return _agent.look(channel.agent(guest), seconds)[0]


def refused(channel: Channel, guest: Guest, seconds: float = 20) -> tuple[str, str]:
    with pytest.raises(NoWayError) as caught:
        look(channel, guest, seconds)
    return caught.value.reason, caught.value.needs


def asked(lab: Lab, vmid: int, since: int = 0) -> list[str]:
    """Return the requests that were sent to a guest's agent."""
    return [
        seen.route.rpartition("/")[2]
        for seen in lab.seen[since:]
        if f"/qemu/{vmid}/agent/" in seen.path
    ]


@contextmanager
def replaced(lab: Lab, vmid: int, agent: GuestAgent) -> Iterator[None]:
    """Let another agent be in a guest for as long as the context lasts."""
    kept = lab.cluster.agents[vmid]
    lab.cluster.agents[vmid] = agent
    try:
        yield
    finally:
        lab.cluster.agents[vmid] = kept
