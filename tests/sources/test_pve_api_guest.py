"""One guest's answers: values as JSON has them, what waits, and what cannot be known."""

from __future__ import annotations

from typing import Any

import pytest

from unmask.dialects.proxmox import guest as files
from unmask.dialects.proxmox.cpu_option import CpuOption
from unmask.dialects.proxmox.specification import Place
from unmask.model.cpu import Accelerator, Mode, Origin, RemarkKind
from unmask.model.inventory import Guest, GuestState
from unmask.sources import _pve_api_guest
from unmask.sources._pve_api_answers import Listed

FLAGS = frozenset({"lm", "aes", "pclmulqdq"})
NAS = CpuOption("custom-nas", (("+", "aes"),), reported_model="kvm64")
PLACE = Place("lab", "pve1", "x86_64", FLAGS, {"nas": NAS}, "9")


def machine(
    *pending: dict[str, Any], status: str = "running", place: Place = PLACE, **more: Any
) -> Guest:
    item = Listed("101", "pve1", "qemu", {"status": status, **more})
    return _pve_api_guest.machine(
        item, list(pending), {}, place, "pve://x/101", lambda name: f"sight of {name}"
    )


def value(key: str, current: Any, **more: Any) -> dict[str, Any]:
    return {"key": key, "value": current, **more}


def test_the_answers_mean_what_the_file_means() -> None:
    text = "name: web\ncpu: x86-64-v2-AES\nkvm: 0\nostype: win11\ntemplate: 1\nmemory: 64\n"
    written = files.read(text, "101", PLACE)
    got = machine(
        value("name", "web"), value("cpu", "x86-64-v2-AES"), value("kvm", 0),
        value("ostype", "win11"), value("template", 1), value("memory", 64),
        value("digest", "a" * 40), status="stopped",
    )  # fmt: skip
    assert (got.configured, got.name, got.template) == (
        written.configured,
        written.name,
        written.template,
    )
    assert (got.accelerator, got.os_declared) == (Accelerator.TCG, "win11")
    assert got.state is GuestState.STOPPED


def test_a_change_and_a_deletion_wait_while_it_runs() -> None:
    changed = machine(value("cpu", "kvm64", pending="host"))
    assert (changed.configured.label, changed.configured.origin) == ("kvm64", Origin.CONFIG)
    assert changed.pending is not None
    assert changed.pending.mode is Mode.HOST
    deleted = machine(value("cpu", "host", delete=1))
    assert deleted.pending is not None
    assert deleted.pending.origin is Origin.DEFAULT
    added = machine(value("name", "x"), {"key": "cpu", "pending": "host"})
    assert added.pending is not None
    assert added.configured.origin is Origin.DEFAULT
    other = machine(value("cpu", "host"), value("memory", "64", pending="96"))
    assert other.pending is None


def test_what_waits_in_a_stopped_guest_is_what_its_next_start_has() -> None:
    got = machine(value("cpu", "kvm64", pending="host"), status="stopped")
    assert got.configured.mode is Mode.HOST
    assert got.pending is None
    assert [item.kind for item in got.remarks] == [RemarkKind.NOTE]
    assert "next start applies it" in got.remarks[0].text


def test_a_custom_model_is_expanded_where_its_definition_is_known() -> None:
    got = machine(value("cpu", "custom-nas"))
    assert (got.configured.origin, "aes" in got.configured.on) == (Origin.CUSTOM, True)
    assert not got.configured.remarks


@pytest.mark.parametrize("written", ["custom-gone", "cputype=custom-gone,hidden=1"])
def test_a_custom_model_without_definition_is_unknown(written: str) -> None:
    got = machine(value("cpu", written))
    assert got.configured.mode is Mode.UNKNOWN
    (remark,) = got.configured.remarks
    assert remark.kind is RemarkKind.UNRESOLVED
    assert remark.text.endswith("gone could not be read; it needs sight of gone.")


def test_a_custom_model_without_definition_may_be_the_one_that_waits() -> None:
    got = machine(value("cpu", "host", pending="custom-gone"))
    assert got.configured.mode is Mode.HOST
    assert got.pending is not None
    assert got.pending.mode is Mode.UNKNOWN


def test_what_only_a_newer_release_knows_is_believed() -> None:
    old = Place("lab", "pve1", "x86_64", FLAGS, {}, "7")
    got = machine(value("cpu", "x86-64-v3"), place=old)
    assert got.configured.label == "x86-64-v3"


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("running", GuestState.RUNNING),
        ("stopped", GuestState.STOPPED),
        ("paused", GuestState.PAUSED),
        ("unknown", GuestState.UNKNOWN),
        ("", GuestState.UNKNOWN),
    ],
)
def test_states(status: str, expected: GuestState) -> None:
    assert machine(value("cpu", "host"), status=status).state is expected


def test_a_suspended_guest_has_the_cpu_of_its_process() -> None:
    got = machine(
        value("cpu", "host"), value("lock", "suspended"), value("vmstate", "x"),
        value("runningcpu", "kvm64,+aes"), status="stopped",
    )  # fmt: skip
    assert (got.state, got.lock) == (GuestState.SUSPENDED, "suspended")
    assert got.current.model == "kvm64"
    waiting = machine(
        value("cpu", "kvm64", pending="host"), value("lock", "suspended"),
        value("vmstate", "x"), value("runningcpu", "kvm64"), status="stopped",
    )  # fmt: skip
    assert waiting.state is GuestState.SUSPENDED
    assert waiting.pending is not None
    assert waiting.pending.mode is Mode.HOST


def test_names_are_bounded_and_there_is_always_one() -> None:
    assert machine().name == "VM 101"
    assert len(machine(value("name", "x" * 5000)).name) <= 260


def test_tags_and_notes_declare_workloads() -> None:
    found = machine(
        value("tags", "prod;unmask-luks"), value("description", "The shop\nunmask: no tls\n")
    )
    assert [(item.kind, item.present) for item in found.declared] == [
        ("luks", True),
        ("tls", False),
    ]
    item = Listed("200", "pve1", "lxc", {"status": "running", "tags": "unmask-backup-restic"})
    for listed in (
        _pve_api_guest.container(item, PLACE, "x"),
        _pve_api_guest.unread(item, PLACE, "403", "x"),
    ):
        (declared,) = listed.declared
        assert (declared.kind, declared.detail) == ("backup", "restic")
