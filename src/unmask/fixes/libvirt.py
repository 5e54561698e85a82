"""Guests of a libvirt host, whose `<cpu>` is exchanged in their persistent definition: any URI.

libvirt has no digest of a definition and no way to change it only if it is as expected, so it is
compared right before the write and right after. A guest that runs keeps its CPU until it is shut
down and started: a new process of QEMU's has the new one, a reboot of the guest's has not.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from unmask.connect.libvirt_write import DeniedError, DomainWriter, RefusalError
from unmask.dialects.libvirt import cpu_same, domain_text
from unmask.dialects.libvirt.xml import parse, text_of
from unmask.errors import InputError, TargetError
from unmask.fixes._target import ChangedError, Kind, RefusedError
from unmask.model.change import Place, Setting
from unmask.model.inventory import GuestState
from unmask.model.source import CollectOptions
from unmask.sources.libvirt import fits

PAUSE = 0.5
"""Seconds between two looks at a guest that shuts down."""


class LibvirtTarget:
    """One domain; see `unmask.fixes._target.Target`."""

    def __init__(self, place: Place, options: CollectOptions) -> None:
        self._place = place
        self._seconds = options.timeout
        self._writer: DomainWriter | None = self._connected()

    def _connected(self) -> DomainWriter:
        return DomainWriter(self._place.target, self._place.ident, self._seconds)

    def read(self) -> Setting:
        """Return the `<cpu>` of the definition that the next start takes."""
        with self._way() as writer:
            text = _definition(writer)
        return _setting(self._name, text)

    def same(self, left: Setting, right: Setting) -> bool:
        """Return whether two elements ask for the same; libvirt writes defaults out."""
        return cpu_same.same(left.value, right.value)

    def write(self, before: Setting, after: Setting) -> None:
        """Exchange the `<cpu>`, and see that nothing else has become different."""
        with self._way() as writer:
            old = self._guarded(writer, before)
            try:
                new = domain_text.with_cpu(old, after.value)
            except InputError as error:
                raise RefusedError(f"{self._name}: {error}; nothing was written") from error
            writer.define(new)
            found = _read_back(writer)
            changed = domain_text.differences(old, found)
            if changed:
                self._give_back(writer, found, before)
                raise RefusedError(
                    f"{self._name}: with the new <cpu>, {', '.join(changed)} of its XML became "
                    "different too, by libvirt or by somebody else at the same time; the old <cpu> "
                    "was put back; see what has changed, and plan it again"
                )

    def _guarded(self, writer: DomainWriter, before: Setting) -> str:
        """Return the definition with its secrets, as it is right before the write."""
        if writer.read_only:
            raise RefusedError(
                f"{self._name}: this connection to libvirt may only read; to change the guest it "
                "needs write access to libvirt (membership of the group libvirt, or root); nothing "
                "was written"
            )
        self._refuse_transient(writer, "and to write one would make it permanent")
        text = writer.inactive_xml(secure=True)
        found = _setting(self._name, text)
        if found != before:
            what = "its <cpu>" if found.value != before.value else "its XML beside its <cpu>"
            raise ChangedError(
                f"{self._name}: {what} has been changed since it was looked at; nothing was "
                "written; plan it again"
            )
        return text

    def _give_back(self, writer: DomainWriter, found: str, before: Setting) -> None:
        """Put the old `<cpu>` into what is there now, which may hold somebody else's change."""
        try:
            writer.define(domain_text.with_cpu(found, before.value))
        except RefusalError as error:
            raise TargetError(
                f"{self._name}: more than its <cpu> became different, and the old one could not be "
                f"put back: {error}"
            ) from error

    def state(self) -> GuestState:
        """Return whether the guest runs."""
        with self._way() as writer:
            return writer.state()

    def shut_down(self, seconds: float, *, force: bool) -> None:
        """Ask the guest by its agent or by ACPI, and wait; with `force`, stop it after that."""
        end = time.monotonic() + seconds
        with self._way() as writer:
            if writer.state() is GuestState.STOPPED:
                return
            self._refuse_transient(writer, "so it would be gone once it is off")
            problem = self._asked_to_shut_down(writer, seconds)
            while not problem and time.monotonic() < end:
                if writer.state() is GuestState.STOPPED:
                    return
                time.sleep(min(PAUSE, max(0.0, end - time.monotonic())))
            if writer.state() is GuestState.STOPPED:
                return
            if not force:
                why = problem or f"it was asked to shut down and is still on after {seconds:g} s"
                raise RefusedError(f"{self._name}: {why}; shut it down by hand, or force it")
            writer.destroy()
            if writer.state() is not GuestState.STOPPED:
                raise RefusedError(f"{self._name}: it is still on after it was stopped by force")

    def _asked_to_shut_down(self, writer: DomainWriter, seconds: float) -> str:
        """Ask, and return why there is no use in waiting; "" where there is."""
        state = writer.state()
        if state is GuestState.PAUSED:
            return "it is paused and cannot shut down: resume it (virsh resume) first"
        action = text_of(parse(writer.live_xml(), domain_text.WHAT), "on_poweroff", "destroy")
        if action != "destroy":
            return (
                f"on_poweroff is {action} in its XML, so that after a shutdown the same process "
                "goes on, with the old CPU"
            )
        try:
            writer.shut_down(max(seconds, 1.0))
        except DeniedError:
            raise
        except RefusalError as error:
            return str(error)  # where it went off by itself meanwhile, that is seen next
        except TargetError:
            return ""  # it was not told in time that it was asked; whether it goes off is seen
        return ""

    def start(self, seconds: float) -> None:
        """Start the guest with the CPU of its definition."""
        with self._way() as writer:
            state = writer.state()
            if state is GuestState.RUNNING:
                return
            if state is not GuestState.STOPPED:
                raise RefusedError(f"{self._name}: it is {state}, not off, so it was not started")
            if writer.has_saved_state():
                raise RefusedError(
                    f"{self._name}: it has a saved state (virsh managedsave), with which it would "
                    "resume with the CPU that it had then; start it and shut it down from inside, "
                    f"or give the state up: virsh managedsave-remove {self._place.ident}"
                )
            self._started(writer, seconds)
            if writer.state() is GuestState.STOPPED:
                raise RefusedError(f"{self._name}: it went off again as soon as it was started")

    def _started(self, writer: DomainWriter, seconds: float) -> None:
        try:
            writer.start(max(seconds, 1.0))
        except TargetError as error:
            self._drop()
            raise RefusedError(f"{self._name}: whether it starts is not known: {error}") from error

    def close(self) -> None:
        """Let the connection go."""
        self._drop()

    def _refuse_transient(self, writer: DomainWriter, so: str) -> None:
        if not writer.persistent():
            raise RefusedError(
                f"{self._name}: it is a transient domain, without a definition of its own, {so}; "
                "change it where whoever starts it keeps its XML"
            )

    @property
    def _name(self) -> str:
        return self._place.name or self._place.ident

    @contextmanager
    def _way(self) -> Iterator[DomainWriter]:
        """Give the connection for a few calls; one that was lost is opened anew the next time."""
        if self._writer is None:
            self._writer = self._connected()
        try:
            yield self._writer
        except RefusalError as error:
            raise RefusedError(f"{self._name}: {error}") from error
        except TargetError:
            self._drop()
            raise

    def _drop(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._writer = None


def _read_back(writer: DomainWriter) -> str:
    """Return the definition after a write; where it is not to be had, nobody knows what it is."""
    try:
        return writer.inactive_xml(secure=True)
    except RefusalError as error:
        raise TargetError(f"it was written and could not be read back: {error}") from error


def _definition(writer: DomainWriter) -> str:
    """Return the definition; where the passwords may not be seen, it is enough for reading."""
    if writer.read_only:
        return writer.inactive_xml(secure=False)
    try:
        return writer.inactive_xml(secure=True)
    except DeniedError:
        return writer.inactive_xml(secure=False)


def _setting(name: str, text: str) -> Setting:
    try:
        return Setting(domain_text.cpu(text), domain_text.digest(text))
    except InputError as error:
        raise TargetError(f"{name}: {error}") from error


def open_target(place: Place, options: CollectOptions) -> LibvirtTarget:
    """Connect to the host of a domain.

    Raises:
        MissingPackageError: libvirt-python is not installed.
        TargetError: libvirt cannot be reached, or does not answer in time.
    """
    return LibvirtTarget(place, options)


TARGET = Kind("libvirt", fits, open_target)
