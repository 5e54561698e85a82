"""Configuration of a guest: reading it, changing it, what is pending."""

from __future__ import annotations

import re

from unmask.dialects.proxmox.cpu_option import CUSTOM
from unmask.lab import options
from unmask.lab.answer import Json, Refused, invalid
from unmask.lab.call import Call, Route, of_guest
from unmask.lab.guest_change import Change, balloon_fault, change
from unmask.lab.guest_file import GuestFile, Values, typed
from unmask.lab.parameters import DIGEST, FLAG, TEXT, Parameter
from unmask.lab.tasks import Task

BESIDE = {
    "delete": TEXT,
    "digest": DIGEST,
    "force": FLAG,
    "revert": TEXT,
    "skiplock": FLAG,
}
"""Parameters of a change that are no options."""
IN_TASK = BESIDE | {"background_delay": Parameter("integer", least=1, most=30)}


def shown(call: Call, values: Values) -> dict[str, Json]:
    """Return options as the API has them."""
    old = not call.cluster.edition.since("8.0")
    return {key: typed(key, value, old_memory=old) for key, value in values.items()}


def config(call: Call) -> Json:
    """Return the options: with what is pending, the current ones, or a snapshot's."""
    file = call.cluster.guest(call.node, call.vmid)
    name = call.text("snapshot")
    if name and call.number("current"):
        said = "cannot use 'snapshot' parameter with 'current'"
        raise invalid(snapshot=said, current=said)
    if name:
        values = snapshot_values(file, name)
    else:
        values = file.main if call.number("current") else file.upcoming()
    return shown(call, values) | {"digest": digest(call)}


def snapshot_values(file: GuestFile, name: str) -> Values:
    """Return a snapshot's options.

    Raises:
        Refused: There is none of that name.
    """
    if name not in file.snapshots:
        raise Refused(f"snapshot '{name}' does not exist")
    return file.snapshots[name]


def digest(call: Call) -> str:
    """Return the digest of the guest's file."""
    return call.cluster.digest(call.cluster.path_of(call.node, call.vmid))


def pending(call: Call) -> Json:
    """Return every option with its current value and what is to become of it."""
    file = call.cluster.guest(call.node, call.vmid)
    now, then, deletes = shown(call, file.main), shown(call, file.pending), file.deletes()
    then.pop("delete", None)
    rows = []
    for key in sorted({*now, *then}):
        row: dict[str, Json] = {"key": key}
        if key in now:
            row["value"] = now[key]
        if key in then:
            row["pending"] = then[key]
        if key in deletes:
            row["delete"] = 2 if deletes[key] else 1
        rows.append(row)
    return [*rows, {"key": "digest", "value": digest(call)}]


def put(call: Call) -> Json:
    """Change options at once."""
    return _update(call, background=False)


def post(call: Call) -> Json:
    """Change options in a worker task."""
    return _update(call, background=True)


def _update(call: Call, *, background: bool) -> Json:
    with call.cluster.lock:
        wanted = _wanted(call)
        _may_change(call, wanted)
        _checked(call, wanted)
    if not background:
        with call.cluster.tasks.locked(call.vmid), call.cluster.lock:
            _checked(call, wanted)
            _store(call, wanted)
        return None
    what = " ".join(f"-{key} {value}" for key, value in wanted.values.items())
    what += "".join(f" -delete {key}" for key in wanted.deletes)

    def work(task: Task) -> None:
        task.say(f"update VM {call.vmid}: {what.strip()}")
        _checked(call, wanted)
        _store(call, wanted)

    task = call.cluster.tasks.start(call.node, "qmconfig", str(call.vmid), call.caller, work)
    return None if call.number("background_delay") and task.exit_status else task.upid


def _wanted(call: Call) -> Change:
    if call.number("skiplock") and not call.caller.root:
        raise invalid(skiplock="Only root may use this option.")
    values = {key: str(value) for key, value in call.given.items() if key not in IN_TASK}
    deletes, reverts = _names(call.text("delete")), _names(call.text("revert"))
    if not values and not deletes and not reverts:
        raise Refused("no options specified")
    for word, keys in (("revert", reverts), ("delete", deletes)):
        for key in keys:
            if not options.known(key):
                raise invalid(**{word: f"unknown option '{key}'"})
            if key in values:
                # Proxmox blames `delete` for both.
                raise invalid(delete=f"you can't use '-{key}' and -{word} {key}' at the same time")
    return Change(values, deletes, reverts, bool(call.number("force")))


def _names(text: str) -> tuple[str, ...]:
    return tuple(word for word in re.split(r"[,;\s]+", text) if word)


def _may_change(call: Call, wanted: Change) -> None:
    """Refuse the whole request where one of its options is not the caller's to set."""
    for option in (*wanted.deletes, *wanted.reverts, *wanted.values):
        needs = options.privilege(option)
        if needs:
            call.need(f"/vms/{call.vmid}", needs)
        elif not call.caller.root:
            raise Refused(f"only root can set '{option}' config")


def _checked(call: Call, wanted: Change) -> None:
    """Check digest, custom model and lock, in this order."""
    file = call.cluster.guest(call.node, call.vmid)
    given = call.text("digest")
    if given and given != digest(call):
        raise Refused("checksum mismatch (file change by other user?)")
    _may_use_model(call, file.upcoming().get("cpu", ""), wanted.values.get("cpu", ""))
    refuse_locked(file, skip=bool(call.number("skiplock")))
    said = balloon_fault(file.upcoming() | dict(wanted.values))
    if said and {"balloon", "memory"}.intersection(wanted.values):
        raise Refused(said)


def _may_use_model(call: Call, old: str, new: str) -> None:
    """Refuse a custom model that the guest does not have yet to who may not use it."""
    kind = new.partition(",")[0].removeprefix("cputype=")
    if not kind.startswith(CUSTOM) or kind == old.partition(",")[0].removeprefix("cputype="):
        return
    if call.cluster.edition.since("9.0"):
        call.need(f"/mapping/cpu/{kind.removeprefix(CUSTOM)}", "Mapping.Use")
    else:
        call.need("/nodes", "Sys.Audit")


def refuse_locked(file: GuestFile, *, skip: bool = False) -> None:
    """Refuse where the guest is locked."""
    lock = file.main.get("lock", "")
    if lock and not skip:
        raise Refused(f"VM is locked ({lock})")


def _store(call: Call, wanted: Change) -> None:
    cluster = call.cluster
    path = cluster.path_of(call.node, call.vmid)
    file = cluster.opened(call.node, call.vmid)
    change(file, wanted, running=cluster.process(call.vmid) is not None)
    cluster.store(path, file.text(), f"{call.caller.name} changed options of guest {call.vmid}")


GUEST = "/nodes/{node}/qemu/{vmid}"
ROUTES = (
    Route(
        "GET",
        f"{GUEST}/config",
        config,
        {"current": FLAG, "snapshot": TEXT},
        of_guest("VM.Audit"),
    ),
    Route("GET", f"{GUEST}/pending", pending, check=of_guest("VM.Audit")),
    Route(
        "PUT", f"{GUEST}/config", put, BESIDE, of_guest(*options.CONFIG), options=True, waits=True
    ),
    Route(
        "POST",
        f"{GUEST}/config",
        post,
        IN_TASK,
        of_guest(*options.CONFIG),
        options=True,
        waits=True,
    ),
)
