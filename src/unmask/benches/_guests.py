"""The ways into the guests of a hypervisor, for whoever measures them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

from unmask.benches._door import AgentDoor, Door, SshDoor
from unmask.benches._machine import NO_WINDOWS
from unmask.connect.ssh_login import Secrets
from unmask.errors import TargetError, UnmaskError
from unmask.model.entry import GuestEntry
from unmask.model.inventory import Guest, GuestKind, GuestState, Platform
from unmask.model.source import CollectOptions
from unmask.model.visit import Way
from unmask.visits import _ssh
from unmask.visits._agent import WINDOWS
from unmask.visits._channel import Channel, NoWayError
from unmask.visits._guest import MOST_ADDRESSES, NO_ADDRESS, NO_LOGIN

LOGIN_SECONDS = 20.0


def refusal(guest: Guest) -> str:
    """Return why a guest cannot be measured at all; "" where it may be tried."""
    if guest.template:
        return "it is a template"
    if guest.kind is GuestKind.CONTAINER:
        return "it is a container, which computes on its host's own CPU: measure the node (--node)"
    if guest.state not in (GuestState.RUNNING, GuestState.UNKNOWN):
        return f"it is {guest.state.value}"
    return ""


def enter(
    stack: ExitStack, guest: Guest, channel: Channel, options: CollectOptions, *, root: bool = False
) -> Door:
    """Return a way into a guest, which is closed with the stack.

    SSH comes first: what runs by it ends with the connection. It is tried only where somebody said
    how to log in, or named it. With `root`, sudo is used where it was told to be.

    Raises:
        TargetError: No way leads in, with the reasons.
    """
    if why := refusal(guest):
        raise TargetError(why)
    entry = options.visits.entry(guest)
    allowed = [way for way in options.visits.ways if way in entry.ways]
    failed: list[str] = []
    if Way.SSH in allowed:
        try:
            door = _by_ssh(stack, guest, channel, options, entry)
            return replace(door, sudo=entry.sudo and root)
        except NoWayError as error:
            failed.append(f"by SSH: {_words(error)}")
    if Way.AGENT in allowed and guest.platform is not Platform.UNSEEN:
        try:
            return _by_agent(guest, channel)
        except NoWayError as error:
            failed.append(f"by its guest agent: {_words(error)}")
        except UnmaskError as error:
            failed.append(f"by its guest agent: {error}")
    raise TargetError("; ".join(failed) or "neither SSH nor the guest agent is allowed (--via)")


def _by_ssh(
    stack: ExitStack, guest: Guest, channel: Channel, options: CollectOptions, entry: GuestEntry
) -> SshDoor:
    if not entry.told and Way.SSH not in options.visits.asked:
        raise NO_LOGIN
    password = entry.ssh.password
    secrets = Secrets(password.reveal() if password else "", None)
    last = NO_ADDRESS
    for address in _addresses(guest, channel, entry):
        try:
            door, session = stack.enter_context(_ssh.enter(address, entry, secrets, LOGIN_SECONDS))
        except NoWayError as error:
            last = error
            continue
        user = session.login.user
        where = f"{user}@{door.host}" + (f":{door.port}" if door.port else "")
        return SshDoor(session, f"ssh {where}")
    raise last


def _addresses(guest: Guest, channel: Channel, entry: GuestEntry) -> Iterator[str]:
    if entry.address:
        yield entry.address
        return
    try:
        found = channel.addresses(guest)
    except UnmaskError:
        found = guest.visit.addresses
    yield from found[:MOST_ADDRESSES]


def _by_agent(guest: Guest, channel: Channel) -> Door:
    agent = channel.agent(guest)
    if agent.system() == WINDOWS:
        raise NoWayError(NO_WINDOWS)
    return AgentDoor(agent)


def _words(error: NoWayError) -> str:
    return f"{error.reason} (needs {error.needs})" if error.needs else error.reason
