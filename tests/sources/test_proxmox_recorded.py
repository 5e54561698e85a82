"""What a real cluster of Proxmox VE 9.2 answered, read as if it were answering now."""

from __future__ import annotations

from typing import cast

import pytest

from support import recordings
from support.recordings import Recording
from unmask.connect.deadline import Clock
from unmask.connect.proxmox import Api
from unmask.connect.proxmox_address import Address
from unmask.connect.proxmox_answer import ApiError, refusal
from unmask.cpu.features import canonical
from unmask.dialects import saved
from unmask.model.cpu import Accelerator, Mode, Origin, RemarkKind
from unmask.model.inventory import Guest, GuestState, Inventory
from unmask.sources import _pve_api_inventory, _pve_api_reading

EARLY = 234
"""Recordings before this number show the cluster before anything was changed."""
ALSO = (234, 518, *range(486, 500))
"""Snapshots, and the second node as it was before anything was changed there."""


class Recorded:
    """Answers each path as it was answered to one caller at first."""

    def __init__(self, who: str) -> None:
        self.clock = Clock(30)
        self.entry = Address("pve1")
        self.answers: dict[str, Recording] = {}
        for number, record in sorted(recordings.recordings().items()):
            wanted = number < EARLY or number in ALSO
            if wanted and record.who == who and record.method == "GET":
                self.answers.setdefault(record.path.removeprefix("/api2/json/"), record)

    def get(self, path: str, node: str = "", **params: str) -> object:
        del node
        query = "&".join(f"{key}={value}" for key, value in params.items())
        record = self.answers.get(f"{path}?{query}" if query else path)
        if record is None:
            raise ApiError("501 not recorded", status=501)
        if record.status != 200:
            raise refusal(record.status, record.reason, record.json)
        assert record.json is not None
        return record.json["data"]


def read(who: str) -> Inventory:
    recordings.need_recordings()
    answers = _pve_api_reading.read(cast("Api", Recorded(who)), 4, lambda _: None)
    return _pve_api_inventory.inventory(answers, "pve://pve1", "pve1")


@pytest.fixture(scope="module")
def found() -> Inventory:
    return read("root@pam!full")


@pytest.fixture(scope="module")
def guests(found: Inventory) -> dict[str, Guest]:
    return {guest.ident: guest for guest in found.guests}


def test_all_of_it_is_read(found: Inventory) -> None:
    assert len(found.guests) == 33
    assert [host.subject for host in found.hosts] == ["lab/pve1", "lab/pve2"]
    assert found.gaps == ()
    for host, number in zip(found.hosts, (22, 486), strict=True):
        flags = recordings.data(number)["cpuinfo"]["flags"].split()
        assert host.cpu.value.flags == {canonical(flag) for flag in flags}
        assert host.software.hypervisor == "Proxmox VE 9.2.11"
        assert host.software.kernel == "6.18.44-1-pve"
    assert saved.load(saved.dump(found)) == found


def test_every_guest_has_a_cpu_that_is_understood(guests: dict[str, Guest]) -> None:
    for guest in guests.values():
        assert guest.configured.mode is not Mode.UNKNOWN, guest.subject


def test_custom_models(found: Inventory, guests: dict[str, Guest]) -> None:
    models = dict(found.clusters[0].custom_models)
    assert {"aes", "pclmulqdq", "ssse3"} <= models["foo"].on
    assert any(guest.configured.origin is Origin.CUSTOM for guest in guests.values())


def test_what_the_server_drops_is_not_taken_for_a_choice(guests: dict[str, Guest]) -> None:
    for vmid in ("120", "121"):
        spec = guests[vmid].configured
        assert (spec.origin, spec.written) == (Origin.DEFAULT, "")
        assert spec.remarked(RemarkKind.NOTE)


def test_states_snapshots_and_locks(guests: dict[str, Guest]) -> None:
    assert guests["113"].state is GuestState.RUNNING
    assert guests["113"].accelerator is Accelerator.TCG
    assert (guests["126"].state, guests["126"].lock) == (GuestState.SUSPENDED, "suspended")
    assert guests["126"].current.model == "kvm64"
    (snapshot,) = guests["112"].snapshots
    assert (snapshot.name, snapshot.with_memory, snapshot.cpu.model) == ("withram", True, "qemu64")
    assert guests["114"].lock == "backup"


def test_a_caller_without_privileges_is_told_which() -> None:
    found = read("nobody@pve!t0")
    assert found.guests == ()
    needs = {gap.needs for gap in found.gaps}
    assert needs >= {"Sys.Audit on /", "VM.Audit on /vms, propagated", "Sys.Audit on /nodes/pve1"}
