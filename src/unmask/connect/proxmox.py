"""The only module that speaks to Proxmox VE's API, by way of proxmoxer. It only reads.

proxmoxer gets a session of ours, so that certificates can be pinned, every request ends in time,
and what a proxy answers instead of Proxmox VE is not taken for data. One `Api` serves many threads:
its pool keeps one connection open for each of them.
"""

from __future__ import annotations

import re
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from proxmoxer.core import ProxmoxResource, ResourceException
from urllib3.exceptions import (
    HTTPError,
    NewConnectionError,
    ProxyError,
    ReadTimeoutError,
    SSLError,
)
from urllib3.exceptions import TimeoutError as PoolTimeoutError

from unmask.connect import proxy, tls
from unmask.connect.deadline import Clock, LateError
from unmask.connect.proxmox_address import Address
from unmask.connect.proxmox_answer import (
    ApiError,
    Reply,
    Serializer,
    TransientError,
    reason_phrase,
    refusal,
)
from unmask.connect.proxmox_login import Credentials, refused
from unmask.errors import TargetError
from unmask.model.access import Login, Trust

TRIES = 3
"""Of a read; one more for each further entry node."""
PAUSE = 0.25
"""Seconds before the second try; each further one doubles it."""
REQUEST_SECONDS = 15.0
"""What one request may take, but never more than a quarter of the run."""
BODY_LIMIT = 64 * 1024 * 1024
"""Bytes of one answer; 10,000 guests are some 4 MiB."""
TUNNEL = re.compile(r"Tunnel connection failed: (\d+ .*)")
"""What http.client says of a proxy that refuses."""
TRIPS = 3
"""Failures in a row after which a node is not asked any more."""


@dataclass(slots=True)
class Breaker:
    """Remembers which nodes do not answer, so that not every guest of theirs is waited for."""

    failures: dict[str, int] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def failed(self, node: str) -> None:
        """Note that a request to a node has failed for good."""
        with self.lock:
            self.failures[node] = self.failures.get(node, 0) + 1

    def answered(self, node: str) -> None:
        """Note that a node has answered."""
        if node in self.failures:
            with self.lock:
                self.failures.pop(node, None)

    def tripped(self, node: str) -> bool:
        """Return whether the node is not to be asked any more."""
        return bool(node) and self.failures.get(node, 0) >= TRIPS


class Api:
    """One cluster's API; `get` may be called by many threads at once."""

    def __init__(
        self, entries: tuple[Address, ...], login: Login, trust: Trust, clock: Clock, workers: int
    ) -> None:
        self.clock = clock
        self.sent = 0
        """Requests so far, repeated ones included."""
        self._seconds = min(REQUEST_SECONDS, max(1.0, clock.remaining / 4))
        self._allowed = clock.remaining
        self._proxy = proxy.towards(entries[0].host)
        self._pool = tls.pool(tls.context(trust, clock), workers, self._proxy)
        self._credentials = Credentials(login, self._log_in)
        self._entries = entries
        self._current = 0
        self._breaker = Breaker()
        self._refused = ""
        self._answered = False
        self._closed = False

    @property
    def entry(self) -> Address:
        """Return the node that is asked."""
        return self._entries[self._current]

    def close(self) -> None:
        """Begin nothing more and close the connections that are at rest."""
        self._closed = True
        self._pool.clear()

    def get(self, path: str, node: str = "", **params: str) -> Any:
        """Return the `data` of a GET.

        Args:
            path: Below api2/json; made of names that were checked.
            node: The node that answers it, where that is not the entry node.
            params: Of the query.

        Raises:
            ApiError: It was refused, or there was no answer in time and after several tries.
            TargetError: The certificate or the login is refused.
        """
        failures: dict[str, ApiError] = {}
        tries = TRIES + len(self._entries) - 1
        for turn in range(tries):
            if turn:
                self.clock.sleep(PAUSE * 2 ** (turn - 1))
            self._check(node)
            try:
                data = self._once(path, params)
            except TransientError as error:
                failures[str(error)] = error
            except ApiError as error:
                if not error.status:
                    self._breaker.failed(node)
                raise
            else:
                self._breaker.answered(node)
                self._answered = True
                return data
        self._breaker.failed(node)
        last = list(failures.values())[-1]
        raise ApiError(f"{'; '.join(failures)} ({tries} tries)", last.needs, last.status)

    def _check(self, node: str) -> None:
        """Refuse to send what cannot succeed any more."""
        if self._closed:
            raise ApiError("reading was interrupted")
        if self.clock.over:
            raise self._late()
        if self._refused:
            raise ApiError(self._refused, status=401)
        if self._breaker.tripped(node):
            raise ApiError(f"the node {node} stopped answering", f"the node {node}")

    def _late(self) -> ApiError:
        return ApiError(f"not read within {self._allowed:.3g} s", "a longer --timeout")

    def _once(self, path: str, params: Mapping[str, str]) -> Any:
        """Ask once, or twice where the ticket has to be replaced."""
        try:
            with self.clock.within(self._seconds):
                headers = self._credentials.headers()
                try:
                    return self._ask(path, params, headers)
                except ApiError as error:
                    if error.status != 401:
                        raise
                    self._credentials.renewed(headers)
                return self._ask(path, params, self._credentials.headers())
        except LateError:
            raise self._slow() from None
        except ApiError as error:
            if error.status == 401:
                self._refused = self._turned_away(str(error))
                raise ApiError(self._refused, status=401) from None
            raise

    def _turned_away(self, text: str) -> str:
        login = self._credentials.login
        if self._answered:
            return f"{login.words} is not accepted any more ({text})"
        return refused(login, text)

    def _slow(self) -> ApiError:
        if self.clock.over:
            return self._late()
        return ApiError(f"no whole answer within {self._seconds:.3g} s", "a longer --timeout")

    def _ask(self, path: str, params: Mapping[str, str], headers: Mapping[str, str]) -> Any:
        resource = ProxmoxResource(
            base_url=self.entry.url, session=_Session(self, headers), serializer=Serializer
        )
        try:
            return resource(path).get(**params)
        except ResourceException as error:
            raise refusal(error.status_code, error.content, error.errors) from None

    def _log_in(self, form: Mapping[str, str]) -> Any:
        """Send a login; not by way of proxmoxer, which would log the password."""
        body = urlencode(form)
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        reply = self.send("POST", f"{self.entry.url}/access/ticket", headers, body=body)
        if reply.status_code != 200:
            raise refusal(reply.status_code, reply.reason, Serializer.loads_errors(reply))
        return Serializer.loads(reply)

    def send(self, method: str, url: str, headers: Mapping[str, str], body: str = "") -> Reply:
        """Send one request and return what came back.

        Raises:
            ApiError: Nothing came back, or it leads elsewhere.
            TargetError: The certificate is not trusted.
        """
        entry = self.entry
        self.sent += 1
        try:
            reply = self._exchange(method, url, headers, body)
        except (ReadTimeoutError, LateError):
            raise self._slow() from None
        except (HTTPError, OSError) as error:
            self._move(entry)
            on_the_way = f"the proxy {self._proxy.place}" if isinstance(error, ProxyError) else ""
            raise _broken(entry, on_the_way or entry.place, error) from None
        if 300 <= reply.status_code < 400:
            raise ApiError(f"{entry.place} leads elsewhere ({reply.status_code} {reply.reason})")
        return reply

    def _exchange(self, method: str, url: str, headers: Mapping[str, str], body: str) -> Reply:
        self.clock.left()  # nothing is begun that could not be ended
        response = self._pool.request(
            method,
            url,
            body=body or None,
            headers={"Accept": "application/json", **headers},
            timeout=self._seconds,
            redirect=False,
            retries=False,
            preload_content=False,
        )
        try:
            content = response.read(BODY_LIMIT + 1, decode_content=True)
        except BaseException:
            response.close()
            raise
        if len(content) > BODY_LIMIT:
            response.close()
            raise ApiError("answered with more than 64 MiB")
        response.release_conn()
        return Reply(response.status, reason_phrase(response.reason or ""), content)

    def _move(self, entry: Address) -> None:
        """Ask another entry node from now on, where there is one."""
        if self.entry is entry:
            self._current = (self._current + 1) % len(self._entries)


@dataclass(frozen=True, slots=True)
class _Session:
    """What proxmoxer takes for a session of requests."""

    api: Api
    headers: Mapping[str, str]

    def request(self, method: str, url: str, data: object = None, params: Any = None) -> Reply:
        """Send a read; proxmoxer's other methods are never called."""
        del data
        query = f"?{urlencode(params)}" if params else ""
        return self.api.send(method, url + query, self.headers)


def _broken(entry: Address, place: str, error: Exception) -> TargetError | ApiError:
    """Return what to say of a connection to `place` that did not come about or broke."""
    cause = error.args[0] if isinstance(error, SSLError) and error.args else None
    if isinstance(cause, ssl.SSLCertVerificationError):
        return tls.refused(entry.host, entry.port, cause.verify_message)
    if isinstance(error, SSLError):
        return TransientError(f"{place} does not speak TLS as it should ({cause or error})")
    if isinstance(error, PoolTimeoutError) and not isinstance(error, NewConnectionError):
        return TransientError(f"{place} cannot be reached: no answer")
    return TransientError(f"{place} {_how(error)}")


def _how(error: BaseException) -> str:
    """Return how a connection failed, from the innermost cause that has words for it."""
    inner: BaseException | None = error
    while inner is not None:
        said = TUNNEL.search(str(inner)) if isinstance(inner, OSError) else None
        if said:
            return f"does not let one through: {said[1][:100]}"
        if isinstance(inner, OSError) and inner.strerror:
            return f"cannot be reached: {inner.strerror}"
        inner = inner.__cause__ or inner.__context__
    if "IncompleteRead" in repr(error):
        return "closed the connection before the end of its answer"
    return "closed the connection without an answer"
