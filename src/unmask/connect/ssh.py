"""The only module that speaks SSH. It runs commands on a server, and forwards to others.

Every step has a deadline: what the library does not bound itself is done in a daemon thread that
can be left behind. Nothing that the server sends is kept beyond a limit.
"""

from __future__ import annotations

import getpass
import logging
import time
from collections.abc import Callable, Iterable
from functools import cache
from io import StringIO
from types import ModuleType
from typing import Any

from unmask.connect import ssh_address, ssh_config, ssh_known_hosts
from unmask.connect import ssh_errors as errors
from unmask.connect.missing_package import missing_package
from unmask.connect.ssh_address import Address
from unmask.connect.ssh_config import HostSettings
from unmask.connect.ssh_host_key import HostKeys
from unmask.connect.ssh_known_hosts import Entry, HostKey
from unmask.connect.ssh_login import Door, Secrets
from unmask.connect.ssh_session import Login, Session
from unmask.connect.ssh_wire import wire
from unmask.errors import TargetError
from unmask.model.ssh import SshOptions

WINDOW = 8 * 1024 * 1024
"""Bytes that may be under way: one round trip more for each so many."""

KEEPALIVE = 15
"""Seconds between signs of life."""

MOST_JUMPS = 8
NOBODY = Login("")

PACKAGES = {"nacl": "pynacl", "_cffi_backend": "cffi"}
"""Packages whose modules have another name."""

RSA = ("rsa-sha2-512", "rsa-sha2-256")
"""How keys of the kind ssh-rsa sign today (RFC 8332)."""


def connect(  # noqa: PLR0913 - what may differ from one server to the next
    address: Address,
    options: SshOptions,
    secrets: Secrets,
    timeout: float,
    *,
    like: Login = NOBODY,
    through: Session | None = None,
    trusted: Iterable[Entry] = (),
    names: tuple[str, ...] = (),
) -> Session:
    """Log in to a server.

    Args:
        address: Of the server, or its alias in ~/.ssh/config, which is honoured.
        options: From the command line or the configuration.
        secrets: For servers that ask for a password.
        timeout: Seconds that it may take.
        like: Whom to log in as where neither address nor configuration says it, and keys to try
            after those that they name.
        through: The server through which to go, instead of what is configured.
        trusted: Host keys that are known beside the files, looked at where these know nothing.
        names: What else the server is called in them.

    Raises:
        TargetError: It cannot be reached, its host key is not known, or it lets nobody in.
    """
    client = _load()
    end = time.monotonic() + timeout
    settings = _settings(client, address, options, like.keys)
    where = str(Address(address.host, address.user, address.port))

    def seconds() -> float:
        return max(end - time.monotonic(), 0.01)

    if through is None:
        under = _jumps(settings, options, secrets, seconds)
        through = under[-1] if under else None
    else:
        under = []
    transport = None
    try:
        channel = wire(settings, where, through, seconds())
        called = ssh_known_hosts.names(settings.host, settings.port, settings.alias)
        keys = HostKeys(settings, where, tuple(trusted), called, (*called, *names))
        transport = _negotiated(client, channel, keys, seconds)
        shown = transport.get_remote_server_key()
        keys.check(HostKey(shown.get_name(), shown.get_base64()))
        user = settings.user or like.user or getpass.getuser()
        Door(client, transport, where, user, settings, seconds).open(secrets)
        transport.set_keepalive(KEEPALIVE)
        login = Login(user, settings.keys if settings.named_keys else ())
        return Session(client, transport, where, login, under)
    except BaseException:
        if transport is not None:
            transport.close()
        for session in under:
            session.close()
        raise


def _settings(
    client: ModuleType, address: Address, options: SshOptions, keys: tuple[str, ...] = ()
) -> HostSettings:
    try:
        written = client.SSHConfig.from_file(StringIO(ssh_config.text(options)))
        found = written.lookup(address.host)
    except (client.SSHException, OSError, ValueError, KeyError, ImportError) as error:
        file = options.config or "~/.ssh/config"
        raise TargetError(f"{file}: it cannot be made sense of: {error}") from error
    settings = ssh_config.settings(found, address, options, keys)
    Address(settings.host, settings.user, settings.port)  # a shell may see these
    return settings


def _jumps(
    settings: HostSettings, options: SshOptions, secrets: Secrets, seconds: Callable[[], float]
) -> list[Session]:
    """Log in to the servers on the way, each through the one before."""
    hops = [ssh_address.parse(hop) for hop in settings.jump.split(",") if hop]
    if len(hops) > MOST_JUMPS:
        raise TargetError(f"{settings.jump}: more than {MOST_JUMPS} servers to go through")
    # The first one may have a ProxyCommand of its own, but no more jumps: they could go in circles.
    plain = SshOptions(
        key=options.key,
        jump="none",
        accept_new_host_key=options.accept_new_host_key,
        config=options.config,
    )
    opened: list[Session] = []
    try:
        for hop in hops:
            through = opened[-1] if opened else None
            opened.append(connect(hop, plain, secrets, seconds(), through=through))
    except BaseException:
        for session in opened:
            session.close()
        raise
    return opened


def _negotiated(
    client: ModuleType, channel: Any, keys: HostKeys, seconds: Callable[[], float]
) -> Any:
    """Return the encrypted transport, for whose host key nothing is known yet."""
    transport = client.Transport(channel, default_window_size=WINDOW)
    transport.daemon = True
    timeout = seconds()
    transport.banner_timeout = transport.handshake_timeout = timeout + 1
    security = transport.get_security_options()
    wanted = [name for kind in keys.kinds() for name in (RSA if kind == "ssh-rsa" else (kind,))]
    preferred = [name for name in dict.fromkeys(wanted) if name in security.key_types]
    rest = [name for name in security.key_types if name not in preferred]
    security.key_types = (*preferred, *rest)
    try:
        transport.start_client(timeout=timeout)
    except Exception as error:
        # A server can make the library raise anything, a ValueError for instance.
        transport.close()
        raise errors.broken(keys.where, error) from error
    if not transport.initial_kex_done:
        transport.close()
        raise errors.late(keys.where, timeout)
    return transport


@cache
def _load() -> ModuleType:
    """Import paramiko once and silence it: what it logs may name keys and users."""
    try:
        import paramiko  # noqa: PLC0415 - takes a third of a second, needed for SSH targets only
    except ModuleNotFoundError as error:
        # unmask.pyz brings paramiko, but not the compiled packages that this one needs.
        package = (error.name or "paramiko").partition(".")[0]
        raise missing_package(
            "Reading by SSH", PACKAGES.get(package, package), "python3-paramiko", pip="paramiko"
        ) from error

    logger = logging.getLogger("paramiko")
    logger.setLevel(logging.CRITICAL + 1)
    logger.propagate = False
    return paramiko
