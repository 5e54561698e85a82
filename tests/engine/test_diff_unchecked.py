"""What could not be checked is never called gone, and never silently new."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support import rule_case
from support.compared import RULES, audit, by_change, compared, having, mutated, without
from support.report_document import inventory as rich
from unmask.engine import diff
from unmask.engine._presence import BY_CONFIGURATION
from unmask.model.difference import (
    Audit,
    Change,
    Difference,
    FindingChange,
    Passage,
    SeenGuest,
)
from unmask.model.finding import Finding, Severity
from unmask.model.inventory import Gap, GuestState, Inventory
from unmask.model.reading import Missing
from unmask.model.visit import UNVISITED

LOOKED_INTO = "coast/101"
"""A guest whose ZFS somebody has seen from inside."""


def about(found: Difference, code: str, subject: str) -> FindingChange:
    (item,) = [
        item for item in found.findings if (item.shown.code, item.shown.subject) == (code, subject)
    ]
    return item


def blind(inventory: Inventory, subject: str = LOOKED_INTO) -> Inventory:
    return having(inventory, subject, lambda guest: replace(guest, visit=UNVISITED))


def test_a_workload_that_nobody_looked_for_is_not_gone() -> None:
    found = compared(rich(), blind(rich()))
    item = about(found, "CRY001", LOOKED_INTO)
    assert (item.change, item.note) == (Change.UNCHECKED, "nobody looked inside")
    assert {(one.before, one.after) for one in found.workloads} == {("software", "not seen")}
    assert not found.complete
    assert diff.exit_code(found, None, strict=True) == 3
    assert diff.exit_code(found, Severity.INFO) == 0


def test_a_workload_that_was_not_looked_for_before_is_new_to_see_and_fails() -> None:
    found = compared(blind(rich()), rich())
    item = about(found, "CRY001", LOOKED_INTO)
    assert (item.change, item.note) == (Change.SEEN, "nobody looked inside")
    assert diff.exit_code(found, Severity.HIGH) == 1


def test_why_nobody_got_in_is_said() -> None:
    shut = Missing("the agent did not answer")
    closed = having(rich(), LOOKED_INTO, lambda g: replace(g, visit=replace(g.visit, inside=shut)))
    item = about(compared(rich(), closed), "CRY001", LOOKED_INTO)
    assert item.note == "nobody looked inside: the agent did not answer"


def test_what_the_configuration_decides_is_gone_whoever_looked() -> None:
    host = next(guest for guest in rich().guests if guest.configured.brief == "host")
    codes = {code for code, _ in by_change(compared(rich(), rich()))[Change.UNCHANGED]}
    assert codes & BY_CONFIGURATION
    fixed = having(
        rich(), "coast/105", lambda g: replace(g, configured=host.configured, running=None)
    )
    found = compared(rich(), blind(fixed, "coast/105"))
    assert not by_change(found).get(Change.UNCHECKED)


@pytest.mark.parametrize("seed", range(30))
def test_rules_of_the_configuration_do_not_need_a_look_inside(seed: int) -> None:
    inventory = mutated(seed)
    outside = replace(
        inventory, guests=tuple(replace(g, visit=UNVISITED) for g in inventory.guests)
    )
    looked, blinded = (
        {(f.code, f.subject) for f in audit(each).findings if f.code in BY_CONFIGURATION}
        for each in (inventory, outside)
    )
    assert looked <= blinded


@pytest.mark.parametrize("seed", range(30))
def test_nothing_is_gone_because_everybody_was_shut_out(seed: int) -> None:
    inventory = mutated(seed)
    outside = replace(
        inventory, guests=tuple(replace(g, visit=UNVISITED) for g in inventory.guests)
    )
    found = compared(inventory, outside)
    assert not by_change(found).get(Change.GONE, set()) & {
        (item.code, item.subject) for item in audit(inventory).findings
    }


def test_a_rule_that_was_not_run_says_nothing() -> None:
    some = tuple(rule for rule in RULES if not rule.code.startswith("SEC"))
    found = diff.compare(audit(rich()), audit(rich(), some))
    assert by_change(found)[Change.UNCHECKED] == {
        (item.code, item.subject) for item in audit(rich()).findings if item.code == "SEC001"
    }
    assert {item.note for item in found.findings if item.note} == {"SEC001 was not run"}
    assert found.notes[0] == "Only the older one was judged by SEC001."
    assert not found.complete


def test_a_report_that_does_not_tell_its_rules_is_not_trusted_to_have_run_them() -> None:
    old, new = audit(rich()), replace(audit(rich()), rules=())
    gone = replace(new, findings=tuple(f for f in new.findings if f.code != "CRY001"))
    item = about(diff.compare(old, gone), "CRY001", LOOKED_INTO)
    assert (item.change, item.note) == (Change.UNCHECKED, "whether CRY001 ran is open")
    one = about(diff.compare(old, replace(gone, rules=old.rules)), "CRY001", LOOKED_INTO)
    assert one.change is Change.GONE


def test_a_skipped_check_is_no_clean_one() -> None:
    old = audit(rich())
    skip = replace(old.skips[0], code="SEC001", subject="coast/103", reason="no flags")
    kept = tuple(f for f in old.findings if (f.code, f.subject) != ("SEC001", "coast/103"))
    assert len(kept) < len(old.findings)
    found = diff.compare(old, replace(old, findings=kept, skips=(*old.skips, skip)))
    item = about(found, "SEC001", "coast/103")
    assert (item.change, item.note) == (Change.UNCHECKED, "no flags")
    assert found.skips[0] == (skip,)


@pytest.mark.parametrize(
    ("gap", "hidden"),
    [
        ("coast/103", True),
        ("coast/gull", True),
        ("coast", True),
        ("pve://coast", True),
        ("copy/nodes/x/qemu-server/103.conf", True),
        ("harbour", False),
        ("coast/102", False),
        ("hall", False),
    ],
)
def test_a_guest_that_a_gap_may_hide_is_not_gone(gap: str, hidden: bool) -> None:  # noqa: FBT001
    new = without(rich(), "coast/103")
    found = compared(rich(), replace(new, gaps=(*new.gaps, Gap(gap, "it did not answer"))))
    (item,) = found.passings
    assert item.passage is (Passage.UNSEEN if hidden else Passage.WENT)
    change = Change.UNCHECKED if hidden else Change.GONE
    assert about(found, "SEC001", "coast/103").change is change
    assert ("it did not answer" in item.note) is hidden


def test_a_gap_that_was_there_before_hides_nothing_that_was_seen() -> None:
    gap = Gap("coast/gull", "its CPU was not read within 60 s")
    old = replace(rich(), gaps=(*rich().gaps, gap))
    later = replace(gap, reason="its CPU was not read within 30 s")
    new = replace(without(rich(), "coast/103"), gaps=(*rich().gaps, later))
    found = compared(old, new)
    assert found.passings[0].passage is Passage.WENT
    assert found.gaps == ((), ())


def test_a_cluster_of_which_nothing_was_read_is_not_gone() -> None:
    new = replace(
        rich(),
        clusters=tuple(c for c in rich().clusters if c.subject != "harbour"),
        hosts=tuple(h for h in rich().hosts if h.cluster != "harbour"),
        guests=tuple(g for g in rich().guests if not g.subject.startswith("harbour/")),
    )
    found = compared(rich(), new)
    assert found.passings
    assert {(item.passage, item.note) for item in found.passings} == {
        (Passage.UNSEEN, "nothing of harbour was read")
    }
    assert not by_change(found).get(Change.GONE)


def dark(inventory: Inventory, subject: str) -> Inventory:
    """Return the inventory with a node whose CPU could not be read."""
    unread = Missing("no answer")
    return replace(
        inventory,
        hosts=tuple(replace(h, cpu=unread) if h.subject == subject else h for h in inventory.hosts),
    )


def test_what_another_node_could_not_run_is_not_gone_where_its_flags_are_not_known() -> None:
    hosts = {"lab/one": "cascadelake", "lab/two": "nehalem"}
    old = rule_case.inventory(hosts, [{"cpu": "x86-64-v3"}])
    item = about(compared(old, dark(old, "lab/two")), "CPU005", "lab/101")
    assert (item.change, item.note) == (Change.UNCHECKED, "the flags of lab/two are not known")
    able = rule_case.inventory({**hosts, "lab/two": "cascadelake"}, [{"cpu": "x86-64-v3"}])
    assert about(compared(old, able), "CPU005", "lab/101").change is Change.GONE


def test_the_only_guest_of_a_node_of_which_nothing_was_read_is_not_gone() -> None:
    hosts = {"lab/one": "cascadelake", "lab/two": "cascadelake"}
    guests = [{}, {"subject": "lab/102", "host": "lab/two"}]
    old = rule_case.inventory(hosts, guests)
    less = without(old, "lab/102")
    (hidden,) = compared(old, dark(less, "lab/two")).passings
    assert (hidden.passage, hidden.note) == (Passage.UNSEEN, "nothing of lab/two was read")
    assert [item.passage for item in compared(old, less).passings] == [Passage.WENT]


def test_what_runs_is_not_gone_where_only_its_configuration_was_read() -> None:
    kvm64, other = rule_case.spec("kvm64"), rule_case.spec("host")
    old = rule_case.inventory({"lab/one": "cascadelake"}, [{"cpu": "host", "running": "kvm64"}])
    (guest,) = old.guests
    assert (guest.running, guest.configured) == (kvm64, other)
    copy = having(
        old, "lab/101", lambda g: replace(g, running=None, pending=None, state=GuestState.UNKNOWN)
    )
    item = about(compared(old, copy), "CPU001", "lab/101")
    assert item.change is Change.UNCHECKED
    assert item.note.startswith("what was read does not tell whether the guest runs")
    restarted = having(old, "lab/101", lambda g: replace(g, running=other, pending=None))
    assert about(compared(old, restarted), "CPU001", "lab/101").change is Change.GONE


def test_what_disks_showed_is_not_gone_where_a_look_inside_shows_less() -> None:
    old = audit(rich())
    guest = next(g for g in old.guests if g.subject == LOOKED_INTO)
    outside = replace(guest, looks=frozenset({"disks"}), lacks=())
    inside = replace(guest, looks=frozenset({"inside"}), lacks=(("luks_headers", "not root"),))
    kept = tuple(f for f in old.findings if f.code != "CRY001")

    def with_guest(seen: SeenGuest, findings: tuple[Finding, ...]) -> Audit:
        every = tuple(seen if g is guest else g for g in old.guests)
        return replace(old, guests=every, findings=findings)

    then, now = with_guest(outside, old.findings), with_guest(inside, kept)
    item = about(diff.compare(then, now), "CRY001", LOOKED_INTO)
    assert (item.change, item.note) == (Change.UNCHECKED, "luks_headers: not root")
    whole = with_guest(replace(inside, lacks=()), kept)
    assert about(diff.compare(then, whole), "CRY001", LOOKED_INTO).change is Change.GONE


def test_the_gap_of_another_site_hides_nothing_here() -> None:
    from unmask.engine.merge import merge  # noqa: PLC0415
    from unmask.engine.site import of_site  # noqa: PLC0415

    def both(berlin: Inventory, gap: str) -> Inventory:
        one, two = of_site(berlin, "berlin"), of_site(rich(), "munich")
        made = merge([replace(one, targets=("a",)), replace(two, targets=("b",))]).inventory
        return replace(made, gaps=(*made.gaps, Gap(gap, "shut")) if gap else made.gaps)

    less = without(rich(), "coast/103")
    here = compared(both(rich(), ""), both(less, "berlin:pve://x"))
    there = compared(both(rich(), ""), both(less, "munich:pve://x"))
    assert here.passings[0].passage is Passage.UNSEEN
    assert there.passings[0].passage is Passage.WENT


def test_less_seen_inside_than_before_is_said() -> None:
    old = audit(rich())
    guest = next(g for g in old.guests if g.subject == LOOKED_INTO)
    poorer = replace(guest, lacks=(("zfs", "only root may see it"),))
    kept = tuple(f for f in old.findings if f.code != "CRY001")
    new = replace(old, guests=tuple(poorer if g is guest else g for g in old.guests), findings=kept)
    item = about(diff.compare(old, new), "CRY001", LOOKED_INTO)
    assert (item.change, item.note) == (Change.UNCHECKED, "zfs: only root may see it")
    worse = replace(
        old.findings[0],
        problem=replace(old.findings[0].problem, severity=Severity.INFO, message="x"),
    )
    assert worse.subject == LOOKED_INTO
    changed = diff.compare(old, replace(new, findings=(worse, *old.findings[1:])))
    assert about(changed, worse.code, worse.subject).note == "now zfs: only root may see it"


def test_accepting_and_no_longer_accepting() -> None:
    from unmask.model.finding import Accepted  # noqa: PLC0415

    old = audit(rich())
    first = old.findings[0]
    agreed = replace(old, findings=old.findings[1:], accepted=(Accepted(first, "a toy", ""),))
    (there,) = [f for f in diff.compare(old, agreed).findings if f.change is not Change.UNCHANGED]
    assert (there.change, there.shown) == (Change.ACCEPTED, first)
    back = diff.compare(agreed, old)
    assert [f.change for f in back.findings if f.shown == first] == [Change.REOPENED]
    assert diff.exit_code(back, Severity.HIGH) == 1
    assert diff.exit_code(diff.compare(old, agreed), Severity.INFO) == 0
