"""Changes of a guest's configuration: what becomes pending, and when pending values take hold.

Sources: $update_vm_api of PVE/API2/Qemu.pm; vmconfig_hotplug_pending and vmconfig_apply_pending of
PVE/QemuServer.pm; cleanup_pending of PVE/AbstractConfig.pm; recorded answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from unmask.lab.guest_file import GuestFile, Values
from unmask.lab.options import AT_ONCE


@dataclass(frozen=True, slots=True)
class Change:
    """What one request wants."""

    values: Mapping[str, str]
    deletes: tuple[str, ...] = ()
    reverts: tuple[str, ...] = ()
    force: bool = False


def change(file: GuestFile, wanted: Change, *, running: bool) -> None:
    """Bring the changes into the file."""
    deletes = file.deletes()
    for key in wanted.reverts:
        file.pending.pop(key, None)
        deletes.pop(key, None)
    for key in wanted.deletes:
        file.pending.pop(key, None)
        deletes[key] = wanted.force
    for key, value in wanted.values.items():
        file.pending[key] = value
        deletes.pop(key, None)
    _clean(file, deletes)
    if running:
        _take_at_once(file)
    else:
        apply_pending(file)


def _clean(file: GuestFile, deletes: dict[str, bool]) -> None:
    """Drop pending values that change nothing."""
    same = [key for key, value in file.pending.items() if file.main.get(key) == value]
    for key in same:
        del file.pending[key]
    file.set_deletes({key: force for key, force in deletes.items() if key in file.main})


def _take_at_once(file: GuestFile) -> None:
    deletes = file.deletes()
    for key in AT_ONCE.intersection(file.pending):
        file.main[key] = file.pending.pop(key)
    for key in AT_ONCE.intersection(deletes):
        file.main.pop(key, None)
        del deletes[key]
    file.set_deletes(deletes)


def apply_pending(file: GuestFile) -> bool:
    """Let all pending values take hold and return whether there were any."""
    if not file.pending:
        return False
    for key in file.deletes():
        file.main.pop(key, None)
    file.main.update({key: value for key, value in file.pending.items() if key != "delete"})
    file.pending = {}
    return True


def balloon_fault(values: Values) -> str:
    """Return what is wrong with memory and balloon together, "" for nothing."""
    memory = int(values.get("memory", "512").removeprefix("current="))
    too_large = int(values.get("balloon", "0")) > memory
    return "balloon value too large (must be smaller than assigned memory)" if too_large else ""
