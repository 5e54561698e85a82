"""Log in to an SSH server: keys first, then a password, as OpenSSH does (RFC 4252, RFC 4256).

No secret is kept, printed or put into an error.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from unmask.connect import ssh_errors as errors
from unmask.connect import threads
from unmask.connect.ssh_config import HostSettings
from unmask.errors import TargetError, UnmaskError

PASSWORD_PROMPT = "Password of "  # noqa: S105 - how a question begins
OTHERS = stat.S_IRWXG | stat.S_IRWXO
PASSWORDS = frozenset({"password", "keyboard-interactive"})


@dataclass(frozen=True, slots=True)
class Secrets:
    """What to answer where keys alone do not let one in."""

    password: str = field(default="", repr=False)
    ask: Callable[[str], str] | None = None
    """Asks a person, who may not be there; takes a prompt and returns "" for no answer."""


@dataclass(slots=True)
class _Attempt:
    """What was tried, and what the server said to it."""

    done: bool = False
    allowed: tuple[str, ...] = ()
    tried: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def went(self, what: str, remaining: Sequence[str]) -> None:
        """Note a step that the server took; nothing remaining means that one is in."""
        self.done = not remaining
        self.allowed = tuple(remaining)
        if remaining:
            self.notes.append(f"{what} was accepted, and it wants more")


@dataclass(frozen=True, slots=True)
class Door:
    """A server that waits for someone to log in."""

    client: ModuleType
    transport: Any
    where: str
    user: str
    settings: HostSettings
    seconds: Callable[[], float]
    """Returns what is left of the time allowed."""

    def open(self, secrets: Secrets) -> None:
        """Log in.

        Raises:
            TargetError: The server does not let one in, closes the connection or does not answer.
        """
        attempt = _Attempt()
        self._timed(lambda: self._ask_methods(attempt))
        if not attempt.done and "publickey" in attempt.allowed:
            self._keys(attempt, secrets)
        if not attempt.done and PASSWORDS.intersection(attempt.allowed):
            self._password(attempt, secrets)
        if not attempt.done:
            allowed, tried = attempt.allowed, attempt.tried
            raise errors.refused(self.where, self.user, tried, allowed, attempt.notes)

    def _timed(self, step: Callable[[], None]) -> None:
        seconds = self.seconds()
        self.transport.auth_timeout = seconds + 1
        try:
            threads.within(seconds, step, errors.late(self.where, seconds))
        except UnmaskError:
            raise
        except Exception as error:
            raise errors.broken(self.where, error) from error

    def _ask_methods(self, attempt: _Attempt) -> None:
        self._step(attempt, "", lambda: self.transport.auth_none(self.user))

    def _step(self, attempt: _Attempt, what: str, call: Callable[[], Sequence[str]]) -> None:
        """Try one thing; a refusal is noted, everything else is raised."""
        if what:
            attempt.tried.append(what)
        try:
            attempt.went(what or "no password at all", call())
        except self.client.BadAuthenticationType as error:
            attempt.allowed = tuple(error.allowed_types)
        except self.client.AuthenticationException:
            if not self.transport.is_active():
                attempt.notes.append("the server hung up, perhaps after too many keys")
                attempt.allowed = ()

    def _keys(self, attempt: _Attempt, secrets: Secrets) -> None:
        agent = self._agent(attempt)
        held = tuple(agent.get_keys()) if agent else ()
        try:
            for what, key in self._offered(held, attempt, secrets):
                step = partial(self._step, attempt, what, partial(self._prove, key))
                self._timed(step)
                if attempt.done or "publickey" not in attempt.allowed:
                    return
        finally:
            if agent:
                agent.close()

    def _prove(self, key: Any) -> Sequence[str]:
        remaining: Sequence[str] = self.transport.auth_publickey(self.user, key)
        return remaining

    def _offered(
        self, held: Sequence[Any], attempt: _Attempt, secrets: Secrets
    ) -> Iterator[tuple[str, Any]]:
        """Yield keys: those asked for, then the agent's, then OpenSSH's own files."""
        files = self.settings.keys
        if self.settings.named_keys:
            yield from self._files(files, held, attempt, secrets)
        public = {line for path in files for line in _public(path)}
        for key in held:
            if not self.settings.only_keys or key.get_base64() in public:
                yield f"a key of the agent ({key.get_name()})", key
        if not self.settings.named_keys:
            yield from self._files(files, held, attempt, secrets)

    def _agent(self, attempt: _Attempt) -> Any:
        """Return the agent, None where there is none."""
        socket = os.environ.get("SSH_AUTH_SOCK", "")
        if not self.settings.agent or not _is_socket(Path(socket)):
            return None
        seconds = self.seconds()
        late = TargetError(f"the SSH agent did not answer within {round(seconds, 1):g} s")
        try:
            return threads.within(seconds, self.client.Agent, late)
        except (self.client.SSHException, OSError, EOFError):
            attempt.notes.append("the SSH agent cannot be asked")
            return None

    def _files(
        self, files: Sequence[str], held: Sequence[Any], attempt: _Attempt, secrets: Secrets
    ) -> Iterator[tuple[str, Any]]:
        agent = {key.get_base64(): key for key in held}
        for path in files:
            in_agent = next((agent[line] for line in _public(path) if line in agent), None)
            key = in_agent or self._loaded(path, attempt, secrets)
            if key is not None:
                yield f"the key {path}", key

    def _loaded(self, path: str, attempt: _Attempt, secrets: Secrets) -> Any:
        """Return the private key of a file; None and a note where it cannot be used."""
        prompt = f"Passphrase of {path}: "
        try:
            return self._load(path, None)
        except FileNotFoundError:
            said = f"there is no file {path}"
        except OSError as error:
            said = f"the key {path} is not used: {_uncapped(error.strerror or '')}"
        except (self.client.PasswordRequiredException, TypeError):
            said = f"the key {path} is protected by a passphrase: add it to the agent (ssh-add)"
            answer = secrets.ask(prompt) if secrets.ask and self.settings.named_keys else ""
            if answer:
                return self._protected(path, answer, attempt)
        except (self.client.SSHException, ValueError, self.client.UnknownKeyType):
            said = f"{path} is no private key that can be used"
        if self.settings.named_keys:
            attempt.notes.append(said)
        return None

    def _protected(self, path: str, passphrase: str, attempt: _Attempt) -> Any:
        try:
            return self._load(path, passphrase.encode())
        except (self.client.SSHException, ValueError, TypeError, OSError):
            attempt.notes.append(f"the passphrase does not open {path}")
            return None

    def _load(self, path: str, passphrase: bytes | None) -> Any:
        status = Path(path).stat()
        mode = status.st_mode
        if stat.S_ISREG(mode) and mode & OTHERS and status.st_uid == os.getuid():
            # As OpenSSH has it: such a key is no secret any more.
            raise PermissionError(errno.EACCES, f"others can read it (chmod 600 {path})")
        return self.client.PKey.from_path(Path(path), passphrase)

    def _password(self, attempt: _Attempt, secrets: Secrets) -> None:
        password = secrets.password
        if not password and secrets.ask:
            password = secrets.ask(f"{PASSWORD_PROMPT}{self.user} at {self.where}: ")
        if not password:
            return
        if "password" in attempt.allowed:
            login = self.transport.auth_password
            self._timed(
                lambda: self._step(
                    attempt, "password", lambda: login(self.user, password, fallback=False)
                )
            )
        if not attempt.done and "keyboard-interactive" in attempt.allowed:
            answer = _answers(password)
            interact = self.transport.auth_interactive
            self._timed(
                lambda: self._step(
                    attempt, "keyboard-interactive", lambda: interact(self.user, answer)
                )
            )


def _answers(password: str) -> Callable[[str, str, Sequence[tuple[str, bool]]], list[str]]:
    """Answer the first question without echo of a server with the password, all else with ""."""
    left = [password]

    def answer(_title: str, _instructions: str, fields: Sequence[tuple[str, bool]]) -> list[str]:
        return [left.pop() if left and not echo else "" for _, echo in fields]

    return answer


def _uncapped(text: str) -> str:
    return text[:1].lower() + text[1:]


def _public(path: str) -> list[str]:
    """Return the Base64 of the public key that lies beside a private one."""
    try:
        with Path(f"{path}.pub").open(encoding="ascii", errors="replace") as stream:
            return stream.read(16384).split()[1:2]
    except OSError:
        return []


def _is_socket(path: Path) -> bool:
    """Return whether there is a socket that this user can see: `su` leaves that of its caller."""
    try:
        return path.is_socket()
    except OSError:
        return False
