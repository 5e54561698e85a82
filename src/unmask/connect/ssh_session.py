"""A server that one is logged in to: run commands on it, and reach others through it.

Nothing that the server sends is kept beyond a limit, and every call has a deadline.
"""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from types import ModuleType, TracebackType
from typing import Any

from unmask.connect import ssh_errors as errors
from unmask.connect import threads
from unmask.errors import TargetError, UnmaskError

BLOCK = 128 * 1024
GRACE = 2.0
"""Seconds for closing a channel."""


@dataclass(frozen=True, slots=True)
class ExecResult:
    """What a command left."""

    status: int
    """Exit status; -1 where there is none: a signal ended it, or `truncated`."""
    stdout: bytes
    stderr: bytes
    truncated: bool = False
    """It wrote more than the limit and was cut off."""
    unfinished: bool = False
    """It did not end in time, or the connection was lost; the rest is what came until then."""


@dataclass(frozen=True, slots=True)
class Limit:
    """Bytes that a command may write."""

    stdout: int = 16 * 1024 * 1024
    stderr: int = 256 * 1024


@dataclass(frozen=True, slots=True)
class Login:
    """How one got in, for servers that are likely to take the same."""

    user: str
    keys: tuple[str, ...] = ()
    """Private key files that were asked for by the operator."""


class Session:
    """A server that one is logged in to. Use it with `with`, or close it."""

    def __init__(
        self,
        client: ModuleType,
        transport: Any,
        where: str,
        login: Login,
        under: Sequence[Session] = (),
    ) -> None:
        self.where = where
        """The server in the operator's words."""
        self.login = login
        self._client = client
        self._transport = transport
        self._under = tuple(under)

    @property
    def software(self) -> str:
        """Return how the server names itself: "SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3"."""
        return str(self._transport.remote_version)

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the connection, and those that it goes through and that were opened for it."""
        self._transport.close()
        for session in self._under:
            session.close()

    def run(
        self,
        command: str | Sequence[str],
        stdin: bytes = b"",
        timeout: float = 60.0,
        limit: Limit = Limit(),
        *,
        partial_too: bool = False,
        hold: bytes = b"",
    ) -> ExecResult:
        """Run a command and return what it wrote.

        Args:
            command: A string is read by the user's shell over there; a sequence is quoted for it.
            stdin: Given to the command, which then sees the end of its input.
            timeout: Seconds that it may take, after which it is left alone.
            limit: Bytes that it may write.
            partial_too: Return what it has written where it did not end in time, or where the
                connection was lost after it had written something.
            hold: Keep its input open until it has written this: it sees the end of its input
                before only where it is given up, or where this program or the connection has gone.

        Raises:
            TargetError: It did not end in time, or the connection was lost.
        """
        text = command if isinstance(command, str) else shlex.join(command)
        late = TargetError(f"{self.where}: a command did not end within {round(timeout, 1):g} s")
        opened: list[Any] = []
        heard = (bytearray(), bytearray())
        try:
            feed = partial(_give if hold else _feed, stdin)
            job = partial(self._run, text, feed, hold, limit, opened, heard)
            return threads.within(timeout, job, late)
        except Exception as error:
            if partial_too and (any(heard) or error is late):
                return ExecResult(-1, bytes(heard[0]), bytes(heard[1]), unfinished=True)
            if isinstance(error, UnmaskError):
                raise
            raise self._lost(error) from error
        finally:
            for channel in opened:
                # Saying good-bye to a server that does not listen could take for ever.
                with contextlib.suppress(Exception):
                    threads.within(GRACE, channel.close, late)

    def _run(
        self,
        text: str,
        feed: Callable[[Any], bool],
        hold: bytes,
        limit: Limit,
        opened: list[Any],
        heard: tuple[bytearray, bytearray],
    ) -> ExecResult:
        channel = self._transport.open_session()
        opened.append(channel)
        channel.exec_command(text)
        stop = channel.close
        cut, cut_too, _ = threads.spread(
            lambda job: job(),
            (
                partial(_read, _watched(channel, hold, heard[0]), limit.stdout, stop, heard[0]),
                partial(_read, channel.recv_stderr, limit.stderr, stop, heard[1]),
                partial(feed, channel),
            ),
            workers=3,
        )
        truncated = cut or cut_too
        status = -1 if truncated else int(channel.recv_exit_status())
        if status == -1 and not truncated and not self._transport.is_active():
            raise self._lost(self._transport.get_exception())
        return ExecResult(status, bytes(heard[0]), bytes(heard[1]), truncated)

    def _lost(self, error: BaseException | None) -> TargetError:
        if isinstance(error, self._client.ChannelException):
            return TargetError(f"{self.where}: the server does not let this user run commands")
        return errors.broken(self.where, error)

    def tunnel(self, host: str, port: int, timeout: float) -> Any:
        """Return a connection that goes through this server to another one, like a socket.

        Raises:
            TargetError: This server cannot reach it, or forwards nothing.
        """
        where = f"{host}:{port} through {self.where}"
        open_channel = self._transport.open_channel
        try:
            return threads.within(
                timeout,
                lambda: open_channel("direct-tcpip", (host, port), ("127.0.0.1", 0)),
                errors.late(where, timeout),
            )
        except self._client.ChannelException as error:
            said = f"{where}: cannot be reached: {error.text.lower()}"
            raise TargetError(said) from error
        except UnmaskError:
            raise
        except Exception as error:
            raise errors.broken(where, error) from error


def _read(
    receive: Callable[[int], bytes], most: int, stop: Callable[[], None], heard: bytearray
) -> bool:
    """Take what comes up to the limit; return whether there was more, which ends the channel."""
    while block := receive(BLOCK):
        heard += block[: most - len(heard) + 1]
        if len(heard) > most:
            stop()
            del heard[most:]
            return True
    return False


def _watched(channel: Any, sign: bytes, heard: bytearray) -> Callable[[int], bytes]:
    """Return what receives output and ends the input once `sign` is in what was heard."""
    if not sign:
        return channel.recv  # type: ignore[no-any-return]
    seen = False

    def receive(most: int) -> bytes:
        nonlocal seen
        if not seen and sign in heard[-BLOCK - len(sign) :]:
            seen = True
            with contextlib.suppress(OSError):
                channel.shutdown_write()
        return bytes(channel.recv(most))

    return receive


def _feed(stdin: bytes, channel: Any) -> bool:
    _give(stdin, channel)
    with contextlib.suppress(OSError):
        channel.shutdown_write()
    return False


def _give(stdin: bytes, channel: Any) -> bool:
    with contextlib.suppress(OSError):  # the command has ended without reading all of it
        channel.sendall(stdin)
    return False
