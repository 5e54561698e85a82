"""What changed between two audits: found whole, in any order, and mirrored."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from support.compared import (
    audit,
    by_change,
    compared,
    having,
    mutated,
    rendered,
    shuffled,
    without,
)
from support.report_document import inventory as rich
from unmask.dialects import audit_report
from unmask.engine import _finding_changes, diff, site
from unmask.engine._presence import likeness
from unmask.model.difference import Change, Difference, Passage, WorkloadChange
from unmask.model.finding import Accepted, Finding, Severity
from unmask.model.inventory import Inventory

SEEDS = range(40)


def passages(difference: Difference) -> set[tuple[str, Passage]]:
    return {(item.subject, item.passage) for item in difference.passings}


@pytest.mark.parametrize("seed", SEEDS)
def test_an_audit_does_not_differ_from_itself(seed: int) -> None:
    found = compared(mutated(seed), mutated(seed))
    assert {item.change for item in found.findings} <= {Change.UNCHANGED}
    assert len(found.findings) == len(audit(mutated(seed)).findings)
    assert (found.passings, found.cpus, found.workloads) == ((), (), ())
    assert (found.gaps, found.skips) == (((), ()), ((), ()))
    assert diff.exit_code(found, Severity.INFO) == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_old_and_new_in_each_others_places_say_the_same_mirrored(seed: int) -> None:
    old, new = audit(mutated(seed)), audit(mutated(seed + 1000))
    there, back = diff.compare(old, new), diff.compare(new, old)

    def keys(found: Difference, *, mirror: bool) -> Counter[tuple[str, str, str]]:
        return Counter(
            (
                str(item.change.mirrored if mirror else item.change),
                item.shown.code,
                item.shown.subject,
            )
            for item in found.findings
        )

    assert keys(there, mirror=False) == keys(back, mirror=True)
    turned = {
        Passage.CAME: Passage.WENT,
        Passage.WENT: Passage.CAME,
        Passage.SEEN: Passage.UNSEEN,
        Passage.UNSEEN: Passage.SEEN,
        Passage.MOVED: Passage.MOVED,
        Passage.RENAMED: Passage.RENAMED,
    }
    assert passages(there) == {(subject, turned[one]) for subject, one in passages(back)}
    assert {(c.subject, c.won, c.lost) for c in there.cpus} == {
        (c.subject, c.lost, c.won) for c in back.cpus
    }
    assert there.workloads == tuple(
        replace(item, before=item.after, after=item.before) for item in back.workloads
    )
    assert there.gaps == back.gaps[::-1]
    assert there.complete == back.complete


@pytest.mark.parametrize("seed", SEEDS)
def test_every_finding_is_accounted_for_once(seed: int) -> None:
    old, new = audit(mutated(seed)), audit(mutated(seed + 2000))
    found = diff.compare(old, new).findings
    assert sorted((f.before.code, f.before.subject) for f in found if f.before) == sorted(
        (item.code, item.subject) for item in old.findings
    )
    assert sorted((f.after.code, f.after.subject) for f in found if f.after) == sorted(
        (item.code, item.subject) for item in new.findings
    )


@pytest.mark.parametrize("seed", range(10))
def test_the_order_in_a_report_does_not_matter(seed: int) -> None:
    old, new = rendered(mutated(seed)), rendered(mutated(seed + 3000))
    plain = diff.compare(audit_report.load(old), audit_report.load(new))
    other = diff.compare(
        audit_report.load(shuffled(old, seed)), audit_report.load(shuffled(new, seed + 1))
    )
    for part in ("findings", "passings", "cpus", "workloads", "gaps", "skips", "notes"):
        assert getattr(plain, part) == getattr(other, part), part


def test_a_changed_cpu_is_told_with_its_flags() -> None:
    host = next(guest for guest in rich().guests if guest.configured.brief == "host")
    old = having(rich(), "coast/103", lambda g: replace(g, running=None))
    new = having(old, "coast/103", lambda g: replace(g, configured=host.configured))
    found = compared(old, new)
    (cpu,) = found.cpus
    assert (cpu.what, cpu.subject, cpu.after) == ("guest", "coast/103", "host")
    assert "pclmulqdq" in cpu.won
    assert cpu.lost == ()


def test_a_moved_guest_is_one_line() -> None:
    guest = rich().guests[0]
    other = next(h for h in rich().hosts if h.cluster == "coast" and h.subject != guest.host)
    found = compared(
        rich(), having(rich(), guest.subject, lambda g: replace(g, host=other.subject))
    )
    (moved,) = found.passings
    assert (moved.subject, moved.passage, moved.target) == (
        guest.subject, Passage.MOVED, other.name,
    )  # fmt: skip


def test_a_vmid_with_another_name_is_said() -> None:
    found = compared(rich(), having(rich(), "coast/103", lambda g: replace(g, name="another")))
    assert passages(found) == {("coast/103", Passage.RENAMED)}
    assert found.passings[0].note.startswith("it was called ")


def two_halls() -> Inventory:
    """Return the rich inventory with a second libvirt host."""
    hall = next(host for host in rich().hosts if host.subject == "hall")
    return replace(rich(), hosts=(*rich().hosts, replace(hall, subject="shed", name="shed")))


def test_a_libvirt_domain_that_moved_is_known_by_its_uuid() -> None:
    new = having(two_halls(), "hall/mail", lambda g: replace(g, subject="shed/mail", host="shed"))
    found = compared(two_halls(), new)
    (moved,) = found.passings
    assert (moved.passage, moved.subject, moved.origin, moved.target) == (
        Passage.MOVED, "shed/mail", "hall", "shed",
    )  # fmt: skip
    assert moved.note == "it was hall/mail"
    changes = {
        item.change for item in found.findings if item.shown.subject in ("hall/mail", "shed/mail")
    }
    assert changes <= {Change.UNCHANGED, Change.CHANGED}
    assert changes
    assert found.skips == ((), ())


def test_a_uuid_that_several_have_tells_nothing() -> None:
    def shed(subject: str) -> Inventory:
        base = two_halls()
        mail = next(guest for guest in base.guests if guest.subject == "hall/mail")
        twin = replace(mail, subject=subject, host="shed", name="twin")
        return replace(base, guests=(*base.guests, twin))

    found = compared(shed("shed/a"), shed("shed/b"))
    assert passages(found) == {("shed/b", Passage.CAME), ("shed/a", Passage.WENT)}


def test_a_guest_that_went_takes_its_findings_along() -> None:
    found = compared(rich(), without(rich(), "coast/103"))
    assert passages(found) == {("coast/103", Passage.WENT)}
    gone = [item for item in found.findings if item.shown.subject == "coast/103"]
    assert gone
    assert {(item.change, item.note) for item in gone} == {
        (Change.GONE, "it is not there any more")
    }


def test_a_guest_that_came() -> None:
    found = compared(without(rich(), "coast/103"), rich())
    assert passages(found) == {("coast/103", Passage.CAME)}
    assert ("SEC001", "coast/103") in by_change(found)[Change.NEW]
    assert diff.exit_code(found, Severity.LOW) == 1
    assert diff.exit_code(found, None) == 0


def test_a_severity_that_rose_counts_as_new() -> None:
    old = audit(rich())
    first = old.findings[-1]
    high = replace(first, problem=replace(first.problem, severity=Severity.CRITICAL))
    new = replace(old, findings=(*old.findings[:-1], high))
    assert diff.exit_code(diff.compare(old, new), Severity.CRITICAL) == 1
    assert diff.exit_code(diff.compare(new, old), Severity.INFO) == 0
    (changed,) = [f for f in diff.compare(old, new).findings if f.change is Change.CHANGED]
    assert (changed.before, changed.after) == (first, high)


def test_numbers_in_a_sentence_make_no_other_finding() -> None:
    old = audit(rich())
    first = old.findings[0]

    def said(text: str) -> tuple[Change, ...]:
        other = replace(first, problem=replace(first.problem, message=text))
        new = replace(old, findings=(other, *old.findings[1:]))
        base = replace(
            old,
            findings=(
                replace(first, problem=replace(first.problem, message="keeps 12 %")),
                *old.findings[1:],
            ),
        )
        return tuple(
            f.change
            for f in diff.compare(base, new).findings
            if (f.shown.code, f.shown.subject) == (first.code, first.subject)
        )

    assert Change.UNCHANGED in said("keeps 13 %")
    assert Change.CHANGED not in said("keeps 13 %")
    assert Change.CHANGED in said("keeps nothing")


def test_of_several_findings_of_one_code_each_is_known_by_its_sentence() -> None:
    base = audit(rich())
    first = base.findings[0]

    def having_said(*texts: str) -> tuple[Finding, ...]:
        return tuple(replace(first, problem=replace(first.problem, message=t)) for t in texts)

    old = replace(base, findings=having_said("a", "b"))
    new = replace(base, findings=having_said("c", "a"))
    found = [(f.change, f.shown.problem.message) for f in diff.compare(old, new).findings]
    assert found == [(Change.NEW, "c"), (Change.GONE, "b"), (Change.UNCHANGED, "a")]


def test_thousands_of_findings_of_one_subject_are_not_compared_each_with_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = Counter[str]()

    def counted(text: str) -> str:
        calls["likeness"] += 1
        return likeness(text)

    monkeypatch.setattr(_finding_changes, "likeness", counted)
    base = audit(rich())
    one = base.findings[0]

    def many(letter: str) -> tuple[Finding, ...]:
        said = [letter * (n + 1) for n in range(300)]
        return tuple(replace(one, problem=replace(one.problem, message=text)) for text in said)

    old, new = replace(base, findings=many("o")), replace(base, findings=many("n"))
    agreed = tuple(Accepted(finding, "why", "") for finding in many("a"))
    found = diff.compare(old, replace(new, accepted=agreed)).findings
    assert Counter(item.change for item in found) == {Change.GONE: 300, Change.NEW: 300}
    assert calls["likeness"] < 10 * 900


def test_a_workload_that_became_fast() -> None:
    old = audit(rich())
    guest = next(guest for guest in old.guests if guest.workloads)
    load = guest.workloads[0]
    faster = replace(guest, workloads=(replace(load, status="hardware"), *guest.workloads[1:]))
    new = replace(old, guests=tuple(faster if g is guest else g for g in old.guests))
    assert diff.compare(old, new).workloads == (
        WorkloadChange(guest.subject, guest.name, load.kind, load.name, load.status, "hardware"),
    )


def test_a_site_that_got_a_name_is_said() -> None:
    found = compared(rich(), site.of_site(rich(), "berlin"))
    assert any("names no site" in note for note in found.notes)
    assert not found.complete
    assert not any(item.change in (Change.GONE, Change.NEW) for item in found.findings)
