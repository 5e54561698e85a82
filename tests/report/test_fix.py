"""The report on a change: safe for a terminal, within its width, and nothing said twice."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from unmask.model.change import Constraint, Gain, Place, Plan, Reach, Setting, Step
from unmask.model.fix import FixDocument, Result
from unmask.model.inventory import Gap, Platform
from unmask.model.report import Run
from unmask.report import _fix, _fix_diff, _fix_records
from unmask.report._paint import Paint

RUN = Run("0.1.0", "2026-12-01T10:00:00Z", ("pve://one",), complete=True)
EVIL = "web\x1b]0;title\x07\n\u202eevil"
PLACE = Place("pve://one", "lab/101", "101", EVIL, Platform.PROXMOX, "one")
PLAN = Plan(
    PLACE,
    "host",
    Setting("kvm64", "d1"),
    Setting("host"),
    gained=("aes", "pclmulqdq"),
    lost=("vme",),
    gains=(
        Gain(
            "zfs ta\x1b[31mnk", "software, keeps 0.6 %", "hardware", helps=True, why="It is fast."
        ),
    ),
    constraints=(
        Constraint("RST007", "It is locked.", fatal=True, remedy="Wait."),
        Constraint("RST001", "It runs.", acknowledged=True, remedy="Add --restart."),
    ),
    steps=(Step("Set cpu to host.", "qm set 101 --cpu host"),),
    reach=(Reach("two", "possible", "blocked"),),
    notes=("A note.",),
)
XML = Plan(
    Place("qemu:///system", "host/db", "uuid", EVIL, Platform.LIBVIRT),
    "Westmere",
    Setting("<cpu>\n    <model>qemu64</model>\n  </cpu>"),
    Setting("<cpu>\n    <model>Westmere</model>\n  </cpu>"),
)


def document(*plans: Plan, **more: object) -> FixDocument:
    return FixDocument(RUN, "host", plans, **more)  # type: ignore[arg-type]


def table(*plans: Plan, width: int = 100, **more: object) -> str:
    return _fix.render(document(*plans, **more), width, Paint(enabled=False))


@pytest.mark.parametrize("width", [0, 40, 80, 100])
def test_nothing_from_outside_reaches_the_terminal_as_it_is(width: int) -> None:
    gaps = (Gap("lab/101", "not \x1b[2Jentered"),)
    result = Result("lab/101", "written", "it is \x9b31m off", proof=("It sees \x07aes.",))
    text = table(PLAN, XML, width=width, gaps=gaps, results=(result,), run_id="r1")
    assert text.replace("\n", "").isprintable()
    assert "title" not in text
    if width:
        commands = [line for line in text.splitlines() if "$ " in line]
        assert all(len(line) <= width for line in text.splitlines() if line not in commands)


def test_what_is_fatal_is_marked_and_leaves_no_steps() -> None:
    text = table(PLAN)
    assert "RST007 It is locked. [stops it]\n         Wait." in text
    assert "qm set" not in text


def test_what_is_taken_on_needs_no_remedy() -> None:
    text = table(PLAN)
    assert "RST001 It runs. [acknowledged]" in text
    assert "Add --restart" not in text


def test_a_plan_has_all_its_parts() -> None:
    text = table(PLAN)
    for part in (
        "-cpu: kvm64", "+cpu: host", "A note.", "Flags gained: aes pclmulqdq", "Flags lost: vme",
        "software, keeps 0.6 %", "two  possible   blocked", "zfs tank: It is fast.",
    ):  # fmt: skip
        assert part in text


def test_a_patch_keeps_its_indentation() -> None:
    text = _fix_diff.render(document(XML))
    assert "\n-    <model>qemu64</model>\n+    <model>Westmere</model>\n   </cpu>\n" in text
    assert text.isascii()


def test_a_patch_has_a_custom_model_once() -> None:
    section = "cpu-model: nas\n\tflags +aes\n\treported-model kvm64\n\n"
    custom = replace(PLAN, after=Setting("custom-nas"), custom_model=section)
    text = _fix_diff.render(document(custom, custom))
    assert text.count("+cpu-model: nas\n") == 1
    assert text.count("+cpu: custom-nas\n") == 2


def test_nothing_to_change_is_no_patch() -> None:
    same = Plan(PLACE, "host", Setting("host"), Setting("host"))
    assert _fix_diff.render(document(same)) == ""
    assert "Nothing to change." in table(same)


def test_an_option_that_is_not_set_appears() -> None:
    text = _fix_diff.render(document(Plan(PLACE, "host", Setting(None), Setting("host"))))
    assert text.endswith("@@ -0,0 +1 @@\n+cpu: host\n")


def test_the_report_for_programs_is_ascii_and_whole() -> None:
    text = _fix_records.render(document(PLAN, refused=(("lab/102", "no"),), verdict="Nothing."))
    assert text.isascii()
    body = json.loads(text)
    assert body["guests"][0]["name"] == EVIL
    assert body["guests"][0]["constraints"][0]["fatal"] is True
    assert body["refused"] == [{"subject": "lab/102", "reason": "no"}]


def test_guests_without_a_plan_are_named_once() -> None:
    text = table(refused=(("lab/102", "lab/102: no such model"), ("lab/103", "gone")))
    assert "No plan for lab/102: no such model\n" in text
    assert "No plan for lab/103: gone\n" in text
