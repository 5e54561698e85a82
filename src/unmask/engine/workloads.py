"""Which encrypted workloads a guest has, and how its CPU serves each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from unmask.crypto import drivers
from unmask.crypto.consumers import consumers
from unmask.crypto.outlook import judge
from unmask.dialects.excerpt import excerpt
from unmask.engine import declared
from unmask.engine.observer import Sight
from unmask.errors import UnreadError
from unmask.model.inventory import Guest
from unmask.model.outlook import NoteKind, Outlook
from unmask.model.visit import UNVISITED
from unmask.model.workload import Finder, JudgedWorkload, Unread, Workload, WorkloadKind

LIMIT = 100
"""Workloads of one kind that are judged in one guest, whatever it claims to have."""
NAME, SENTENCE, SENTENCES = 200, 300, 10
"""Characters of a name and of a sentence, and sentences, that are kept of one workload."""

OF_TLS = (WorkloadKind.TLS, WorkloadKind.DATABASE)
"""Kinds whose library chooses among the suites of TLS."""
FIXED = (WorkloadKind.SAMBA, WorkloadKind.BACKUP)
"""Kinds that cannot be given ChaCha20: SMB 3 has AES only, a backup the cipher of its format."""
OF_THE_KERNEL = ("Linux", "OpenZFS")
"""Consumers of these versions (`version_of`) go by the kernel's own list of flags."""


@dataclass(frozen=True, slots=True)
class Load:
    """What encrypts in one guest, and what could not be looked for."""

    workloads: tuple[JudgedWorkload, ...] = ()
    unread: tuple[Unread, ...] = ()


NOTHING = Load()


def load(guest: Guest, finders: Sequence[Finder], sight: Sight) -> Load:
    """Return the guest's workloads by kind and name, each judged by what it sees of the CPU."""
    if guest.visit == UNVISITED and not guest.declared:
        return NOTHING
    found: list[Workload] = []
    unread: list[Unread] = []
    for finder in finders:
        _find(finder, guest, found, unread)
    if guest.declared:
        found, unread = declared.applied(guest, found, unread)
    found.sort(key=_order)
    answers = tuple(judged(item, sight) for item in found)
    return Load(answers, tuple(sorted(unread, key=lambda item: (item.kind.value, item.reason))))


def _order(workload: Workload) -> tuple[str, str, str, str]:
    return (workload.kind.value, workload.name, workload.cipher, workload.detail)


def _find(finder: Finder, guest: Guest, found: list[Workload], unread: list[Unread]) -> None:
    """Add what one finder yields until it has no more, cannot go on, or has too much."""
    try:
        for count, workload in enumerate(finder.find(guest)):
            if count == LIMIT:
                said = f"it shows more than {LIMIT} of this kind, and only so many are judged"
                unread.append(Unread(finder.kind, said))
                return
            found.append(_bounded(workload))
    except UnreadError as error:
        unread.append(Unread(finder.kind, error.reason, error.needs))
    except Exception as error:
        error.add_note(f"raised by the finder of {finder.kind} in {guest.subject}: a bug in unmask")
        raise


def _bounded(workload: Workload) -> Workload:
    """Return a workload whose texts are as long as people read, whatever the guest calls it."""
    texts = (workload.name, workload.detail, *workload.evidence)
    if len(workload.evidence) <= SENTENCES and all(len(text) <= NAME for text in texts):
        return workload
    return replace(
        workload,
        name=excerpt(workload.name, NAME),
        detail=excerpt(workload.detail, SENTENCE),
        evidence=tuple(excerpt(text, SENTENCE) for text in workload.evidence[:SENTENCES]),
    )


def judged(workload: Workload, sight: Sight) -> JudgedWorkload:
    """Return a workload with what to expect of it on another CPU."""
    return JudgedWorkload(workload, _outlook(workload, sight))


def _outlook(workload: Workload, sight: Sight) -> Outlook | None:
    consumer = consumers().get(workload.consumer)
    if consumer is None or workload.host_side:
        return None
    view = sight.kernel if consumer.version_of in OF_THE_KERNEL else sight.programs
    outlook = judge(consumer, view, version=workload.version, cipher=workload.cipher)
    outlook = _of_its_protocol(workload, outlook)
    return drivers.confirmed(outlook, workload.driver) if workload.driver else outlook


def _of_its_protocol(workload: Workload, outlook: Outlook) -> Outlook:
    """Return an outlook without what its library would do in TLS, where it does something else."""
    beside = {NoteKind.CHOICE} if workload.kind not in OF_TLS else set()
    if workload.kind in FIXED:
        beside.add(NoteKind.FASTER)
    if not beside.intersection(note.kind for note in outlook.notes):
        return outlook
    return replace(outlook, notes=tuple(note for note in outlook.notes if note.kind not in beside))
