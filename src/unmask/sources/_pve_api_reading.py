"""What is asked of a cluster's API, and in which order.

Three rounds, each of many requests at once: the cluster, then its nodes and guests, then what the
guests' answers lead to. `pending` has a guest's running and pending values in one answer; snapshots
are asked for only where `parent` shows that there are any.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from unmask.connect import threads
from unmask.connect.proxmox_answer import ABSENT, ApiError
from unmask.dialects.proxmox.release import at_least
from unmask.errors import TargetError, UnmaskError
from unmask.model.reading import Known, Missing, Reading
from unmask.sources._pve_api_answers import (
    REPLICATION,
    SNAPSHOT,
    Answers,
    Listed,
    Row,
    absent,
    number,
    row,
    rows,
    values,
)
from unmask.sources._pve_api_around import GROUPS, MAPPING, RESOURCES, RULES, STORAGE, kinds

if TYPE_CHECKING:
    from unmask.connect.proxmox import Api

T = TypeVar("T")

SNAPSHOTS_OF_ONE = 32
"""Snapshots with memory of one guest that are read."""

MODELS = "cluster/qemu/custom-cpu-models"
INTERRUPTED = Missing("reading was interrupted")
MOVED = "does not exist"
"""How the error for a configuration that is on another node, or gone, ends."""


@dataclass(frozen=True, slots=True)
class Question:
    """One request, and where its answer goes."""

    path: str
    shape: Callable[[Any], Any]
    """Returns the answer's data in its expected shape, or None."""
    keep: Callable[[Any], None]
    """Takes the reading."""
    node: str = ""
    needs: str = ""
    """The privilege to name where a refusal names none."""
    params: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class Reader:
    """Reads one cluster."""

    api: Api
    workers: int
    progress: Callable[[str], None]
    answers: Answers

    def round(self, what: str, questions: Sequence[Question]) -> bool:
        """Ask all questions at once; return whether there is time for more."""
        answers = self.answers
        if answers.interrupted or not questions:
            return not answers.interrupted
        gathered = threads.gather(
            self._ask,
            questions,
            self.workers,
            self.api.clock.remaining,
            lambda done: self.progress(f"{what}: {done}/{len(questions)}"),
        )
        answers.interrupted |= gathered.interrupted
        answers.late |= self.api.clock.over
        left = INTERRUPTED if gathered.interrupted else Missing("not read in time", LONGER)
        for place, question in enumerate(questions):
            future = gathered.results.get(place)
            question.keep(future.result() if future else left)
        return not gathered.interrupted

    def _ask(self, question: Question) -> Reading[Any]:
        try:
            data = self.api.get(question.path, question.node, **dict(question.params))
        except ApiError as error:
            if error.status == ABSENT:
                return absent(question.path)
            needs = error.needs or (question.needs if error.status == 403 else "")
            return Missing(str(error), needs)
        except TargetError as error:
            return Missing(str(error))
        shaped = question.shape(data)
        if shaped is None:
            return Missing(f"the answer to {question.path} is not what Proxmox VE sends")
        return Known(shaped)


LONGER = "a longer --timeout"


def read(api: Api, workers: int, progress: Callable[[str], None]) -> Answers:
    """Read everything that the login may see.

    Raises:
        ApiError: Not even the version, or nothing beyond it, can be read.
        TargetError: The certificate or the login is refused.
    """
    version = row(_alone(api, "version")) or {}
    if not isinstance(version.get("version"), str):
        raise TargetError(f"{api.entry.place} does not answer as Proxmox VE does")
    reader = Reader(api, workers, progress, Answers(version["version"][:40]))
    reader.round("cluster", _cluster(reader.answers))
    unread = _unread(reader.answers)
    if len(unread) == 3 and not reader.answers.interrupted:
        raise ApiError(f"{api.entry.place}: {unread[0].reason}", unread[0].needs)
    reader.round("nodes", _outside(reader.answers))
    reader.round("guests", _members(reader.answers))
    reader.round("moved guests", _moved(reader))
    reader.round("snapshots", [*_snapshots(reader.answers), *_mappings(reader.answers)])
    reader.round("snapshots with memory", _memories(reader.answers))
    return reader.answers


def _alone(api: Api, path: str, **params: str) -> Any:
    """Ask one question; return in time whatever keeps it: a name that is looked up, a proxy."""
    late = ApiError("it did not answer in the time allowed", LONGER)
    return threads.within(api.clock.remaining, lambda: api.get(path, **params), late)


def _unread(answers: Answers) -> list[Missing]:
    """Return what is missing of guests, nodes and status: without all three there is no report."""
    everything = (answers.resources, answers.nodes, answers.status)
    return [item for item in everything if isinstance(item, Missing)]


def _into(answers: Answers, name: str) -> Callable[[Any], None]:
    return lambda reading: setattr(answers, name, reading)


def _at(store: dict[T, Any], key: T) -> Callable[[Any], None]:
    return lambda reading: store.__setitem__(key, reading)


def _cluster(answers: Answers) -> list[Question]:
    def ask(name: str, path: str, shape: Callable[[Any], Any] = rows, **more: Any) -> Question:
        return Question(path, shape, _into(answers, name), **more)

    return [
        ask("resources", "cluster/resources", params=(("type", "vm"),)),
        ask("status", "cluster/status", needs="Sys.Audit on /"),
        ask("nodes", "nodes"),
        ask("permissions", "access/permissions", row),
        ask("models", MODELS, needs="Mapping.Audit on /mapping/cpu"),
        ask("flags", "cluster/qemu/cpu-flags", needs="Sys.Audit on /nodes"),
        ask("replication", REPLICATION),
        ask("storages", STORAGE),
        *_availability(answers, ask),
    ]


def _availability(answers: Answers, ask: Callable[..., Question]) -> list[Question]:
    """Ask for the rules of high availability, which replace its groups in Proxmox VE 9."""
    needs = "Sys.Audit on /"
    if at_least(answers.version, "9.0"):
        return [ask("rules", RULES, needs=needs)]
    answers.rules = absent(RULES)
    return [ask("managed", RESOURCES, needs=needs), ask("groups", GROUPS, needs=needs)]


def _mappings(answers: Answers) -> list[Question]:
    return [
        Question(MAPPING.format(kind=kind), rows, _at(answers.mappings, kind))
        for kind in kinds(answers)
    ]


def _outside(answers: Answers) -> list[Question]:
    """Ask the nodes that seem to be offline only because there is no quorum."""
    absent = [node for node, there in answers.online.items() if not there]
    return [
        Question(f"nodes/{node}/version", row, _at(answers.reached, node), node)
        for node in ([] if answers.quorate else absent)
    ]


def _members(answers: Answers) -> list[Question]:
    asked = []
    online = [node for node in answers.online if answers.answers_for(node)]
    for node in online:
        keep, needs = _at(answers.hosts, node), f"Sys.Audit on /nodes/{node}"
        asked.append(Question(f"nodes/{node}/status", row, keep, node, needs))
        path = f"nodes/{node}/capabilities/qemu/machines"
        asked.append(Question(path, rows, _at(answers.machines, node), node))
    if online and not isinstance(answers.models, Known):
        path = f"nodes/{online[0]}/capabilities/qemu/cpu"
        asked.append(Question(path, rows, _into(answers, "model_names"), online[0]))
    machines = [item for item in answers.guests if item.kind == "qemu"]
    return asked + [_pending(answers, item) for item in machines if answers.answers_for(item.node)]


def _pending(answers: Answers, item: Listed) -> Question:
    path = f"nodes/{item.node}/qemu/{item.vmid}/pending"
    needs = f"VM.Audit on /vms/{item.vmid}"
    return Question(path, rows, _at(answers.pending, item.vmid), item.node, needs)


def _moved(reader: Reader) -> list[Question]:
    """Look up again where the guests are whose configuration was not where it was listed."""
    answers = reader.answers
    lost = {
        vmid
        for vmid, reading in answers.pending.items()
        if isinstance(reading, Missing) and reading.reason.endswith(MOVED)
    }
    if not lost or answers.interrupted:
        return []
    before = {item.vmid: item.node for item in answers.guests}
    try:
        again = rows(_alone(reader.api, "cluster/resources", type="vm"))
    except UnmaskError:
        return []
    if again is None:
        return []
    answers.resources = Known(again)
    gone = lost - {item.vmid for item in answers.guests}
    for vmid in gone:
        answers.pending.pop(vmid)  # it was removed meanwhile: nothing is missing
    return [
        _pending(answers, item)
        for item in answers.guests
        if item.vmid in lost and item.node != before[item.vmid]
    ]


def _snapshots(answers: Answers) -> list[Question]:
    nodes = {item.vmid: item.node for item in answers.guests}
    return [
        Question(
            f"nodes/{nodes[vmid]}/qemu/{vmid}/snapshot",
            rows,
            _at(answers.snapshots, vmid),
            nodes[vmid],
        )
        for vmid, reading in answers.pending.items()
        if isinstance(reading, Known) and vmid in nodes and values(reading.value).get("parent")
    ]


def _memories(answers: Answers) -> list[Question]:
    nodes = {item.vmid: item.node for item in answers.guests}
    asked = []
    for vmid, reading in answers.snapshots.items():
        names = memories(reading.value) if isinstance(reading, Known) else []
        for name in names[:SNAPSHOTS_OF_ONE]:
            path = f"nodes/{nodes[vmid]}/qemu/{vmid}/snapshot/{name}/config"
            keep = _at(answers.with_memory, (vmid, name))
            asked.append(Question(path, row, keep, nodes[vmid]))
    return asked


def memories(listed: Sequence[Row]) -> list[str]:
    """Return the names of the snapshots that hold the guest's memory."""
    names = [str(item.get("name", "")) for item in listed if number(item.get("vmstate")) == 1]
    return sorted(name for name in names if SNAPSHOT.fullmatch(name))
