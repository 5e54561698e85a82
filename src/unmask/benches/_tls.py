"""What a TLS server does: requests a second and bytes a second, from the machine unmask runs on.

`ab` is taken where it is there, else `openssl s_time`, else a client of our own. Certificates are
not checked, as `ab` does not: nothing is sent but a request, and what comes is only counted.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import socket
import ssl
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime

from unmask.benches import _machine
from unmask.benches._door import LocalDoor
from unmask.benches._effort import Effort
from unmask.benches._machine import Subject
from unmask.benches._plan import Plan, Run
from unmask.connect import threads
from unmask.errors import UsageError
from unmask.model.bench import BenchResult, Ended, Sample, Tool

AT_ONCE = 10
"""Requests that are under way."""
SECONDS = {Effort.QUICK: 5, Effort.STANDARD: 10, Effort.THOROUGH: 30}
PATIENCE = 10.0
"""Seconds for one request of our own client."""
BLOCK = 64 * 1024
_WRITTEN = re.compile(
    r"(?P<host>[A-Za-z0-9][A-Za-z0-9_.-]{0,252}|\[[0-9A-Fa-f:.%]{2,60}\]):(?P<port>[0-9]{1,5})"
    r"(?P<path>/[!-~]{0,1000})?"
)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server and what is asked of it."""

    host: str
    """An IPv6 address has its brackets."""
    port: int
    path: str = "/"

    @property
    def url(self) -> str:
        """Return what `ab` is given."""
        return f"https://{self.host}:{self.port}{self.path}"


def parse(written: str) -> Endpoint:
    """Return the endpoint HOST:PORT[/PATH].

    Raises:
        UsageError: It is none.
    """
    match = _WRITTEN.fullmatch(written.removeprefix("https://"))
    if match is None or not 0 < int(match["port"]) < 65536:
        raise UsageError(f"--tls {written[:80]!r} is not HOST:PORT[/PATH]")
    return Endpoint(match["host"], int(match["port"]), match["path"] or "/")


def measure(endpoint: Endpoint, who: Subject, effort: Effort) -> BenchResult:
    """Ask a server as often as it answers, for some seconds.

    Raises:
        TargetError: This machine's own shell cannot be started.
    """
    started = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    seconds = SECONDS[effort]
    run = _tool(endpoint, seconds)
    if run is None:
        samples, way = _own(endpoint, seconds), "a client of unmask's own"
    else:
        answer = _machine.run(LocalDoor(), Plan(once=(run,)))
        samples, way = tuple(answer.samples), f"{run.words[0]} on this machine"
    return BenchResult(
        who.subject, who.name, started=started, method=effort.value, way=way, samples=samples
    )


def _tool(endpoint: Endpoint, seconds: int) -> Run | None:
    if shutil.which("ab"):
        words = ("ab", "-q", "-c", str(AT_ONCE), "-t", str(seconds), "-n", "10000000", endpoint.url)
        return Run(Tool.TLS, "requests", words, seconds=seconds + 20)
    if shutil.which("openssl"):
        place = f"{endpoint.host}:{endpoint.port}"
        asked = ("-connect", place, "-www", endpoint.path, "-new", "-time", str(seconds))
        return Run(Tool.TLS, "requests", ("openssl", "s_time", *asked), seconds=seconds + 20)
    return None


@dataclass(slots=True)
class _Tally:
    """What all clients have done together."""

    requests: int = 0
    size: int = 0
    failed: str = ""


def _own(endpoint: Endpoint, seconds: float) -> tuple[Sample, ...]:
    tally, lock = _Tally(), threading.Lock()
    began = time.monotonic()
    end = began + seconds

    def work(_: int) -> None:
        while time.monotonic() < end:
            try:
                size = _request(endpoint)
            except (OSError, ValueError) as error:
                with lock:
                    tally.failed = str(error)
                return
            with lock:
                tally.requests += 1
                tally.size += size

    threads.gather(work, range(AT_ONCE), AT_ONCE, seconds + PATIENCE, lambda _: None)
    took = time.monotonic() - began
    if not tally.requests:
        note = f"no request was answered: {tally.failed}"[:160]
        return (Sample(Tool.TLS, "requests", ended=Ended.FAILED, note=note),)
    note = f"some requests failed: {tally.failed}"[:160] if tally.failed else ""
    return (
        Sample(Tool.TLS, "requests", rate=tally.requests / took, seconds=took, note=note),
        Sample(Tool.TLS, "transfer", rate=tally.size / took, seconds=took, note=note),
    )


def _request(endpoint: Endpoint) -> int:
    """Ask once by a connection of its own and return how many bytes came."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    host = endpoint.host.strip("[]")
    asked = f"GET {endpoint.path} HTTP/1.0\r\nHost: {endpoint.host}\r\nUser-Agent: unmask\r\n\r\n"
    size = 0
    end = time.monotonic() + PATIENCE
    with (
        socket.create_connection((host, endpoint.port), PATIENCE) as plain,
        context.wrap_socket(plain, server_hostname=host) as wrapped,
    ):
        wrapped.sendall(asked.encode("ascii"))
        # Many servers end the connection without saying so first.
        with contextlib.suppress(ssl.SSLEOFError):
            while time.monotonic() < end and (block := wrapped.recv(BLOCK)):
                size += len(block)
    if not size:
        raise OSError("the server sent nothing")
    return size
