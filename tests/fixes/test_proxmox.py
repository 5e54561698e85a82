"""Guests of the lab whose CPU is changed by its API: old or new, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support import fix_lab
from support.fix_lab import NAS, PUT, changed, guest, reads_only
from unmask.errors import TargetError
from unmask.fixes._target import RefusedError, open_target
from unmask.fixes.proxmox import TARGET
from unmask.lab.lab import Lab
from unmask.model.change import Place, Setting
from unmask.model.inventory import GuestState, Platform
from unmask.model.source import CollectOptions


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    fix_lab.impatient(monkeypatch)


@pytest.fixture
def lab() -> Iterator[Lab]:
    with Lab(pace=0) as made:
        yield made


def test_fits_the_api_only() -> None:
    assert TARGET.fits("pve://pve1.example")
    assert not TARGET.fits("pve+ssh://pve1.example")


def test_a_target_without_a_login_is_refused() -> None:
    place = Place("pve://pve1.example", "x", "101", "x", Platform.PROXMOX)
    with pytest.raises(TargetError, match="no token or password"):
        open_target(place, CollectOptions())


def test_reading_tells_value_and_digest_and_sends_reads_only(lab: Lab) -> None:
    with guest(lab) as it:
        found = it.read()
        assert (found.value, found.digest) == ("x86-64-v2", lab.cluster.digest(NAS))
        assert it.state() is GuestState.RUNNING
        assert it.takes_hold() == ""
    assert reads_only(lab)
    assert not lab.written


def test_what_is_not_set_is_none(lab: Lab) -> None:
    with guest(lab, "102") as it:
        assert it.read().value is None


def test_a_running_guest_gets_it_pending_and_undo_takes_it_back(lab: Lab) -> None:
    before = lab.tree()
    with guest(lab) as it:
        old = it.read()
        it.write(old, Setting("host"))
        assert changed(lab, before) == {NAS: ("", "\n".join(["[PENDING]", "cpu: host"]))}
        new = it.read()
        assert new.value == "host"
        assert "goes on with x86-64-v2" in it.takes_hold()
        assert "host waits" in it.takes_hold()
        it.write(new, old)
    assert lab.tree() == before
    assert lab.counts()[PUT] == 2


def test_a_stopped_guest_has_it_at_once_and_undo_brings_the_file_back(lab: Lab) -> None:
    path = "nodes/pve2/qemu-server/111.conf"
    before = lab.tree()
    with guest(lab, "111") as it:
        old = it.read()
        it.write(old, Setting("x86-64-v2-AES,flags=+aes"))
        assert changed(lab, before) == {path: ("cpu: kvm64", "cpu: x86-64-v2-AES,flags=+aes")}
        assert it.takes_hold() == ""
        it.write(it.read(), old)
    assert lab.tree() == before


@pytest.mark.parametrize("runs", [True, False])
def test_an_unset_option_becomes_unset_again(lab: Lab, *, runs: bool) -> None:
    if not runs:
        lab.cluster.running.pop(102)
    before = lab.tree()
    with guest(lab, "102") as it:
        old = it.read()
        it.write(old, Setting("host"))
        assert it.read().value == "host"
        it.write(it.read(), old)
        assert it.read().value is None
    assert lab.tree() == before


def test_a_set_option_can_be_taken_away(lab: Lab) -> None:
    before = lab.tree()
    with guest(lab) as it:
        old = it.read()
        it.write(old, Setting(None))
        assert it.read().value is None
        assert changed(lab, before)[NAS][1] == "[PENDING]\ndelete: cpu"
        assert "the default waits" in it.takes_hold()
        it.write(it.read(), old)
    assert lab.tree() == before


def test_an_earlier_pending_change_is_what_was_before(lab: Lab) -> None:
    """Other options that wait are left waiting."""
    path = "nodes/pve2/qemu-server/114.conf"
    before = lab.tree()
    with guest(lab, "114") as it:
        old = it.read()
        assert old.value == "x86-64-v2-AES"
        it.write(old, Setting("host"))
        assert changed(lab, before) == {path: ("cpu: x86-64-v2-AES", "cpu: host")}
        it.write(it.read(), old)
    assert lab.tree() == before


def test_the_value_that_is_there_is_not_written(lab: Lab) -> None:
    with guest(lab) as it:
        it.write(it.read(), it.read())
    assert reads_only(lab)


def test_a_custom_model_is_made_and_given(lab: Lab) -> None:
    section = "cpu-model: baseline\n\tflags +aes;+pclmulqdq\n\treported-model qemu64\n\n"
    before = lab.tree()
    with guest(lab) as it:
        it.make_model(section)
        it.make_model(section)
        it.write(it.read(), Setting("custom-baseline"))
        assert it.read().value == "custom-baseline"
        with pytest.raises(RefusedError, match="another custom model baseline"):
            it.make_model(section.replace("aes", "avx"))
    found = changed(lab, before)
    assert found.pop(NAS)[1] == "[PENDING]\ncpu: custom-baseline"
    (path, (gone, come)) = found.popitem()
    assert path == "virtual-guest/cpu-models.conf"
    assert gone == ""
    assert come.splitlines() == section.splitlines()[:-1]
    assert not found
    assert lab.counts()["POST /cluster/qemu/custom-cpu-models"] == 1


def test_arguments_of_the_guest_are_left_as_they_are(lab: Lab) -> None:
    """Planning refuses this; here it must still be whole, and undone."""
    before = lab.tree()
    with guest(lab, "115") as it:
        old = it.read()
        it.write(old, Setting("host"))
        assert (
            "args: -cpu kvm64,+ssse3,-aes -device pvpanic"
            in lab.tree()["nodes/pve2/qemu-server/115.conf"].splitlines()
        )
        it.write(it.read(), old)
    assert lab.tree() == before


def test_a_guest_that_has_moved_is_found(lab: Lab) -> None:
    there = "nodes/pve2/qemu-server/101.conf"
    with guest(lab) as it:
        old = it.read()
        lab.cluster.files[there] = lab.cluster.files.pop(NAS)
        it.write(old, Setting("host"))
        assert it.read().value == "host"
    assert "cpu: host" in lab.tree()[there]


@pytest.mark.parametrize(("vmid", "said"), [("999", "no guest 999"), ("201", "is a container")])
def test_what_is_no_guest_is_none(lab: Lab, vmid: str, said: str) -> None:
    with guest(lab, vmid) as it, pytest.raises(TargetError, match=said):
        it.read()


def test_same_is_what_is_meant(lab: Lab) -> None:
    with guest(lab) as it:
        assert it.same(Setting("host", "a"), Setting("cputype=host,", "b"))
        assert it.same(
            Setting("kvm64,flags=+aes;-pcid,hidden=1"), Setting("hidden=on,flags=-pcid;+aes,kvm64")
        )
        assert not it.same(Setting("kvm64,flags=+aes"), Setting("kvm64,flags=-aes"))
        assert not it.same(Setting(None), Setting("kvm64"))
        assert it.same(Setting(None), Setting(None))
        assert not it.same(Setting("=,"), Setting("host"))


@pytest.mark.parametrize("version", ["7.4", "8.4", "9.2"])
@pytest.mark.parametrize("name", ["fix", "root@pam"])
def test_every_version_and_every_login(version: str, name: str) -> None:
    """A password's ticket needs a second header for each write."""
    with Lab(version=version, pace=0) as lab:
        before = lab.tree()
        with guest(lab, "103", name) as it:
            old = it.read()
            it.write(old, Setting("kvm64,flags=+aes"))
            assert it.read().value == "kvm64,flags=+aes"
            it.write(it.read(), Setting("custom-nas"))
            it.shut_down(5, force=False)
            it.start(5)
            it.write(it.read(), old)
            it.shut_down(5, force=False)
        assert lab.tree() == before


def test_a_line_that_proxmox_drops_counts_as_unset_and_is_gone_after_a_write(lab: Lab) -> None:
    """Proxmox VE tells of no such line and removes it with any write."""
    path = "nodes/pve4/qemu-server/133.conf"
    with guest(lab, "133") as it:
        old = it.read()
        assert old.value is None
        it.write(old, Setting("host"))
        it.write(it.read(), old)
    assert "cpu:" not in lab.tree()[path]
    assert "PENDING" not in lab.tree()[path]
