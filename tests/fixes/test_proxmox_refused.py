"""Changes that the lab's API refuses, or whose answer is lost: the guest is as it was."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support import fix_lab
from support.fix_lab import NAS, PUT, USERS, changed, edit, guest, reads_only
from unmask.errors import TargetError, UnmaskError, UsageError
from unmask.fixes._target import ChangedError, RefusedError
from unmask.lab.lab import Lab
from unmask.model.change import Setting


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    fix_lab.impatient(monkeypatch)


@pytest.fixture
def lab() -> Iterator[Lab]:
    with Lab(pace=0) as made:
        yield made


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
    assert lab.counts()[PUT] == 1


def test_a_write_whose_answer_was_lost_is_looked_for(lab: Lab) -> None:
    before = lab.tree()
    with guest(lab) as it:
        old = it.read()
        lab.set_fault("truncated=1@/config")
        it.write(old, Setting("host"))
        assert it.read().value == "host"
    assert changed(lab, before) == {NAS: ("", "[PENDING]\ncpu: host")}
    assert lab.counts()[PUT] == 1


def test_a_login_that_is_refused_in_between_has_written_nothing(lab: Lab) -> None:
    before = lab.tree()
    with guest(lab) as it:
        old = it.read()
        lab.set_fault("401-mid-run=0")
        with pytest.raises(UnmaskError, match="is not accepted any more"):
            it.write(old, Setting("host"))
    assert lab.tree() == before
