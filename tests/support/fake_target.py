"""A guest's configuration that lives in memory or in a file, and can fail at any point.

It obeys `unmask.fixes._target.Target` to the letter, so that what is built on that protocol can be
tested without a hypervisor.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from unmask.errors import TargetError
from unmask.fixes._target import ChangedError, Kind, RefusedError
from unmask.model.change import Place, Setting
from unmask.model.inventory import GuestState, Platform
from unmask.model.source import CollectOptions


@dataclass(frozen=True)
class FakeGuest:
    """One guest as its hypervisor has it."""

    cpu: str | None = "kvm64"
    options: dict[str, str] = field(default_factory=lambda: {"memory": "2048", "name": "web"})
    """Everything else in its configuration; nothing may ever change it."""
    running: bool = True
    cpu_of_process: str | None = "kvm64"
    """What it was started with."""
    made: str = ""
    """When it was created; "" where that is not known."""

    @property
    def digest(self) -> str:
        """Return SHA-1 of the configuration, as Proxmox VE does."""
        text = json.dumps([self.cpu, self.options], sort_keys=True)
        return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


class Memory:
    """Where a guest is kept: here, in this object."""

    def __init__(self, guest: FakeGuest | None = None) -> None:
        self.guest = guest or FakeGuest()

    def load(self) -> FakeGuest:
        return self.guest

    def save(self, guest: FakeGuest) -> None:
        self.guest = guest


class InFile:
    """Where a guest is kept: in a file, replaced as a whole, so that it outlives a kill."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self) -> FakeGuest:
        return FakeGuest(**json.loads(self.path.read_text(encoding="utf-8")))

    def save(self, guest: FakeGuest) -> None:
        beside = self.path.with_suffix(".new")
        beside.write_text(json.dumps(asdict(guest)), encoding="utf-8")
        beside.replace(self.path)


def _nothing(_point: str) -> None:
    """Do nothing at a point."""


@dataclass
class FakeTarget:
    """A `Target`. What is set to a reason fails with it; `at` is called around every effect."""

    store: Memory | InFile = field(default_factory=Memory)
    at: Callable[[str], None] = _nothing
    """Is told "write: before", "write: after" and so on; may raise, or end the process."""
    refuse: str = ""
    """`write` is refused with this reason."""
    lose: str = ""
    """`write` does it and the answer is lost: "done"; or it never arrives: "not done"."""
    keep: Callable[[str | None], str | None] = lambda value: value
    """What the hypervisor makes of a value that it is told to keep."""
    stubborn: bool = False
    """The guest does not shut down when it is asked to."""
    dead: str = ""
    """`start` fails with this reason."""
    unreachable: str = ""
    """Everything raises `TargetError` with this reason."""
    calls: list[str] = field(default_factory=list)
    """The methods that were called, in order, "write" with the value."""
    closed: bool = False

    def _begin(self, call: str) -> FakeGuest:
        self.calls.append(call)
        self.at(f"{call.split(maxsplit=1)[0]}: before")
        if self.unreachable:
            raise TargetError(self.unreachable)
        return self.store.load()

    def _end(self, call: str, guest: FakeGuest) -> None:
        self.store.save(guest)
        self.at(f"{call}: after")

    def read(self) -> Setting:
        guest = self._begin("read")
        return Setting(guest.cpu, guest.digest, guest.made)

    def same(self, left: Setting, right: Setting) -> bool:
        return left.value == right.value

    def write(self, before: Setting, after: Setting) -> None:
        guest = self._begin(f"write {after.value}")
        if (guest.cpu, guest.digest) != (before.value, before.digest):
            raise ChangedError("the configuration has changed since it was read")
        if self.refuse:
            raise RefusedError(self.refuse)
        if self.lose == "not done":
            raise TargetError("the connection was lost")
        self._end("write", replace(guest, cpu=self.keep(after.value)))
        if self.lose:
            raise TargetError("the connection was lost")

    def state(self) -> GuestState:
        return GuestState.RUNNING if self._begin("state").running else GuestState.STOPPED

    def shut_down(self, seconds: float, *, force: bool) -> None:
        guest = self._begin("shut_down")
        if self.stubborn and not force:
            raise RefusedError(f"the guest did not shut down within {seconds:g} s")
        self._end("shut_down", replace(guest, running=False))

    def start(self, seconds: float) -> None:
        del seconds
        guest = self._begin("start")
        if self.dead:
            raise RefusedError(self.dead)
        self._end("start", replace(guest, running=True, cpu_of_process=guest.cpu))

    def close(self) -> None:
        self.closed = True


def place(ident: str = "101", target: str = "fake://here", node: str = "pve1") -> Place:
    """Return where a fake guest is."""
    return Place(target, f"lab/{ident}", ident, "web", Platform.PROXMOX, node)


def kind(target: FakeTarget) -> Kind:
    """Return a kind of target whose only guest is this one."""

    def open_it(_place: Place, _options: CollectOptions) -> FakeTarget:
        return target

    return Kind("fake", lambda address: address.startswith("fake://"), open_it)
