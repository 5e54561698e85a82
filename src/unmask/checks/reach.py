"""The targets, side by side: whether each can be reached, trusted and logged in to, in time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unmask.checks import _api_target, _other_targets
from unmask.checks._check import Check, Surroundings, note, problem
from unmask.config import credentials
from unmask.config.settings import Target
from unmask.connect import proxmox_address, threads
from unmask.errors import UnmaskError
from unmask.model.checkup import Remark
from unmask.model.source import CollectOptions

AT_ONCE = 16
STEPS = 4
"""Steps of one target that may each take their time."""


def run(around: Surroundings) -> Iterator[Remark]:
    """Yield remarks on each target.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed while they were waited for.
    """
    if not around.targets:
        what = "no target is named or configured, and this machine is no hypervisor"
        todo = "name one: unmask doctor pve://HOST; or try unmask lab"
        yield note("targets", what, todo)
        return
    ways = [_way(item, around) for item in around.targets]  # first, for it may ask for a password
    count = len(around.targets)
    around.progress(f"looking at {count} target{'s' if count > 1 else ''}")
    found = threads.gather(
        lambda index: _looked(around.targets[index], ways[index], around),
        range(count),
        AT_ONCE,
        (around.seconds * STEPS) * -(-count // AT_ONCE) + 1,
        lambda done: around.progress(f"looking at targets: {done} of {count}"),
    )
    around.progress("")
    if found.interrupted:
        raise KeyboardInterrupt
    for index, item in enumerate(around.targets):
        if index in found.results:
            yield from found.results[index].result()
        else:
            yield problem(_name(item), "it did not answer in time", "allow more with --timeout")


def _way(target: Target, around: Surroundings) -> CollectOptions | UnmaskError:
    """Return how to get in, or why nobody knows."""
    try:
        return around.options_for(target)
    except UnmaskError as error:
        return error


def _looked(
    target: Target, way: CollectOptions | UnmaskError, around: Surroundings
) -> Sequence[Remark]:
    subject = _name(target)
    try:
        credentials.refuse_secret(target.address)
        if proxmox_address.fits(target.address):
            access = way if isinstance(way, UnmaskError) else way.access
            return list(_api_target.look(subject, target, access, around))
        if isinstance(way, UnmaskError):
            raise way
        return list(_other_targets.look(subject, target, way, around))
    except UnmaskError as error:
        return [problem(subject, str(error), "unmask audit --help says what a target can be")]


def _name(target: Target) -> str:
    """Return what a target is called; never an address that holds a secret."""
    try:
        credentials.refuse_secret(target.address)
    except UnmaskError:
        return target.name or "a target"
    return target.name or target.address


CHECK = Check(60, "Targets", run)
