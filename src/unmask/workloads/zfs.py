"""OpenZFS's native encryption, by pool and cipher, and datasets that the host encrypts.

Whether a pool is encrypted is known only where it is imported: its labels do not tell. On Linux and
Windows OpenZFS brings its own code (ICP), on FreeBSD it asks the kernel's (module/os/freebsd/zfs/
crypto_os.c), so that what FreeBSD's aesni(4) needs counts there.
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.crypto.ciphers import family
from unmask.errors import UnreadError
from unmask.model.finding import Confidence
from unmask.model.inside import Inside
from unmask.model.inside_storage import Choice, Zfs, ZfsDataset
from unmask.model.inventory import Guest
from unmask.model.workload import Activity, Finder, Workload, WorkloadKind
from unmask.workloads import _freebsd_crypto, _host_parts
from unmask.workloads._asked import entered, listed, owed, said, shortfalls, system

NAMED = 3
"""Datasets of one pool and cipher that are named; the others are counted."""
BEST_FIRST = ("avx2-vaes", "avx", "pclmulqdq", "aesni", "x86_64", "generic")
"""What OpenZFS calls its implementations, in the order of their speed."""
A_WAY_IN = "a way into the guest, where the pool is imported"


def find(guest: Guest) -> Iterator[Workload]:
    """Yield one workload for each pool and cipher.

    Raises:
        UnreadError: ZFS was not read inside, or a disk holds a pool that nobody has looked into.
    """
    yield from _host_parts.below(guest, WorkloadKind.ZFS)
    inside = entered(guest)
    if inside:
        zfs = said(inside.zfs, Zfs())
        for (pool, cipher), members in _groups(zfs).items():
            yield _workload(inside, zfs, pool, cipher, members)
        owed(inside.zfs)
        _answered(zfs)
    _looked_into(guest, {pool.name for pool in said(inside.zfs, Zfs()).pools} if inside else set())


def _groups(zfs: Zfs) -> dict[tuple[str, str], list[ZfsDataset]]:
    groups: dict[tuple[str, str], list[ZfsDataset]] = {}
    for dataset in zfs.encrypted:
        pool = dataset.name.partition("/")[0]
        groups.setdefault((pool, dataset.encryption), []).append(dataset)
    return groups


def _answered(zfs: Zfs) -> None:
    """Raise `UnreadError` where pools are imported whose datasets `zfs list` did not show."""
    shown = {dataset.name.partition("/")[0] for dataset in zfs.datasets}
    dumb = [pool.name for pool in zfs.pools if pool.name not in shown]
    if dumb:
        raise UnreadError(f"the datasets of the pool {dumb[0]} were not shown", "zfs list in it")


def _looked_into(guest: Guest, imported: set[str]) -> None:
    for found in _host_parts.host_parts(guest):
        if found.part.kind == "zfs" and found.part.label not in imported:
            pool = f"the ZFS pool {found.part.label}" if found.part.label else "a ZFS pool"
            raise UnreadError(
                f"{found.place} holds {pool}, whose label does not tell whether it is encrypted",
                A_WAY_IN,
            )


def _workload(
    inside: Inside, zfs: Zfs, pool: str, cipher: str, members: list[ZfsDataset]
) -> Workload:
    kernel = system(inside)
    freebsd = kernel.kernel_name == "FreeBSD"
    open_ = [item for item in members if item.keystatus == "available"]
    locked = [item for item in members if item.keystatus == "unavailable"]
    names = [item.name for item in (open_ or members)[:NAMED]]
    more = len(members) - len(names)
    if freebsd:
        driver = _freebsd_crypto.driver(inside, cipher)
        told = " ".join(_freebsd_crypto.sentences(driver))
    else:
        driver, told = _implementation(zfs, cipher)
    state = f", {len(locked)} locked" if locked and open_ else ""
    return Workload(
        kind=WorkloadKind.ZFS,
        name=names[0] if len(members) == 1 else pool,
        consumer="freebsd" if freebsd else "openzfs",
        cipher=cipher,
        version=kernel.kernel if freebsd else zfs.version,
        detail=f"{_count(len(members))} of the pool {pool}{state}",
        activity=_activity(open_, locked),
        evidence=(
            f"zfs list shows {cipher} for {listed(names + ([f'{more} more'] if more else []))}.",
            *_keys(open_, locked),
            *([told] if told else []),
            *shortfalls(inside, "zfs"),
        ),
        confidence=Confidence.CERTAIN if open_ else Confidence.FIRM,
        driver=driver,
    )


def _count(number: int) -> str:
    return "1 dataset" if number == 1 else f"{number} datasets"


def _activity(open_: list[ZfsDataset], locked: list[ZfsDataset]) -> Activity:
    if open_:
        return Activity.ACTIVE
    return Activity.CLOSED if locked else Activity.CONFIGURED


def _keys(open_: list[ZfsDataset], locked: list[ZfsDataset]) -> Iterator[str]:
    if open_:
        yield f"The keys of {_count(len(open_))} are loaded."
    if locked:
        yield f"The keys of {_count(len(locked))} are not loaded, {locked[0].name} among them."


def _implementation(zfs: Zfs, cipher: str) -> tuple[str, str]:
    """Return what the module encrypts with, as "icp_gcm_impl=avx", and the sentence that says so.

    "fastest" stands for the best that is offered, and for GCM the module offers only what it can
    run, beside "generic", which it always has.
    """
    gcm = family(cipher) in ("gcm", "")
    choice = zfs.gcm if gcm else zfs.aes
    name = "icp_gcm_impl" if gcm else "icp_aes_impl"
    used = _used(choice) if choice else ""
    if choice is None or not used:
        return "", ""
    told = f"{name} is {choice.chosen} and offers {listed(choice.offered)}: {used} is used."
    return f"{name}={used}", told


def _used(choice: Choice) -> str:
    if choice.chosen in choice.offered:
        return choice.chosen
    if choice.chosen != "fastest":
        return ""  # "cycle" takes each in turn, for tests
    return next((name for name in BEST_FIRST if name in choice.offered), "")


WORKLOAD = Finder(WorkloadKind.ZFS, find)
