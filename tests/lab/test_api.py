"""Whatever is asked, the API answers or refuses; it never breaks."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from unmask.lab.answer import Answer, Refused
from unmask.lab.api import Api, Asked, all_routes
from unmask.lab.call import Route
from unmask.lab.edition import VERSIONS
from unmask.lab.lab import Lab

AWKWARD: tuple[Any, ...] = (
    "", "1", "-1", "0", "host", "pve2", "abc", "é€", "a\nb", "x" * 600, None, True, 7, 1.5, [], {},
    ["cat", "/etc/hostname"], {"a": 1}, "custom-nas", "cpu,tablet", "/vms/101", "cpu",
)  # fmt: skip
PLACES = {
    "node": ("pve1", "pve2", "pve3", "pve4", "none", "n_!"),
    "vmid": ("101", "114", "123", "999", "7", "x"),
    "snapname": ("before-upgrade", "none"),
    "upid": ("xyz", "UPID:pve1:00000000:00000000:00000000:a:1:b@c:"),
    "cputype": ("nas", "custom-nas", "none"),
    "userid": ("audit@pve", "none"),
    "tokenid": ("unmask", "none"),
    "sid": ("vm:125", "none"),
}


def asked(route: Route, lab: Lab, chance: random.Random) -> Iterator[Asked]:
    """Yield requests for a route with parameters that fit, that do not, and with strange ones."""
    names = [*route.parameters, *(("cpu", "cores", "memory", "name") if route.options else ())]
    for _ in range(12):
        path = route.template
        for place, values in PLACES.items():
            path = path.replace(f"{{{place}}}", chance.choice(values))
        some = chance.sample(names, chance.randint(0, len(names)))
        given = {name: chance.choice(AWKWARD) for name in some}
        headers = {name.lower(): value for name, value in lab.header("root").items()}
        yield Asked(route.method, path, given, headers)


@pytest.mark.parametrize("version", VERSIONS)
def test_strange_parameters_are_answered_or_refused(version: str) -> None:
    lab = Lab(version=version, pace=0)
    api = lab.desk.api
    statuses = set()
    for seed, route in enumerate(all_routes()):
        for request in asked(route, lab, random.Random(seed)):  # noqa: S311 - test data
            statuses.add(_status(api, request))
    assert {200, 400, 500} <= statuses
    assert statuses <= {200, 400, 401, 403, 500, 501, 596}


def _status(api: Api, request: Asked) -> int:
    try:
        answer = api.answer(request)
    except Refused as refused:
        return refused.status
    assert isinstance(answer, Answer)
    return 200


@pytest.mark.parametrize("name", ["bare", "partial", "audit"])
def test_who_may_only_read_changes_nothing(name: str) -> None:
    lab = Lab(pace=0)
    for seed, route in enumerate(all_routes()):
        for request in asked(route, lab, random.Random(seed)):  # noqa: S311 - test data
            headers = {key.lower(): value for key, value in lab.header(name).items()}
            _status(lab.desk.api, Asked(request.method, request.path, request.given, headers))
    assert not lab.written


def test_no_two_routes_answer_the_same() -> None:
    lab = Lab(pace=0)
    seen: set[tuple[str, str]] = set()
    for route in lab.desk.api.routes:
        edition = lab.cluster.edition
        if edition.since(route.since) and not (route.until and edition.since(route.until)):
            assert (route.method, route.template) not in seen
            seen.add((route.method, route.template))
