"""Change one libvirt domain: its persistent definition, and whether it runs.

The only module that writes to a libvirt host. Each call is made in a daemon thread that is left
behind at its deadline: what it was told may still happen then, and whoever calls has to look.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from unmask.connect import libvirt_client as library
from unmask.connect import libvirt_errors as errors
from unmask.connect import threads
from unmask.connect.libvirt import INACTIVE, STATES
from unmask.errors import ChangeError, TargetError
from unmask.model.inventory import GuestState

T = TypeVar("T")

SECURE = 1
"""virDomainXMLFlags: with the passwords, which a definition without them would delete."""
VALIDATE = 1
"""virDomainDefineFlags: check the XML against libvirt's schema, which sees unknown elements."""
FROM_RPC = 7
"""Error domain: the way to the daemon. Whether it did what it was told is not known, unless it was
too long to be sent (VIR_ERR_RPC)."""
SCHEMA = 92
"""VIR_ERR_XML_INVALID_SCHEMA."""
DENIED = errors.AUTH | {errors.OPERATION_DENIED}
KILL_SECONDS = 30.0
"""At least; libvirt itself gives QEMU some ten seconds before it kills it."""
LATE = "libvirt did not answer within {:g} s; what it was told may still happen"


class RefusalError(ChangeError):
    """libvirt refused what it was told; nothing was done."""


class DeniedError(RefusalError):
    """This user may not do that; the message says what is needed."""


class DomainWriter:
    """One domain. Methods raise `TargetError` where the way to libvirt is lost, or nobody answers.

    `RefusalError` is raised where libvirt answers that it does not do it.
    """

    def __init__(self, uri: str, uuid: str, seconds: float) -> None:
        """Connect.

        Args:
            uri: The operator's own.
            uuid: The domain's.
            seconds: Within which libvirt has to answer each question.

        Raises:
            MissingPackageError: libvirt-python is not installed.
            TargetError: libvirt cannot be reached, or does not answer in time.
        """
        self.uri = uri
        self._uuid = uuid
        self._seconds = seconds
        self._client = library.load()
        self._handle, self.read_only = self._opened()

    def _opened(self) -> tuple[Any, bool]:
        late = TargetError(f"{self.uri}: libvirt did not answer within {self._seconds:g} s")
        return threads.within(self._seconds, lambda: library.opened(self._client, self.uri), late)

    def close(self) -> None:
        """Close the connection; nobody waits for it, since it asks the daemon as any call does."""
        threads.start(lambda: self._closed(self._handle))

    def _closed(self, handle: Any) -> None:
        try:
            handle.close()
        except self._client.libvirtError:
            return  # it was lost before

    def inactive_xml(self, *, secure: bool) -> str:
        """Return the persistent definition, with its passwords where `secure`.

        Raises:
            DeniedError: This user may not see the passwords, or not the domain.
        """
        flags = INACTIVE | (SECURE if secure else 0)
        return str(self._domain("see it with its passwords", lambda domain: domain.XMLDesc(flags)))

    def live_xml(self) -> str:
        """Return the description of the domain as it is now."""
        return str(self._domain("see it", lambda domain: domain.XMLDesc(0)))

    def persistent(self) -> bool:
        """Return whether it has a definition that outlives its run."""
        return bool(self._domain("see it", lambda domain: domain.isPersistent()))

    def has_saved_state(self) -> bool:
        """Return whether its next start resumes a managed save image, with the CPU in there."""
        return bool(self._domain("see it", lambda domain: domain.hasManagedSaveImage(0)))

    def state(self) -> GuestState:
        """Return whether it runs."""
        number = self._domain("see it", lambda domain: domain.state(0)[0])
        return STATES.get(number, GuestState.UNKNOWN)

    def define(self, xml: str) -> None:
        """Put a persistent definition in the place of the one that the XML's UUID has."""
        self._call(
            "change its definition (domain.write and domain.save)",
            lambda host: host.defineXMLFlags(xml, VALIDATE),
            self._seconds,
        )

    def shut_down(self, seconds: float) -> None:
        """Ask the guest to shut down, by its agent or else by ACPI; that says nothing of when."""
        self._domain("shut it down", lambda domain: domain.shutdown(), seconds)

    def destroy(self) -> None:
        """Pull the plug."""
        self._domain("stop it", lambda domain: domain.destroy(), max(self._seconds, KILL_SECONDS))

    def start(self, seconds: float) -> None:
        """Start it, with a new process that has the CPU of its definition."""
        self._domain("start it", lambda domain: domain.create(), seconds)

    def _domain(self, what: str, ask: Callable[[Any], T], seconds: float = 0.0) -> T:
        return self._call(
            what,
            lambda host: ask(host.lookupByUUIDString(self._uuid)),
            seconds or self._seconds,
        )

    def _call(self, what: str, ask: Callable[[Any], T], seconds: float) -> T:
        late = TargetError(f"{self.uri}: {LATE.format(seconds)}")
        handle = self._handle
        return threads.within(seconds, lambda: self._asked(what, ask, handle), late)

    def _asked(self, what: str, ask: Callable[[Any], T], handle: Any) -> T:
        try:
            return ask(handle)
        except self._client.libvirtError as error:
            raise explained(
                self.uri, what, error.get_error_code(), error.get_error_domain(), str(error)
            ) from error


def explained(uri: str, what: str, code: int, domain: int, text: str) -> TargetError | RefusalError:
    """Return what an error of libvirt's means to whoever told it to do something.

    Args:
        uri: The operator's own.
        what: It was told to do.
        code: The error's, by virterror.h.
        domain: The part of libvirt that it comes from.
        text: libvirt's own.
    """
    said = _said(code, text)
    if code in DENIED or domain == errors.DBUS:
        return DeniedError(f"libvirt does not let this user {what} ({said}): {_needs(code)}")
    if code == errors.NO_DOMAIN:
        return TargetError(f"{uri}: the guest is not there any more ({said})")
    if domain == FROM_RPC and code != errors.RPC:
        return TargetError(f"{uri}: the connection to libvirt was lost ({said})")
    if code == SCHEMA:
        return RefusalError(
            f"libvirt's schema does not take the XML ({said}); virt-xml-validate tells whether it "
            "takes the domain's XML as it is"
        )
    return RefusalError(f"libvirt says: {said}")


def _needs(code: int) -> str:
    if code == errors.ACCESS_DENIED:
        return (
            "its access driver (polkit) has to allow it, as it allows root "
            "(https://libvirt.org/acl.html)"
        )
    return f"it needs {errors.WRITE_ACCESS}"


def _said(code: int, text: str) -> str:
    """Return libvirt's text in one bounded line; a schema's complaint is in its later lines."""
    lines = [line for line in text.strip().splitlines() if line.strip()]
    chosen = lines if code == SCHEMA else lines[:1]
    line = "; ".join(chosen) or "no reason given"
    return "".join(c if c.isprintable() else " " for c in line)[: errors.LIMIT]
