"""The visit to one guest: each way in its turn, until its time is used up."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

from unmask.connect.ssh_login import Secrets
from unmask.errors import TargetError, UnmaskError
from unmask.model.inside import Inside
from unmask.model.inventory import Guest, GuestState, Platform
from unmask.model.reading import Known
from unmask.model.source import CollectOptions
from unmask.model.visit import Attempt, Visit, Way
from unmask.visits import _agent, _net, _ssh
from unmask.visits._channel import Channel, NoWayError

MOST_ADDRESSES = 4
"""Addresses of a guest that are tried by SSH."""
NO_ADDRESS = NoWayError(
    "its address is not known", "the guest agent, a DHCP lease, or an address in the configuration"
)
NO_LOGIN = NoWayError("no login is known", "--guest-user, or [guests] in the configuration")


class Job:
    """One guest, what it may cost, and what was learnt of it so far."""

    def __init__(
        self, guest: Guest, channel: Channel, options: CollectOptions, seconds: float
    ) -> None:
        self.guest = guest
        self.channel = channel
        self.entry = options.visits.entry(guest)
        self.asked = options.visits.asked
        allowed = set(self.entry.ways)
        if guest.platform is Platform.UNSEEN:
            allowed -= {Way.AGENT, Way.DISK}
        self.ways = tuple(way for way in options.visits.ways if way in allowed)
        self.visit = guest.visit
        self.way = Way.AGENT
        """The way that is being tried."""
        self.end = time.monotonic() + seconds

    def run(self) -> Visit:
        """Return what was learnt; a way that leads nowhere is an attempt in it."""
        steps = {
            Way.AGENT: self._by_agent,
            Way.SSH: self._by_ssh,
            Way.DISK: self._by_disks,
            Way.NET: self._by_network,
        }
        if self.guest.state is GuestState.RUNNING and {Way.SSH, Way.NET} & set(self.ways):
            self.visit = replace(self.visit, addresses=self._addresses())
        for way in self.ways:
            self.way = way
            try:
                steps[way]()
            except NoWayError as error:
                self._note(Attempt(way, error.reason, error.needs))
            except UnmaskError as error:
                self._note(Attempt(way, str(error)))
            except Exception as error:  # noqa: BLE001 - one guest must not cost the others theirs
                what = f"a bug in unmask ({type(error).__name__}): please report it"
                self._note(Attempt(way, what))
        return self.visit

    @property
    def left(self) -> float:
        """Return the seconds that are left; raises `NoWayError` where none are."""
        seconds = self.end - time.monotonic()
        if seconds <= 0:
            raise NoWayError("the time for this guest was used up", "a longer --guest-timeout")
        return seconds

    def _note(self, attempt: Attempt) -> None:
        self.visit = replace(self.visit, attempts=(*self.visit.attempts, attempt))

    def _entered(self, inside: Inside, way: Way, by: str) -> None:
        self.visit = replace(self.visit, inside=Known(inside), way=way, by=by)

    def _addresses(self) -> tuple[str, ...]:
        if self.entry.address:
            return (self.entry.address,)
        try:
            return self.channel.addresses(self.guest)
        except UnmaskError:
            return self.visit.addresses

    def _by_agent(self) -> None:
        if self.visit.inside.known:
            return
        self._running()
        inside, by = _agent.look(self.channel.agent(self.guest), self.left)
        self._entered(inside, Way.AGENT, by)

    def _by_ssh(self) -> None:
        if self.visit.inside.known:
            return
        self._running()
        if not self.entry.told and Way.SSH not in self.asked:
            raise NO_LOGIN
        if not self.visit.addresses:
            raise NO_ADDRESS
        for attempt in self._doors():
            self._note(attempt)

    def _doors(self) -> Iterator[Attempt]:
        """Try one address after the other; yields those that let nobody in."""
        password = self.entry.ssh.password
        secrets = Secrets(password.reveal() if password else "", None)
        for address in self.visit.addresses[:MOST_ADDRESSES]:
            try:
                inside, by = _ssh.look(address, self.entry, secrets, self.left)
            except NoWayError as error:
                yield Attempt(Way.SSH, error.reason, error.needs)
            except TargetError as error:
                yield Attempt(Way.SSH, str(error))
            else:
                self._entered(inside, Way.SSH, by)
                return

    def _by_disks(self) -> None:
        self.visit = replace(self.visit, disks=self.channel.disks(self.guest, self.left))

    def _by_network(self) -> None:
        if self.guest.state is not GuestState.RUNNING or not self.visit.addresses:
            return
        seen = replace(self.guest, visit=self.visit)
        ports = _net.ports(seen)
        names = (self.guest.name,)
        found = _net.endpoints(self.visit.addresses, ports, self.left, names)
        self.visit = replace(self.visit, endpoints=found)

    def _running(self) -> None:
        if self.guest.state is GuestState.UNKNOWN:
            raise NoWayError("whether it runs is not known")
        if self.guest.state is not GuestState.RUNNING:
            raise NoWayError(f"it is {self.guest.state.value}")
