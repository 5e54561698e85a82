"""Guests of the lab whose CPU is changed by way of its API: old or new, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest

from support import lab_target
from unmask.errors import TargetError, UnmaskError, UsageError
from unmask.fixes import _pve_guest
from unmask.fixes._pve_guest import PveGuest
from unmask.fixes._target import ChangedError, RefusedError, open_target
from unmask.fixes.proxmox import TARGET
from unmask.lab.lab import Lab
from unmask.model.access import Access
from unmask.model.change import Place, Setting
from unmask.model.inventory import GuestState, Platform
from unmask.model.source import CollectOptions

NAS = "nodes/pve1/qemu-server/101.conf"
USERS = "user.cfg"


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SETTLES", "GRACE", "HA_GRACE"):
        monkeypatch.setattr(_pve_guest, name, 0.4)
    monkeypatch.setattr(_pve_guest, "PAUSE", 0.05)


@pytest.fixture
def lab() -> Iterator[Lab]:
    with Lab(pace=0) as made:
        yield made


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


def test_fits_the_api_only() -> None:
    assert TARGET.fits("pve://pve1.example")
    assert not TARGET.fits("pve+ssh://pve1.example")


def test_a_target_without_a_login_is_refused() -> None:
    place = Place("pve://pve1.example", "x", "101", "x", Platform.PROXMOX)
    with pytest.raises(TargetError, match="no token or password"):
        open_target(place, CollectOptions())


def test_reading_tells_value_and_digest_and_sends_reads_only(lab: Lab) -> None:
    with guest(lab) as it:
        assert it.read() == Setting("x86-64-v2", lab.cluster.digest(NAS))
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
    assert lab.counts()["PUT /nodes/{node}/qemu/{vmid}/config"] == 2


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


def test_what_a_stop_made_of_it_is_undone_too(lab: Lab) -> None:
    before = lab.tree()
    with guest(lab) as it:
        old = it.read()
        it.write(old, Setting("host"))
        it.shut_down(5, force=False)
        it.start(5)
        assert lab.cpu_argument(101).startswith("host")
        it.write(it.read(), old)
        assert "host waits" not in it.takes_hold()
        assert "x86-64-v2 waits" in it.takes_hold()
        it.shut_down(5, force=False)
        it.start(5)
    assert lab.tree() == before
    assert not lab.cpu_argument(101).startswith("host")


def test_somebody_elses_change_of_the_cpu_is_left_alone(lab: Lab) -> None:
    with guest(lab) as it:
        old = it.read()
        edit(lab, NAS, "cpu: x86-64-v2", "cpu: max")
        before = lab.tree()
        with pytest.raises(ChangedError, match="cpu is max now and was x86-64-v2"):
            it.write(old, Setting("host"))
    assert lab.tree() == before
    assert reads_only(lab)


def test_somebody_elses_change_of_anything_stops_it(lab: Lab) -> None:
    with guest(lab) as it:
        old = it.read()
        edit(lab, NAS, "memory: 32768", "memory: 16384")
        before = lab.tree()
        with pytest.raises(ChangedError, match="has changed since it was read"):
            it.write(old, Setting("host"))
    assert lab.tree() == before
    assert reads_only(lab)


def test_a_change_between_look_and_write_is_found_by_the_digest(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    with guest(lab) as it:
        old = it.read()
        way = it._way
        real = way.change

        def late(*words: object) -> None:
            edit(lab, NAS, "memory: 32768", "memory: 16384")
            real(*words)  # type: ignore[arg-type]

        monkeypatch.setattr(type(way), "change", lambda _self, *words: late(*words))
        with pytest.raises(ChangedError, match="in the meantime"):
            it.write(old, Setting("host"))
    assert "cpu: x86-64-v2" in lab.tree()[NAS]
    assert "PENDING" not in lab.tree()[NAS]


def test_a_journal_without_a_digest_writes_nothing(lab: Lab) -> None:
    with guest(lab) as it, pytest.raises(ChangedError):
        it.write(Setting("x86-64-v2", ""), Setting("host"))
    assert reads_only(lab)


def test_without_the_privilege_it_is_named(lab: Lab) -> None:
    before = lab.tree()
    with guest(lab, name="audit") as it:
        with pytest.raises(RefusedError, match=r"it lacks VM\.Config\.CPU on /vms/101"):
            it.write(it.read(), Setting("host"))
        with pytest.raises(RefusedError, match=r"it lacks VM\.PowerMgmt on /vms/101"):
            it.shut_down(1, force=False)
    assert lab.tree() == before


def test_another_privilege_on_options_is_not_enough(lab: Lab) -> None:
    edit(lab, USERS, "VM.Config.CPU", "VM.Config.Memory")
    before = lab.tree()
    with guest(lab) as it, pytest.raises(RefusedError, match=r"lacks VM\.Config\.CPU on /vms/101"):
        it.write(it.read(), Setting("host"))
    assert lab.tree() == before


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


def test_a_custom_model_that_may_not_be_used_is_named(lab: Lab) -> None:
    edit(lab, USERS, "acl:1:/mapping/cpu:fix@pve:ModelAdmin:\n", "")
    before = lab.tree()
    with guest(lab) as it:
        with pytest.raises(RefusedError, match=r"it lacks Mapping\.Use on /mapping/cpu/nas"):
            it.write(it.read(), Setting("custom-nas"))
        with pytest.raises(RefusedError, match=r"it lacks Mapping\.Modify on /mapping/cpu"):
            it.make_model("cpu-model: mine\n\treported-model qemu64\n\n")
    assert lab.tree() == before


def test_a_model_that_is_not_there_is_named(lab: Lab) -> None:
    before = lab.tree()
    with guest(lab) as it:
        with pytest.raises(RefusedError, match="no custom model nowhere"):
            it.write(it.read(), Setting("custom-nowhere"))
        with pytest.raises(RefusedError, match="no CPU model Nowhere"):
            it.write(it.read(), Setting("Nowhere"))
        with pytest.raises(RefusedError, match="takes only these flags at a guest"):
            it.write(it.read(), Setting("host,flags=+avx"))
        with pytest.raises(UsageError, match="cannot be made"):
            it.make_model("nonsense")
    assert lab.tree() == before


def test_old_versions_cannot_make_models_by_their_api() -> None:
    with Lab(version="8.4", pace=0) as lab, guest(lab) as it:
        with pytest.raises(RefusedError, match=r"pve\+ssh://"):
            it.make_model("cpu-model: mine\n\treported-model qemu64\n\n")
        it.write(it.read(), Setting("host"))
        assert it.read().value == "host"


def test_a_locked_guest_is_refused(lab: Lab) -> None:
    before = lab.tree()
    with guest(lab, "113") as it:
        with pytest.raises(RefusedError, match=r"is locked \(backup\).*`qm unlock 113`"):
            it.write(it.read(), Setting("kvm64"))
        with pytest.raises(RefusedError, match=r"is locked \(backup\)"):
            it.start(1)
    assert lab.tree() == before


def test_without_quorum_nothing_is_written(lab: Lab) -> None:
    before = lab.tree()
    with guest(lab) as it:
        lab.set_fault("no-quorum")
        with pytest.raises(RefusedError, match="has no quorum"):
            it.write(it.read(), Setting("host"))
        with pytest.raises(RefusedError, match="has no quorum"):
            it.make_model("cpu-model: mine\n\treported-model qemu64\n\n")
    assert lab.tree() == before


def test_a_template_is_changed_but_not_started(lab: Lab) -> None:
    before = lab.tree()
    with guest(lab, "104") as it:
        old = it.read()
        it.write(old, Setting("x86-64-v3"))
        with pytest.raises(RefusedError, match="is a template"):
            it.start(1)
        it.write(it.read(), old)
    assert lab.tree() == before


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


def test_a_guest_that_does_not_react_is_left_on(lab: Lab) -> None:
    with guest(lab, "122") as it:
        with pytest.raises(RefusedError, match="did not do what it was asked to in time"):
            it.shut_down(1, force=False)
        assert it.state() is GuestState.RUNNING
        it.shut_down(1, force=True)
        assert it.state() is GuestState.STOPPED
        it.shut_down(1, force=False)


def test_a_start_that_fails_says_what_its_task_has_logged(lab: Lab) -> None:
    with guest(lab, "111") as it:
        it.write(it.read(), Setting("EPYC-Genoa"))
        with pytest.raises(RefusedError, match=r"QEMU exited with code 1.*Host doesn't support"):
            it.start(1)
        assert it.state() is GuestState.STOPPED


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


@pytest.mark.parametrize("fault", ["resets=1@/config", "5xx=1@/config", "html=1@/config"])
def test_a_write_that_never_arrived_leaves_it_as_it_was(lab: Lab, fault: str) -> None:
    before = lab.tree()
    with guest(lab) as it:
        old = it.read()
        lab.set_fault(fault)
        with pytest.raises(TargetError, match=r"was lost .* cpu is still x86-64-v2"):
            it.write(old, Setting("host"))
        assert it.read() == old
    assert lab.tree() == before
    assert lab.counts()["PUT /nodes/{node}/qemu/{vmid}/config"] == 1


def test_a_write_whose_answer_was_lost_is_looked_for(lab: Lab) -> None:
    before = lab.tree()
    with guest(lab) as it:
        old = it.read()
        lab.set_fault("truncated=1@/config")
        it.write(old, Setting("host"))
        assert it.read().value == "host"
    assert changed(lab, before) == {NAS: ("", "[PENDING]\ncpu: host")}
    assert lab.counts()["PUT /nodes/{node}/qemu/{vmid}/config"] == 1


@pytest.mark.parametrize("fault", ["truncated=1@/status/s", "resets=1@/status/shutdown"])
def test_a_lost_answer_to_a_shutdown_ends_in_what_is_so(lab: Lab, fault: str) -> None:
    arrives = fault.startswith("truncated")
    with guest(lab) as it:
        it.read()
        lab.set_fault(fault)
        if arrives:
            it.shut_down(0.3, force=False)
        else:
            with pytest.raises(RefusedError, match="was not off within"):
                it.shut_down(0.3, force=False)
        lab.clear_faults()
        assert (it.state() is GuestState.STOPPED) is arrives


def test_a_login_that_is_refused_in_between_has_written_nothing(lab: Lab) -> None:
    before = lab.tree()
    with guest(lab) as it:
        old = it.read()
        lab.set_fault("401-mid-run=0")
        with pytest.raises(UnmaskError, match="is not accepted any more"):
            it.write(old, Setting("host"))
    assert lab.tree() == before


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


def test_a_guest_of_high_availability_is_only_stopped_with_force(lab: Lab) -> None:
    with guest(lab, "125") as it:
        with pytest.raises(RefusedError, match="--force-stop"):
            it.shut_down(1, force=False)
        assert it.state() is GuestState.RUNNING
        assert reads_only(lab)
        it.shut_down(1, force=True)
        assert it.state() is GuestState.STOPPED
        it.start(1)
        assert it.state() is GuestState.RUNNING
