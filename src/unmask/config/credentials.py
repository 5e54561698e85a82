"""From the reference to a secret to the secret: environment, file, keyring, terminal.

No error text and no warning here ever quotes what it has read.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from unmask.config.reference import Reference
from unmask.connect import proxmox_address, ssh_address
from unmask.connect.missing_package import missing_package
from unmask.errors import TargetError, UsageError
from unmask.model.access import Access, Login, Trust
from unmask.model.secret import Secret
from unmask.model.ssh import PASSWORD_VARIABLE

TOKEN = "UNMASK_PVE_TOKEN"  # noqa: S105 - the names of variables, not what is in them
PASSWORD = "UNMASK_PVE_PASSWORD"  # noqa: S105
USER = "UNMASK_PVE_USER"
PASSWORD_IN_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/@]*:[^/]*@")

LIMIT = 64 * 1024
"""Bytes of a file with a secret that are looked at."""

TOKEN_ID = re.compile(r"[^\s:/!=@]+@[A-Za-z][A-Za-z0-9._-]+![A-Za-z][A-Za-z0-9._-]+")
FINGERPRINT = re.compile(
    r"(?:sha-?256[:=\s]+)?(?:fingerprint=)?(?P<digits>[0-9a-f]{2}(?::?[0-9a-f]{2}){31})",
    re.IGNORECASE,
)

HOW = (
    f"set {TOKEN} to USER@REALM!ID=SECRET, or name token_id and token_file of the target in"
    " unmask.toml (docs/proxmox.md says how to make a token)"
)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where secrets come from beside files."""

    environment: Mapping[str, str]
    say: Callable[[str], None]
    """Takes a warning."""
    ask: Callable[[str], str] | None = None
    """Asks at the terminal without echo; None where there is none."""
    keyring: Callable[[str, str], str | None] | None = None
    """Returns the secret of a service and user; None for the system's own keyring."""


def access(address: str, reference: Reference, around: Surroundings) -> Access:
    """Return how to get into the Proxmox VE API at `address`.

    Raises:
        UsageError: What the configuration or the environment says is wrong.
        TargetError: There are no credentials, or they cannot be read.
    """
    named = proxmox_address.parse(address)
    trusted = trust(reference)
    entries = tuple(proxmox_address.entry(item).place for item in reference.nodes)
    return Access(_login(named.user, reference, around), trusted, entries)


def trust(reference: Reference) -> Trust:
    """Return which certificate the server may show.

    Raises:
        UsageError: A fingerprint is none.
    """
    return Trust(
        ca_file=reference.ca_file,
        fingerprints=tuple(fingerprint(item) for item in reference.fingerprint),
        insecure=reference.insecure,
    )


def refuse_secret(address: str) -> None:
    """Refuse an address that holds a password or a token.

    Raises:
        UsageError: It does; the text never quotes it.
    """
    if proxmox_address.holds_secret(address):
        proxmox_address.parse(address)
    if PASSWORD_IN_ADDRESS.match(address):
        raise UsageError(
            "a target must not hold a password: it would stand in the shell's history, the list of"
            f" processes and every report; put it in {PASSWORD_VARIABLE}, a file or a keyring"
        )


def ssh_password(address: str, reference: Reference, around: Surroundings) -> Secret | None:
    """Return the password for a target that is reached by SSH; None where none is given.

    Raises:
        TargetError: One is referred to and is not there.
    """
    if not address.lower().startswith((proxmox_address.SSH_SCHEME, ssh_address.SCHEME)):
        return None
    given = _referred(reference.password_file, reference.password_env, around)
    if given is None and reference.keyring:
        given = _from_keyring(reference.keyring, reference.user or "root", around)
    given = given or around.environment.get(PASSWORD_VARIABLE)
    return Secret(given) if given else None


def guest_password(
    file: str, variable: str, service: str, user: str, around: Surroundings
) -> Secret:
    """Return the password of a guest's user, from where the configuration says that it is.

    Raises:
        TargetError: It is not there.
    """
    given = _referred(file, variable, around)
    return Secret(_from_keyring(service, user, around) if given is None else given)


def fingerprint(text: str) -> str:
    """Return a SHA-256 fingerprint as 64 lower-case digits.

    Raises:
        UsageError: It is none.
    """
    match = FINGERPRINT.fullmatch(text.strip())
    if match is None:
        raise UsageError(
            f"{text[:100]!r} is not a SHA-256 fingerprint: 32 pairs of hexadecimal digits, with or"
            " without colons"
        )
    return match["digits"].replace(":", "").lower()


def _login(named: str, reference: Reference, around: Surroundings) -> Login:
    """Return the login: a token where there is one, else a user with a password."""
    user = reference.user or named or around.environment.get(USER, "")
    own = _referred(reference.token_file, reference.token_env, around)
    if own is None and reference.token_id and reference.keyring:
        own = _from_keyring(reference.keyring, reference.token_id, around)
    if own is not None:
        return _token(own, reference.token_id)
    password = _referred(reference.password_file, reference.password_env, around)
    if password is None and reference.keyring and not reference.token_id:
        password = _from_keyring(reference.keyring, _needed_user(user), around)
    if password is None and around.environment.get(TOKEN) and not reference.user and not named:
        return _token(around.environment[TOKEN], reference.token_id)
    if password is None:
        password = around.environment.get(PASSWORD) or None
    if password is None and reference.token_id:
        raise TargetError(f"the secret of the token {reference.token_id} is not known: {HOW}")
    if password is None and user and around.ask:
        password = around.ask(f"Password of {user}: ")
    if not password:
        raise TargetError(f"there is no token or password for it: {HOW}")
    return Login(_needed_user(user), Secret(password))


def _needed_user(user: str) -> str:
    if not user:
        raise UsageError(
            f"a password needs its user with the realm (root@pam): in the address"
            f" (pve://root@pam@HOST), as user of the target, or in {USER}"
        )
    if not proxmox_address.USER.fullmatch(user):
        raise UsageError(f"{user[:80]!r} is not a user with its realm, like root@pam")
    return user


def _token(written: str, token_id: str) -> Login:
    """Return the login for "USER@REALM!ID=SECRET", or for a secret whose id is known."""
    text = written.strip().removeprefix("PVEAPIToken=")
    said, sign, secret = text.partition("=")
    if not sign or "!" not in said:
        said, secret = token_id, text
    if not TOKEN_ID.fullmatch(said):
        raise UsageError(
            "the token is not complete: it is written USER@REALM!ID=SECRET, or the target has"
            " token_id beside the secret"
        )
    if token_id and said != token_id:
        raise UsageError(f"the token that was found is not that of {token_id}")
    if not secret.isascii() or not secret.isprintable() or " " in secret or not secret:
        raise UsageError(f"the secret of the token {said} is empty or holds blanks or other signs")
    return Login(said, Secret(secret))


def _referred(file: str, variable: str, around: Surroundings) -> str | None:
    """Return what is in the file or the variable that was named; None where none was.

    Raises:
        TargetError: It is not there.
    """
    if file:
        return _from_file(Path(file), around)
    if variable:
        value = around.environment.get(variable, "")
        if not value:
            raise TargetError(f"the environment variable {variable} is not set or empty")
        return value
    return None


def _from_file(path: Path, around: Surroundings) -> str:
    try:
        with path.open("rb") as stream:
            mode = path.stat().st_mode
            data = stream.read(LIMIT + 1)
        text = data.decode().strip()
    except OSError as error:
        raise TargetError(f"{path}: the secret cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise TargetError(f"{path}: no text, so no secret") from None
    if stat.S_ISREG(mode) and mode & (stat.S_IRWXG | stat.S_IRWXO):
        around.say(f"{path} holds a secret that others can read: chmod 600 {path}")
    if not text or len(data) > LIMIT or "\n" in text:
        raise TargetError(f"{path}: expected one line with a secret")
    return text


def _from_keyring(service: str, user: str, around: Surroundings) -> str:
    found = around.keyring(service, user) if around.keyring else _system_keyring(service, user)
    if not found:
        raise TargetError(
            f"the keyring has nothing for {user} of {service}: keyring set {service} '{user}'"
        )
    return found


def _system_keyring(service: str, user: str) -> str | None:
    try:
        import keyring  # noqa: PLC0415 - an optional package
        from keyring.errors import KeyringError  # noqa: PLC0415
    except ImportError:
        raise missing_package(
            "reading a secret from the keyring", "keyring", "python3-keyring"
        ) from None
    try:
        return keyring.get_password(service, user)
    except KeyringError as error:
        raise TargetError(f"the keyring cannot be used: {str(error)[:200]}") from None
