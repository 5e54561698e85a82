"""The only module that speaks to Proxmox VE's API, by way of proxmoxer.

It reads, apart from what its callers send with `post` and `put`: a program in a guest
(`proxmox_agent`), and the changes of `unmask fix`. Neither is ever sent twice.

proxmoxer gets a session of ours, so that certificates can be pinned, every request ends in time,
and what a proxy answers instead of Proxmox VE is not taken for data. One `Api` serves many threads:
its pool keeps one connection open for each of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import urlencode

from proxmoxer.core import ProxmoxResource, ResourceException
from urllib3.exceptions import HTTPError, ProxyError, ReadTimeoutError

from unmask.connect import proxy, tls
from unmask.connect.deadline import Clock, LateError
from unmask.connect.proxmox_address import Address
from unmask.connect.proxmox_answer import (
    LONGER,
    ApiError,
    Reply,
    Serializer,
    TransientError,
    reason_phrase,
    refusal,
)
from unmask.connect.proxmox_breaker import Breaker
from unmask.connect.proxmox_broken import broken
from unmask.connect.proxmox_login import Credentials, refused
from unmask.model.access import Login, Trust

TRIES = 3
"""Of a read; one more for each further entry node."""
PAUSE = 0.25
"""Seconds before the second try; each further one doubles it."""
REQUEST_SECONDS = 15.0
"""What one request may take, but never more than a quarter of the run."""
BODY_LIMIT = 64 * 1024 * 1024
"""Bytes of one answer; 10,000 guests are some 4 MiB."""
FORM = {"Content-Type": "application/x-www-form-urlencoded"}

Form: TypeAlias = Mapping[str, str | Sequence[str]]
"""What is sent; a name with several values is repeated, which every release understands."""


class Api:
    """One cluster's API; many threads may ask it at once."""

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
        return self._get(_Request("GET", path, params), node)

    def get_up_to(self, most: int, path: str, **params: str) -> Any:
        """Return the `data` of a GET of at most so many bytes, which a guest has a say in.

        What goes wrong with it is nothing against the node that answers. Raises as `get` does.
        """
        return self._get(_Request("GET", path, params, most), "")

    def _get(self, request: _Request, node: str) -> Any:
        failures: dict[str, ApiError] = {}
        tries = TRIES + len(self._entries) - 1
        for turn in range(tries):
            if turn:
                self.clock.sleep(PAUSE * 2 ** (turn - 1))
            self._check(node)
            try:
                data = self._once(request)
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

    def post(self, path: str, form: Form) -> Any:
        """Return the `data` of a POST, which is not sent again once it may have arrived.

        Args:
            path: Below api2/json; made of names that were checked.
            form: What is sent.

        Raises:
            ApiError: It was refused, or there was no answer in time.
            TargetError: The certificate or the login is refused.
        """
        self._check("")
        return self._once(_Request("POST", path, form))

    def put(self, path: str, form: Form) -> Any:
        """Return the `data` of a PUT, in all else as `post`."""
        self._check("")
        return self._once(_Request("PUT", path, form))

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
        return ApiError(f"not read within {self._allowed:.3g} s", LONGER)

    def _once(self, request: _Request) -> Any:
        """Ask once, or twice where the ticket has to be replaced."""
        patience = self._seconds
        try:
            patience = min(patience, self.clock.left())
            with self.clock.within(patience):
                starting = request.method != "GET"
                headers = self._credentials.headers(starting=starting)
                try:
                    return self._ask(request, headers)
                except ApiError as error:
                    if error.status != 401:
                        raise
                    self._credentials.renewed(headers)
                return self._ask(request, self._credentials.headers(starting=starting))
        except LateError:
            raise self._slow(patience) from None
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

    def _slow(self, seconds: float) -> ApiError:
        if self.clock.over:
            return self._late()
        return ApiError(f"no whole answer within {seconds:.3g} s", LONGER)

    def _ask(self, request: _Request, headers: Mapping[str, str]) -> Any:
        session = _Session(self, headers, request.most)
        resource = ProxmoxResource(base_url=self.entry.url, session=session, serializer=Serializer)(
            request.path
        )
        call = {"GET": resource.get, "POST": resource.post, "PUT": resource.put}[request.method]
        try:
            return call(**request.given)
        except ResourceException as error:
            raise refusal(error.status_code, error.content, error.errors) from None

    def _log_in(self, form: Mapping[str, str]) -> Any:
        """Send a login; not by way of proxmoxer, which would log the password."""
        body = urlencode(form)
        reply = self.send("POST", f"{self.entry.url}/access/ticket", FORM, body)
        if reply.status_code != 200:
            raise refusal(reply.status_code, reply.reason, Serializer.loads_errors(reply))
        return Serializer.loads(reply)

    def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: str = "",
        most: int = BODY_LIMIT,
    ) -> Reply:
        """Send one request and return what came back, of at most so many bytes.

        Raises:
            ApiError: Nothing came back, or it leads elsewhere.
            TargetError: The certificate is not trusted.
        """
        entry = self.entry
        self.sent += 1
        patience = self._seconds
        try:
            patience = min(patience, self.clock.left())  # what a guest may take can be less
            reply = self._exchange(method, url, headers, body, most)
        except (ReadTimeoutError, LateError):
            raise self._slow(patience) from None
        except (HTTPError, OSError) as error:
            self._move(entry)
            on_the_way = f"the proxy {self._proxy.place}" if isinstance(error, ProxyError) else ""
            raise broken(entry, on_the_way or entry.place, error) from None
        if 300 <= reply.status_code < 400:
            raise ApiError(f"{entry.place} leads elsewhere ({reply.status_code} {reply.reason})")
        return reply

    def _exchange(
        self, method: str, url: str, headers: Mapping[str, str], body: str, most: int
    ) -> Reply:
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
            content = response.read(most + 1, decode_content=True)
        except BaseException:
            response.close()
            raise
        if len(content) > most:
            response.close()
            raise ApiError(f"answered with more than {most // 2**20} MiB")
        response.release_conn()
        return Reply(response.status, reason_phrase(response.reason or ""), content)

    def _move(self, entry: Address) -> None:
        """Ask another entry node from now on, where there is one."""
        if self.entry is entry:
            self._current = (self._current + 1) % len(self._entries)


@dataclass(frozen=True, slots=True)
class _Request:
    """What is asked."""

    method: str
    """GET, POST or PUT; nothing else is ever sent."""
    path: str
    given: Form
    """Of the query or in the body."""
    most: int = BODY_LIMIT


@dataclass(frozen=True, slots=True)
class _Session:
    """What proxmoxer takes for a session of requests."""

    api: Api
    headers: Mapping[str, str]
    most: int

    def request(self, method: str, url: str, data: Any = None, params: Any = None) -> Reply:
        """Send a request of proxmoxer's."""
        query = f"?{urlencode(params)}" if params else ""
        headers = {**self.headers, **FORM} if data else self.headers
        body = urlencode(data, doseq=True) if data else ""
        return self.api.send(method, url + query, headers, body, self.most)
