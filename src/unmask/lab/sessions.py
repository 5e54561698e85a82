"""Logins: tickets, CSRF tokens and the secrets of API tokens.

Sources: PVE/AccessControl.pm (assemble_ticket, verify_token), PVE/APIServer/Formatter/Standard.pm
(extract_auth_value) and recorded answers.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from unmask.lab.accounts import Accounts, Caller
from unmask.lab.answer import unauthorised

LIFETIME = 2 * 3600
"""Seconds that a ticket is good for."""

TOKEN = re.compile(r"PVEAPIToken[= ](?P<value>[^;]*)")
VALUE = re.compile(r"(?P<user>[^\s!=]+@[^\s!=]+)!(?P<token>[A-Za-z][A-Za-z0-9._-]+)=(?P<secret>.+)")
COOKIE = "PVEAuthCookie"


@dataclass(slots=True)
class Sessions:
    """Secrets, and who has logged in."""

    secrets: Mapping[str, str]
    """Of tokens, by "user@realm!id"."""
    passwords: Mapping[str, str]
    tickets: dict[str, tuple[str, float]] = field(default_factory=dict)
    """User and time of issue, by ticket."""
    csrf: dict[str, str] = field(default_factory=dict)
    """User by CSRF token."""
    revoked: bool = False
    """All logins are refused: the fault "401-mid-run"."""

    def caller(self, accounts: Accounts, headers: Mapping[str, str], method: str) -> Caller:
        """Return who asks; the names of headers are in lower case.

        Raises:
            Refused: 401.
        """
        written = TOKEN.match(unquote(headers.get("authorization", "")))
        if written:
            return self._token(accounts, written["value"])
        cookie = re.search(rf"(?:^|;\s*){COOKIE}=([^;]*)", headers.get("cookie", ""))
        if cookie is None:
            raise unauthorised("No ticket")
        user = self.user_of(accounts, unquote(cookie[1]))
        if not user or self.revoked:
            raise unauthorised("Authentication failed!")
        if method != "GET" and self.csrf.get(headers.get("csrfpreventiontoken", "")) != user:
            raise unauthorised("Permission denied - invalid csrf token")
        return Caller(user)

    def _token(self, accounts: Accounts, value: str) -> Caller:
        match = VALUE.fullmatch(value)
        if match is None or self.revoked:
            raise unauthorised("Authentication failed!")
        caller = Caller(match["user"], match["token"])
        now = time.time()
        user, token = accounts.users.get(caller.user), accounts.tokens.get(caller.name)
        known = user and user.valid(now) and token and token.valid(now)
        wanted = self.secrets.get(caller.name, "")
        if not known or not wanted or not _same(wanted, match["secret"]):
            raise unauthorised("Authentication failed!")
        return caller

    def user_of(self, accounts: Accounts, ticket: str) -> str:
        """Return whose valid ticket this is, "" for none."""
        user, issued = self.tickets.get(ticket, ("", 0.0))
        now = time.time()
        account = accounts.users.get(user)
        return user if account and account.valid(now) and now - issued < LIFETIME else ""

    def login(self, accounts: Accounts, user: str, password: str) -> str:
        """Return a new ticket, "" where the password or ticket is wrong."""
        account = accounts.users.get(user)
        if not account or not account.valid(time.time()) or self.revoked:
            return ""
        wanted = self.passwords.get(user, "")
        by_password = bool(wanted) and _same(wanted, password)
        if not by_password and self.user_of(accounts, password) != user:
            return ""
        stamp = f"{int(time.time()):08X}"
        ticket = f"PVE:{user}:{stamp}::{secrets.token_urlsafe(48)}"
        self.tickets[ticket] = (user, time.time())
        return ticket

    def csrf_token(self, user: str) -> str:
        """Return a new CSRF token for `user`."""
        token = f"{int(time.time()):08X}:{secrets.token_urlsafe(32)}"
        self.csrf[token] = user
        return token


def _same(one: str, other: str) -> bool:
    return secrets.compare_digest(one.encode(), other.encode())
