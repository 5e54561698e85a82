"""The only module that imports libvirt: loads it, and opens connections.

Nothing in here has a deadline; `unmask.connect.threads` gives it one.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from unmask.connect import libvirt_errors as errors
from unmask.connect import threads
from unmask.connect.missing_package import missing_package
from unmask.errors import TargetError

KEEPALIVE = (5, 3)
"""Seconds between probes, and how many may stay unanswered."""

HEADERS = "libvirt-dev pkg-config python3-dev gcc"
"""Debian's packages with which pip compiles the binding."""


@cache
def load() -> ModuleType:
    """Import libvirt once, silence its printing and start its event loop.

    The loop must be registered before the first connection is opened: without it there is no
    keep-alive, and the embedded driver does not open at all.
    """
    try:
        import libvirt  # noqa: PLC0415 - needed for libvirt targets only
    except ImportError as error:
        raise missing_package(
            "Reading a libvirt host", "libvirt-python", "python3-libvirt", headers=HEADERS
        ) from error
    libvirt.registerErrorHandler(_say_nothing, None)
    libvirt.virEventRegisterDefaultImpl()
    threads.start(lambda: _run_events(libvirt))
    return libvirt  # type: ignore[no-any-return]


@cache
def load_qemu() -> ModuleType:
    """Import what libvirt offers for QEMU only: the guest agent. It comes with libvirt itself."""
    import libvirt_qemu  # noqa: PLC0415 - needed for libvirt targets only

    return libvirt_qemu  # type: ignore[no-any-return]


def version(client: ModuleType) -> str:
    """Return the version of the libvirt library that the binding has loaded: "9.0.0"."""
    number = int(client.getVersion())
    return f"{number // 1_000_000}.{number // 1000 % 1000}.{number % 1000}"


def opened(client: ModuleType, uri: str) -> tuple[Any, bool]:
    """Return a connection and whether it is read-only.

    Raises:
        TargetError: There is none.
    """
    _check_test_file(uri)
    try:
        handle, read_only = client.open(uri), False
    except client.libvirtError as error:
        code, domain = error.get_error_code(), error.get_error_domain()
        if not errors.refused(code, domain, str(error)):
            raise explained(uri, error) from error
        handle, read_only = _open_read_only(client, uri, error), True
    try:
        handle.setKeepAlive(*KEEPALIVE)
    except client.libvirtError:
        return handle, read_only  # a driver inside this process has nothing to keep alive
    return handle, read_only


def _open_read_only(client: ModuleType, uri: str, refusal: Exception) -> Any:
    try:
        return client.openReadOnly(uri)
    except client.libvirtError as error:
        raise explained(uri, refusal) from error


def explained(uri: str, error: Any) -> TargetError:
    """Return what a `libvirtError` means to the person who gave the URI."""
    return errors.explain(uri, error.get_error_code(), str(error))


def _check_test_file(uri: str) -> None:
    """The test driver lets libxml2 complain on standard error about a file that is not there."""
    parts = urlsplit(uri)
    named = parts.scheme == "test" and parts.path not in ("", "/", "/default")
    if named and not Path(parts.path).is_file():
        raise TargetError(f"{uri}: there is no file {parts.path}; give the path of a test XML")


def _say_nothing(_context: Any, _error: Any) -> None:
    """Keep libvirt from printing its errors; they arrive as exceptions anyway."""


def _run_events(client: ModuleType) -> None:
    try:
        while True:
            client.virEventRunDefaultImpl()
    except client.libvirtError:
        return  # without events there is no keep-alive; the deadline still holds
