"""What shows, inside a guest that was restarted, that a change has reached it."""

from __future__ import annotations

from collections.abc import Iterator

from unmask.errors import ChangeError
from unmask.model.case import GuestCase
from unmask.model.change import Plan
from unmask.model.inside import CryptoDriver, Inside
from unmask.model.inside_storage import Choice
from unmask.model.reading import Known
from unmask.rules import _scope, _words

NAMED = 4


class UnprovenError(ChangeError):
    """The guest is back, and does not see what it was to see."""


def proof(plan: Plan, before: GuestCase, after: GuestCase) -> tuple[str, ...]:
    """Return what was seen, a sentence each.

    Args:
        plan: What was done.
        before: The guest before it, as far as somebody looked inside.
        after: The same after its restart; somebody has looked inside.

    Raises:
        UnprovenError: It does not see a flag that it was to gain.
    """
    now, old = _scope.inside(after), _scope.inside(before)
    if now is None:
        raise UnprovenError("nobody could look inside, so that nothing is proven")
    return (*_flags(plan, now), *_kernel(old, now), *_work(before, after))


def _flags(plan: Plan, now: Inside) -> Iterator[str]:
    if not isinstance(now.cpu, Known):
        raise UnprovenError(f"the guest's own CPU flags could not be read: {now.cpu.reason}")
    seen = now.cpu.value.flags
    missing = frozenset(plan.gained) - seen
    if missing & ESSENTIAL or (missing and not missing < frozenset(plan.gained)):
        raise UnprovenError(f"the guest itself does not see {_words.flags(missing)}")
    gained = frozenset(plan.gained) & seen
    if gained:
        yield f"The guest itself sees {_words.flags(gained)} now."
    kept = frozenset(plan.lost) & seen
    if kept:
        yield f"It sees {_words.flags(kept)} still."


ESSENTIAL = frozenset({"aes", "pclmulqdq", "avx", "avx2", "ssse3", "sse4_1", "vaes", "sha_ni"})
"""Flags that every kernel lists as they are; others may go by other names or stay hidden."""


def _kernel(old: Inside | None, now: Inside) -> Iterator[str]:
    if old is None:
        return
    yield from _drivers(old, now)
    if isinstance(old.zfs, Known) and isinstance(now.zfs, Known):
        for name, was, has in (
            ("icp_aes_impl", old.zfs.value.aes, now.zfs.value.aes),
            ("icp_gcm_impl", old.zfs.value.gcm, now.zfs.value.gcm),
        ):
            yield from _choice(name, was, has)


def _choice(name: str, was: Choice | None, has: Choice | None) -> Iterator[str]:
    if was is None or has is None:
        return
    new = [word for word in has.offered if word not in was.offered]
    if new:
        yield f"OpenZFS offers {_words.listed(new)} in {name} now."


def _drivers(old: Inside, now: Inside) -> Iterator[str]:
    if not isinstance(old.crypto_drivers, Known) or not isinstance(now.crypto_drivers, Known):
        return
    names = sorted({driver.algorithm for driver in now.crypto_drivers.value})
    changed = []
    for name in names:
        was, has = old.serving(name), now.serving(name)
        if was and has and was.driver != has.driver:
            changed.append((name, was, has))
    changed.sort(key=lambda item: ("aes" not in item[0], item[0]))
    for name, was, has in changed[:NAMED]:
        yield _of_driver(name, was, has)
    if len(changed) > NAMED:
        yield f"{len(changed) - NAMED} more algorithms have another driver in /proc/crypto."


def _of_driver(name: str, was: CryptoDriver, has: CryptoDriver) -> str:
    return f"/proc/crypto: {name} was served by {was.driver}, and is by {has.driver} now."


def _work(before: GuestCase, after: GuestCase) -> Iterator[str]:
    statuses = {(item.workload.kind, item.workload.name): item.status for item in before.workloads}
    for item in after.workloads:
        was = statuses.get((item.workload.kind, item.workload.name))
        if was and was != item.status:
            name = f"{item.workload.kind.value} {item.workload.name}".strip()
            yield f"{name}: {was} before, {item.status} now."
