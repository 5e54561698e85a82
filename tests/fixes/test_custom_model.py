"""A custom model is made right before the guest gets it, or the guest is not touched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support import fake_target, fix_lab
from support.fake_target import FakeTarget
from support.fix_lab import NAS, USERS, changed, edit, guest
from unmask.errors import TargetError
from unmask.fixes import custom_model, run
from unmask.fixes._target import RefusedError
from unmask.fixes.journal import Journal
from unmask.fixes.run import Hooks, Orders, Outcome
from unmask.lab.lab import Lab
from unmask.model.change import Phase, Plan, Setting
from unmask.model.run import RunKind

SECTION = "cpu-model: mine\n\tflags +aes;+pclmulqdq\n\treported-model qemu64\n\n"
MODELS = "virtual-guest/cpu-models.conf"


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    fix_lab.impatient(monkeypatch)
    with Lab(pace=0) as made:
        yield made


def apply(lab: Lab, folder: Path, section: str = SECTION) -> Outcome:
    """Give 101 the model, as `unmask fix` does."""
    with guest(lab) as it:
        place = fake_target.place("101", f"pve://{lab.address}")
        plan = Plan(place, "custom-mine", it.read(), Setting("custom-mine"), custom_model=section)
        book = Journal(folder)
        with book.begin(RunKind.FIX) as writer:
            hooks = Hooks(lambda _place: it, prepare=custom_model.make)
            (outcome,) = run.apply([plan], writer, book, hooks, Orders())
    return outcome


def test_it_is_made_first(lab: Lab, tmp_path: Path) -> None:
    before = lab.tree()
    outcome = apply(lab, tmp_path)
    assert (outcome.phase, outcome.problem) == (Phase.DONE, "")
    found = changed(lab, before)
    assert found == {
        NAS: ("", "[PENDING]\ncpu: custom-mine"),
        MODELS: ("", SECTION.rstrip("\n")),
    }
    assert [seen.method for seen in lab.seen if seen.method != "GET"] == ["POST", "PUT"]


def test_one_that_cannot_be_made_leaves_the_guest_alone(lab: Lab, tmp_path: Path) -> None:
    edit(lab, USERS, ",Mapping.Modify,", ",")
    before = lab.tree()
    outcome = apply(lab, tmp_path)
    assert outcome.phase is Phase.REFUSED
    assert "lacks Mapping.Modify on /mapping/cpu" in outcome.problem
    assert lab.tree() == before


def test_another_one_of_that_name_leaves_both_alone(lab: Lab, tmp_path: Path) -> None:
    with guest(lab) as it:
        it.make_model(SECTION.replace("qemu64", "kvm64"))
    before = lab.tree()
    outcome = apply(lab, tmp_path)
    assert outcome.phase is Phase.REFUSED
    assert "another custom model mine" in outcome.problem
    assert lab.tree() == before


def test_a_lost_answer_is_looked_for(lab: Lab) -> None:
    with guest(lab) as it:
        it.read()
        lab.set_fault("truncated=2@cpu-models")
        it.make_model(SECTION)
    assert SECTION in lab.tree()[MODELS]
    assert lab.counts()["POST /cluster/qemu/custom-cpu-models"] == 1


def test_a_request_that_was_lost_is_not_sent_again(lab: Lab) -> None:
    before = lab.tree()
    with guest(lab) as it:
        it.read()
        lab.set_fault("resets=2@cpu-models")
        with pytest.raises(TargetError, match="whether the model mine was made is not known"):
            it.make_model(SECTION)
    assert lab.tree() == before
    assert lab.counts()["POST /cluster/qemu/custom-cpu-models"] == 1


def test_a_target_without_custom_models() -> None:
    place = fake_target.place()
    plain = Plan(place, "host", Setting(None), Setting("host"))
    custom_model.make(plain, FakeTarget())
    plan = Plan(place, "custom-mine", Setting(None), Setting("custom-mine"), custom_model=SECTION)
    with pytest.raises(RefusedError, match="has no custom models"):
        custom_model.make(plan, FakeTarget())
