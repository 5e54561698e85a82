"""Guests of the lab whose CPU is changed: opening them, and what became of the cluster's files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest

from support import lab_target
from unmask.fixes import _pve_guest
from unmask.fixes._pve_guest import PveGuest
from unmask.fixes.proxmox import TARGET
from unmask.lab.lab import Lab
from unmask.model.access import Access
from unmask.model.change import Place
from unmask.model.inventory import Platform
from unmask.model.source import CollectOptions

NAS = "nodes/pve1/qemu-server/101.conf"
USERS = "user.cfg"
PUT = "PUT /nodes/{node}/qemu/{vmid}/config"


def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing be waited for long."""
    for name in ("SETTLES", "GRACE", "HA_GRACE"):
        monkeypatch.setattr(_pve_guest, name, 0.4)
    monkeypatch.setattr(_pve_guest, "PAUSE", 0.05)


@contextmanager
def guest(lab: Lab, vmid: str = "101", name: str = "fix") -> Iterator[PveGuest]:
    """Open a guest of the lab, and see that nothing is sent until something is asked."""
    access = Access(lab_target.login(lab, name), lab_target.trust(lab))
    place = Place(
        lab_target.address(lab), f"homelab/{vmid}", vmid, "name", Platform.PROXMOX, "pve1"
    )
    before = len(lab.seen)
    made = TARGET.open(place, CollectOptions(timeout=10, access=access))
    assert len(lab.seen) == before
    assert isinstance(made, PveGuest)
    try:
        yield made
    finally:
        made.close()


def edit(lab: Lab, path: str, old: str, new: str) -> None:
    """Change a file behind everybody's back."""
    text = lab.cluster.files[path]
    assert old in text
    lab.cluster.files[path] = text.replace(old, new)


def changed(lab: Lab, before: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return the lines that differ, as "- line" and "+ line" joined, by path."""
    found = {}
    for path in {*before, *lab.tree()}:
        old, new = before.get(path, ""), lab.tree().get(path, "")
        if old != new:
            gone = [line for line in old.splitlines() if line and line not in new.splitlines()]
            come = [line for line in new.splitlines() if line and line not in old.splitlines()]
            found[path] = ("\n".join(gone), "\n".join(come))
    return found


def reads_only(lab: Lab) -> bool:
    return {seen.method for seen in lab.seen} <= {"GET"}
