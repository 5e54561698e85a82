"""Others who change the same guest at the same time, and answers that are none."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from support import fix_lab
from support.fix_lab import NAS, edit, guest
from unmask.errors import ChangeError, TargetError
from unmask.fixes import _pve_config
from unmask.fixes._pve_guest import PveGuest
from unmask.fixes._pve_way import Change
from unmask.fixes._target import ChangedError
from unmask.fixes.proxmox import ApiWay
from unmask.lab.lab import Lab
from unmask.model.change import Setting


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    fix_lab.impatient(monkeypatch)


@pytest.fixture
def lab() -> Iterator[Lab]:
    with Lab(pace=0) as made:
        yield made


def test_of_many_who_change_the_same_guest_one_wins(lab: Lab) -> None:
    values = ("host", "max", "kvm32", "EPYC", "Haswell", "Westmere")
    ready = threading.Barrier(len(values))

    def write(it: PveGuest, value: str) -> str:
        old = it.read()
        ready.wait()
        try:
            it.write(old, Setting(value))
        except ChangedError:
            return ""
        return value

    with ExitStack() as opened, ThreadPoolExecutor(len(values)) as pool:
        guests = [opened.enter_context(guest(lab, "111")) for _ in values]
        won = [value for value in pool.map(write, guests, values) if value]
    assert len(won) == 1
    assert f"cpu: {won[0]}" in lab.tree()["nodes/pve2/qemu-server/111.conf"].splitlines()
    assert len(lab.written) == 1


def test_what_somebody_changes_right_after_the_write_is_told(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = ApiWay.change

    def busy(way: ApiWay, node: str, vmid: str, change: Change) -> None:
        real(way, node, vmid, change)
        edit(lab, NAS, "memory: 32768", "memory: 16384")

    monkeypatch.setattr(ApiWay, "change", busy)
    with guest(lab) as it:
        with pytest.raises(ChangeError, match=r"cpu is written.* changed memory"):
            it.write(it.read(), Setting("host"))
        assert it.read().value == "host"


def test_a_backup_that_begins_right_after_the_write_is_no_change(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = ApiWay.change

    def busy(way: ApiWay, node: str, vmid: str, change: Change) -> None:
        real(way, node, vmid, change)
        edit(lab, NAS, "machine: q35", "lock: backup\nmachine: q35")

    monkeypatch.setattr(ApiWay, "change", busy)
    with guest(lab) as it:
        it.write(it.read(), Setting("host"))


@pytest.mark.parametrize(
    "rows",
    [
        None,
        {},
        ["cpu"],
        [{"key": 7}],
        [{"key": "cpu", "value": ["host"]}],
        [{"key": "cpu", "value": "host"}],
        [{"key": "cpu", "value": "host"}, {"key": "digest", "value": ""}],
        [{"key": "cpu", "value": "host"}, {"key": "digest", "value": "x" * 40}],
    ],
)
def test_an_odd_answer_is_no_configuration(rows: object) -> None:
    with pytest.raises(TargetError, match="not what Proxmox VE sends"):
        _pve_config.read(rows)


def test_what_waits_is_what_the_next_start_has() -> None:
    rows = [
        {"key": "cpu", "value": "kvm64", "delete": 1},
        {"key": "cores", "value": 2, "pending": 4},
        {"key": "tablet", "value": 0, "delete": 2},
        {"key": "digest", "value": "a" * 40},
    ]
    found = _pve_config.read(rows)
    assert (found.cpu, found.current, found.waits) == (None, "kvm64", True)
    assert found.options == {"cores": "4"}


@pytest.mark.parametrize(
    ("meta", "made"),
    [
        ("creation-qemu=9.2.0,ctime=1750627200", "1750627200"),
        ("ctime=1750627200", "1750627200"),
        ("creation-qemu=9.2.0", ""),
        ("xctime=1", ""),
    ],
)
def test_when_a_guest_was_made_tells_it_from_a_later_one(meta: str, made: str) -> None:
    rows = [{"key": "meta", "value": meta}, {"key": "digest", "value": "a" * 40}]
    assert _pve_config.read(rows).made == made


def test_a_target_tells_when_its_guest_was_made(lab: Lab) -> None:
    with guest(lab) as it:
        made = it.read().made
    assert made
    assert f"ctime={made}" in lab.cluster.files[NAS]
