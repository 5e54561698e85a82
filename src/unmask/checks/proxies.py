"""Proxies that the environment names: they catch calls to the API of a cluster in the next room."""

from __future__ import annotations

from collections.abc import Iterator

from unmask.checks._check import Check, Surroundings, every_target, note, ok, problem
from unmask.connect import proxmox_address, proxy
from unmask.errors import UnmaskError
from unmask.model.checkup import Remark


def run(around: Surroundings) -> Iterator[Remark]:
    """Yield a remark for each server that would be asked by way of a proxy."""
    found: dict[str, Remark] = {}
    for item in every_target(around):
        if not proxmox_address.fits(item.address):
            continue
        try:
            host = proxmox_address.parse(item.address).host
        except UnmaskError:
            continue  # is said where the target is looked at
        try:
            way = proxy.towards(host)
        except UnmaskError as error:
            todo = "correct the variable, or unset it"
            found[host] = problem("https_proxy", str(error), todo)
            continue
        if way:
            what = f"{host} is asked by way of the proxy {way.place}, as https_proxy says"
            todo = f"if that is not wanted: export no_proxy={host}"
            found[host] = note("https_proxy", what, todo)
    if not found:
        yield ok("https_proxy", "no call to an API goes through a proxy")
    yield from found.values()


CHECK = Check(45, "Proxies", run)
