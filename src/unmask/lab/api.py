"""From a method and a path to an answer: routes, logins, permissions, parameters, in this order.

Sources: handle_api2_request of PVE/APIServer/AnyEvent.pm, rest_handler of PVE/HTTPServer.pm and
recorded answers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field

from unmask import plugins
from unmask.lab import options, parameters
from unmask.lab.accounts import Caller
from unmask.lab.answer import Answer, Json, Refused, invalid_all
from unmask.lab.call import Call, Route
from unmask.lab.cluster import Cluster
from unmask.lab.sessions import Sessions

TOP = ("version", "cluster", "nodes", "storage", "access", "pools")
NODE = re.compile(r"[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?")
NOBODY = Caller("")


def all_routes() -> tuple[Route, ...]:
    """Return the routes of every module of `unmask.lab.routes`."""
    groups = plugins.load("unmask.lab.routes", "ROUTES", tuple)
    return tuple(route for group in groups for route in group)


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it came in."""

    method: str
    path: str
    """Below /api2/json, percent-decoded."""
    given: Mapping[str, Json]
    headers: Mapping[str, str] = field(default_factory=dict)
    """With names in lower case."""


@dataclass(slots=True)
class Api:
    """Answers requests from a cluster's state."""

    cluster: Cluster
    sessions: Sessions
    routes: tuple[Route, ...] = field(default_factory=all_routes)
    _tables: dict[tuple[str, int], list[tuple[re.Pattern[str], Route]]] = field(
        default_factory=dict
    )
    """Routes of the edition, by method and number of slashes."""

    def __post_init__(self) -> None:
        edition = self.cluster.edition
        for route in self.routes:
            if edition.since(route.since) and not (route.until and edition.since(route.until)):
                place = (route.method, route.template.count("/"))
                self._tables.setdefault(place, []).append((route.pattern(), route))

    def find(self, method: str, path: str) -> tuple[Route, Mapping[str, str]] | None:
        """Return the route and what its braces stand for, None where there is none."""
        for pattern, route in self._tables.get((method, path.count("/")), ()):
            match = pattern.fullmatch(path)
            if match:
                return route, match.groupdict()
        return None

    def answer(self, asked: Asked) -> Answer:
        """Return the answer.

        Raises:
            Refused: Anything else than 200.
        """
        found = self.find(asked.method, asked.path)
        caller = NOBODY
        if found is None or not found[0].world:
            caller = self.sessions.caller(self.cluster.accounts(), asked.headers, asked.method)
        if asked.path == "" and asked.method == "GET":
            return Answer([{"subdir": name} for name in TOP])
        if found is None:
            what = f"Method '{asked.method} {asked.path}' not implemented"
            raise Refused(what, 501, bare=True)
        route, places = found
        return self._run(route, Call(self.cluster, self.sessions, caller, places), asked.given)

    def _run(self, route: Route, call: Call, given: Mapping[str, Json]) -> Answer:
        with nullcontext() if route.waits else self.cluster.lock:
            node = call.places.get("node")
            if node is not None and not NODE.fullmatch(node):
                raise Refused("Permission check failed (, Sys.Audit)", 403)
            if route.check is not None:
                route.check(call)
            self._reach(node)
            checked = self._checked(route, call.places, given)
            ready = Call(self.cluster, self.sessions, call.caller, call.places, checked)
            said = route.handler(ready)
        return said if isinstance(said, Answer) else Answer(said)

    def _reach(self, node: str | None) -> None:
        """Refuse where the request cannot be passed on to the node that it names."""
        if node is None:
            return
        if self.cluster.member(node) is None:
            what = f"hostname lookup '{node}' failed - failed to get address info for: {node}"
            raise Refused(f"{what}: Temporary failure in name resolution")
        if node in self.cluster.offline:
            raise Refused("Network is unreachable", 595, empty=True)

    def _checked(
        self, route: Route, places: Mapping[str, str], given: Mapping[str, Json]
    ) -> Mapping[str, Json]:
        schema = dict(route.parameters)
        if route.options:
            models = tuple(self.cluster.models())
            schema = options.schema(given, models, self.cluster.edition) | schema
        faults = {}
        if "vmid" in places:
            said = parameters.vmid_fault(places["vmid"])
            faults = {"vmid": said} if said else {}
        if faults:
            raise invalid_all(faults)
        return parameters.check(schema, given)
