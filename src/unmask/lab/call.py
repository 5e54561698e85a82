"""One request on its way through the API, and what a route consists of."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from unmask.lab.accounts import Caller
from unmask.lab.answer import Answer, Json, forbidden
from unmask.lab.cluster import Cluster
from unmask.lab.parameters import Parameter
from unmask.lab.sessions import Sessions

Parameters = Mapping[str, Parameter]


@dataclass(frozen=True, slots=True)
class Call:
    """A request whose caller is known and whose route has been found."""

    cluster: Cluster
    sessions: Sessions
    caller: Caller
    places: Mapping[str, str]
    """What the route's path has in braces."""
    given: Mapping[str, Json] = field(default_factory=dict)
    """The parameters, checked; numbers and booleans are integers."""
    remote: str = ""

    @property
    def node(self) -> str:
        """Return the node that the path names."""
        return self.places["node"]

    @property
    def vmid(self) -> int:
        """Return the guest that the path names."""
        return int(self.places["vmid"])

    def text(self, name: str) -> str:
        """Return a parameter as text, "" where it was not given."""
        value = self.given.get(name)
        return "" if value is None else str(value)

    def number(self, name: str, default: int = 0) -> int:
        """Return a parameter as a number."""
        return int(self.given.get(name, default))

    def may(self, path: str, *privileges: str) -> bool:
        """Return whether the caller has any of the privileges at `path`."""
        return self.cluster.accounts().has(self.caller, path, privileges)

    def need(self, path: str, *privileges: str) -> None:
        """Refuse a caller who has none of the privileges at `path`."""
        if not self.may(path, *privileges):
            raise forbidden(path, "|".join(privileges))


Check = Callable[[Call], None]


@dataclass(frozen=True, slots=True)
class Route:
    """What answers a method at a path."""

    method: str
    template: str
    """Such as "/nodes/{node}/qemu/{vmid}/config"."""
    handler: Callable[[Call], Answer | Json]
    parameters: Parameters = field(default_factory=dict)
    check: Check | None = None
    """Refuses callers without the privileges; None where every login will do."""
    since: str = "7"
    until: str = ""
    """The edition that no longer has it."""
    world: bool = False
    """It answers without a login."""
    options: bool = False
    """It also takes the options of a guest's configuration as parameters."""
    waits: bool = False
    """It may wait for a guest's file lock, so that it takes the cluster's lock itself."""

    def pattern(self) -> re.Pattern[str]:
        """Return what paths of this route look like; a group stands for each pair of braces."""
        return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", self.template))


def at(path: str, *privileges: str) -> Check:
    """Return a check for any of `privileges` at `path`, whose braces are filled in."""

    def check(call: Call) -> None:
        call.need(path.format(**call.places), *privileges)

    return check


def of_guest(*privileges: str) -> Check:
    """Return a check for any of `privileges` on the guest of the path."""
    return at("/vms/{vmid}", *privileges)
