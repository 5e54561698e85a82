"""Proving to Proxmox VE who asks: with an API token, or with a password and a ticket.

A ticket is valid for two hours (PVE/AccessControl.pm) and is renewed with itself as the password.
With it comes a token against forged requests, which every request but a GET has to carry.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from unmask.connect.proxmox_answer import ApiError
from unmask.errors import TargetError
from unmask.model.access import Login
from unmask.model.secret import Secret

RENEW_AGE = 90 * 60
"""Seconds; a ticket that old is renewed."""

Post = Callable[[Mapping[str, str]], Any]
"""Sends a form to access/ticket and returns its data; raises `ApiError`."""


class Credentials:
    """The headers that requests carry; used by many threads at once."""

    def __init__(self, login: Login, post: Post, now: Callable[[], float] = time.monotonic) -> None:
        self.login = login
        self._post = post
        self._now = now
        self._lock = threading.Lock()
        self._ticket: Secret | None = None
        self._unforged: Secret | None = None
        self._born = 0.0

    def headers(self, *, starting: bool = False) -> dict[str, str]:
        """Return the headers of one request; `starting` where it is no mere read.

        Raises:
            TargetError: The password is refused, or a second factor is asked for.
            ApiError: The ticket could not be got.
        """
        if self.login.token:
            return {"Authorization": f"PVEAPIToken={self.login.user}={self.login.secret.reveal()}"}
        with self._lock:
            if self._ticket is None:
                self._take(self.login.secret)
            elif self._now() - self._born > RENEW_AGE:
                self._renew(self._ticket)
            ticket, unforged = self._ticket, self._unforged
        cookie = {"Cookie": f"PVEAuthCookie={quote(ticket.reveal() if ticket else '', safe='')}"}
        if starting and unforged:
            return cookie | {"CSRFPreventionToken": unforged.reveal()}
        return cookie

    def renewed(self, used: Mapping[str, str]) -> bool:
        """Log in again after a refusal; return whether another try is worth it.

        `used` are the headers that were refused: where another thread has got a new ticket since,
        that one is tried first.
        """
        if self.login.token:
            return False
        with self._lock:
            stale = self._ticket is not None and quote(self._ticket.reveal(), safe="") in used.get(
                "Cookie", ""
            )
            if stale:
                self._take(self.login.secret)
        return True

    def _renew(self, ticket: Secret) -> None:
        try:
            self._take(ticket)
        except TargetError:
            self._take(self.login.secret)  # too old, or the cluster's keys have changed

    def _take(self, password: Secret) -> None:
        form = {"username": self.login.user, "password": password.reveal()}
        try:
            data = self._post(form)
        except ApiError as error:
            if error.status == 401:
                raise TargetError(refused(self.login, str(error))) from None
            raise
        data = data if isinstance(data, dict) else {}
        if data.get("NeedTFA"):
            raise TargetError(
                f"{self.login.user} needs a second factor to log in, which unmask cannot give: "
                "make an API token for it (Datacenter, Permissions, API Tokens)"
            )
        ticket, unforged = _word(data.get("ticket")), _word(data.get("CSRFPreventionToken"))
        if not ticket:
            raise TargetError("the answer to the login holds no ticket; is it Proxmox VE?")
        self._ticket, self._born = Secret(ticket), self._now()
        self._unforged = Secret(unforged) if unforged else None


def _word(value: Any) -> str:
    """Return a text that a header can hold, "" for anything else."""
    fits = isinstance(value, str) and value.isascii() and value.isprintable()
    return value if fits else ""


def refused(login: Login, text: str) -> str:
    """Return what to say of a refused login."""
    why = (
        "the secret is wrong, the token does not exist or has expired, or its user is disabled"
        if login.token
        else "the password is wrong, or the user does not exist or is disabled (the realm counts:"
        " root@pam)"
    )
    return f"Proxmox VE refuses {login.words} ({text}): {why}"
