"""The table fits, says everything, and says it safely."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from support import golden
from support.documents import HOSTILE, document, finding, lab, many
from support.report_document import rich
from unmask.model.finding import Outcome, Problem, Severity
from unmask.model.inventory import Gap, GuestState, Inventory, Platform
from unmask.report.table import FORMAT, render, render_coloured, summary

ESCAPE = re.compile("\x1b\\[[0-9;]*m")
COMMANDS = ("unmask ", "qm ", "virsh ")
"""What a line begins with that may be wider than the terminal: it is to be copied."""


@pytest.mark.parametrize("width", [80, 120])
def test_the_page_is_as_expected(width: int) -> None:
    golden.check(f"report/lab-{width}.txt", render(document(), width))


@pytest.mark.parametrize("width", [80, 90, 100, 120, 200])
def test_no_line_but_a_command_is_wider_than_the_terminal(width: int) -> None:
    for line in render(document(), width).splitlines():
        assert len(line) <= width or line.lstrip().startswith(COMMANDS), line


def test_unlimited_width_neither_shortens_nor_leaves_out() -> None:
    text = render(document(), 0)
    assert "105 legacy-with-a-name-that-does-not-end" in text
    assert "..." not in text
    assert text.splitlines()[0].split() == [
        "GUEST", "NODE", "STATE", "CONFIGURED", "EFFECTIVE", "AES", "CLMUL", "LEVEL", "WORST",
        "FINDING",
    ]  # fmt: skip


def row(text: str, name: str) -> list[str]:
    line = next(line for line in text.splitlines() if name in line)
    return re.split(r"  +", line.strip())


def test_each_guest_says_what_it_sees() -> None:
    text = render(document(), 0)
    assert row(text, "101 nas")[5:] == ["yes", "no", "v2", "medium TST001"]
    assert row(text, "104 router")[5:8] == ["host", "host", "?"]
    assert row(text, "dns")[5:8] == ["yes", "yes", "n/a"]
    assert row(text, "900 debian")[2] == "template"
    assert row(text, "200 ct-proxy")[2] == "ct running"


def test_a_pending_change_shows_both_states() -> None:
    cells = row(render(document(), 0), "100 vpn-gateway")
    assert cells[3:7] == ["kvm64* > host", "kvm64 > host", "no > yes", "no > yes"]
    assert "b after a stop and start" in render(document(), 0)


def test_the_worst_finding_comes_first_wherever_it_is_in_the_list() -> None:
    mild = finding("TST001", "lab/100", "vpn", Problem(Severity.LOW, "mild"))
    bad = finding("TST009", "lab/100", "vpn", Problem(Severity.CRITICAL, "bad"))
    text = render(document(Outcome((mild, bad))), 0)
    assert row(text, "100 vpn-gateway")[-1] == "critical TST009 +1"
    assert text.index("CRITICAL TST009") < text.index("LOW TST001")


def test_marks_stay_when_the_state_has_no_room() -> None:
    text = render(document(), 80)
    assert "STATE" not in text.splitlines()[0]
    assert "(t) 900" in text
    assert "(ct) 200" in text
    assert "(t) a template" in text


def test_what_is_the_same_for_all_is_said_once() -> None:
    inventory = lab()
    guests = tuple(guest for guest in inventory.guests if guest.host == "lab/one")[:3]
    text = render(document(Outcome(), replace(inventory, guests=guests)), 64)
    assert "NODE" not in text.splitlines()[0]
    assert "node: one" in " ".join(text.split())


def test_evidence_and_remedies_that_are_shared_are_printed_once() -> None:
    text = render(document(), 0)
    assert text.count("This fact is about both guests.") == 1
    assert text.count("Only this guest has this fact.") == 1
    assert text.count("remedy: Choose a model") == 1
    assert "lab/100 vpn-gateway, lab/102 db, " in text


def test_different_remedies_name_their_subjects() -> None:
    one = finding("TST001", "lab/100", "vpn", Problem(Severity.LOW, "a", remedy="Do this."))
    other = finding("TST001", "lab/101", "nas", Problem(Severity.LOW, "a", remedy="Do that."))
    text = render(document(Outcome((one, other))), 0)
    assert "remedy (lab/100): Do this." in text
    assert "remedy (lab/101): Do that." in text


def test_commands_for_one_guest_that_undo_each_other_come_out_as_one() -> None:
    one = finding(
        "TST001", "lab/101", "nas", Problem(Severity.LOW, "a", command="qm set 101 --cpu a")
    )
    worse = finding(
        "TST002", "lab/101", "nas", Problem(Severity.HIGH, "b", command="qm set 101 --cpu b")
    )
    text = render(document(Outcome((one, worse))), 0)
    assert text.count("--vm 101") == 1
    assert "unmask fix lab --vm 101 --cpu b --dry-run" in text
    assert "qm set" not in text


def test_the_legend_explains_what_the_table_shows_and_no_more() -> None:
    text = render(document(), 0)
    assert "CLMUL: PCLMULQDQ (AES-GCM" in text
    assert "state unknown" not in text
    inventory = lab()
    guest = next(guest for guest in inventory.guests if guest.ident == "102")
    unknown = replace(guest, state=GuestState.UNKNOWN)
    text = render(document(Outcome(), replace(inventory, guests=(unknown,))), 0)
    assert "state unknown: what was read does not tell" in text
    assert "CLMUL:" not in text


def test_what_is_not_known_is_listed_with_what_would_help() -> None:
    text = render(document(), 0)
    assert "TST003, TST004 for lab/104, lab/105: the host's flags are not known (needs the" in text
    assert "107.conf is not UTF-8 text (needs a readable file)" in text
    assert "lab/105: the model Nonesuch is not known" in text
    assert "line 7" not in text  # a rule says that
    assert "TST002 lab/106: a toy (until 2027-01-31)" in text
    assert text.rstrip().endswith(
        "10 guests on 3 hosts; what the guests encrypt is not known; findings: 1 high, 1 medium, "
        "3 info; 1 accepted; 1 not read; 4 not checked."
    )


@pytest.mark.parametrize(
    ("subjects", "said"),
    [
        (("coast/103",), "1 guest on 5 hosts; what the guest encrypts is not known; "),
        (("coast/103", "coast/105"), "2 guests on 5 hosts; what the guests encrypt is not known; "),
        (("coast/101", "coast/103"), "1 software; what 1 of the guests encrypts is not known; "),
        (("coast/101", "coast/103", "coast/105"), "; what 2 of the guests encrypt is not known; "),
        (("coast/104",), "1 guest on 5 hosts; 1 encrypted workload: 1 software; findings"),
        (("coast/101",), "1 guest on 5 hosts; 1 encrypted workload: 1 software; findings"),
    ],
)
def test_the_last_line_counts_guests_that_nobody_was_inside(
    subjects: tuple[str, ...], said: str
) -> None:
    cases = tuple(case for case in rich().cases if case.guest.subject in subjects)
    guests = tuple(case.guest for case in cases)
    of = replace(rich(), cases=cases, inventory=replace(rich().inventory, guests=guests))
    assert said in summary(of)


def test_nothing_from_outside_reaches_the_terminal_unwashed() -> None:
    inventory = lab()
    spec = replace(inventory.guests[0].configured, label=HOSTILE, written=HOSTILE)
    guest = replace(
        inventory.guests[0], name=HOSTILE, ident=HOSTILE, subject=HOSTILE, configured=spec
    )
    host = replace(inventory.hosts[0], name=HOSTILE)
    gap = replace(inventory.gaps[0], subject=HOSTILE, reason=HOSTILE, needs=HOSTILE)
    hostile = replace(inventory, guests=(guest,), hosts=(host,), gaps=(gap,))
    problem = Problem(Severity.HIGH, HOSTILE, (HOSTILE,), HOSTILE, HOSTILE)
    outcome = Outcome((finding("TST001", HOSTILE, HOSTILE, problem),))
    for text in (render(document(outcome, hostile), 80), render(document(outcome, hostile), 0)):
        assert "red" in text
        assert all(char.isprintable() or char == "\n" for char in text)
        assert "owned" not in text
    coloured = render_coloured(document(outcome, hostile), 80)
    assert "owned" not in coloured
    assert all(char.isprintable() or char == "\n" for char in ESCAPE.sub("", coloured))


@pytest.mark.parametrize("width", [0, 80, 120])
def test_colours_change_nothing_but_colour(width: int) -> None:
    coloured = render_coloured(document(), width)
    assert ESCAPE.sub("", coloured) == render(document(), width)
    assert "\x1b[31mno > yes\x1b[0m" in coloured
    assert coloured.count("\x1b[") == 2 * coloured.count("\x1b[0m")


def test_an_empty_inventory_is_reported_as_such() -> None:
    assert render(document(Outcome(), Inventory()), 80) == "0 guests on 0 hosts; no findings.\n"


def test_the_format_can_be_chosen_by_name() -> None:
    assert FORMAT.name == "table"
    assert FORMAT.coloured is render_coloured


def test_gaps_of_one_reason_are_one_line() -> None:
    gaps = tuple(Gap(f"lab/{number}", "its node is offline", "the node") for number in range(1, 16))
    page = document()
    text = render(replace(page, inventory=replace(page.inventory, gaps=gaps)), 0)
    named = ", ".join(f"lab/{number}" for number in range(1, 13))
    assert f"{named} and 3 more: its node is offline (needs the node)" in text
    assert text.count("its node is offline") == 1


def test_gaps_that_differ_by_the_guests_number_alone_are_one_line() -> None:
    gaps = [Gap(f"lab/{n}", "not entered", f"VM.Agent on /vms/{n}, or a login") for n in (1, 12)]
    page = document()
    held = replace(page.inventory, gaps=(*gaps, Gap("lab/3", "not seen", "VM.Audit on /vms/3")))
    text = render(replace(page, inventory=held), 0)
    assert "lab/1, lab/12: not entered (needs VM.Agent on /vms/VMID, or a login)" in text
    assert "lab/3: not seen (needs VM.Audit on /vms/3)" in text


def test_of_very_many_different_gaps_the_rest_is_counted() -> None:
    gaps = tuple(Gap(f"lab/{n}", f"10.0.0.{n} does not answer") for n in range(100))
    page = document()
    text = render(replace(page, inventory=replace(page.inventory, gaps=gaps)), 0)
    assert "lab/39: 10.0.0.39 does not answer" in text
    assert "10.0.0.40" not in text
    assert "and 60 more: --full shows them" in text


def test_of_many_findings_of_one_code_the_rest_is_only_named() -> None:
    alone = render(document(Outcome(tuple(many("TST001", 9)))), 0)
    assert "says 108" in alone
    assert "more (" not in alone
    both = render(document(Outcome((*many("TST001", 9), *many("TST002", 1)))), 0)
    assert "says 105" in both
    assert "vm106: says" not in both
    assert "and 3 more (--full shows them): lab/106 vm106, lab/107" in both


def test_one_finding_more_than_fits_is_shown_as_it_would_take_a_line_anyway() -> None:
    text = render(document(Outcome((*many("TST001", 7), *many("TST002", 1)))), 0)
    assert "says 106" in text


def test_a_guest_on_no_known_host_has_no_column_for_it() -> None:
    inventory = lab()
    alone = replace(inventory.guests[0], host="", platform=Platform.UNSEEN, pending=None)
    held = replace(inventory, guests=(alone,), hosts=(), clusters=())
    text = render(document(Outcome(), held), 0)
    assert text.splitlines()[0].split()[:3] == ["GUEST", "STATE", "CONFIGURED"]
    assert "1 guest on 0 hosts" in text


def test_what_the_guest_tells_settles_what_depends_on_an_unknown_host() -> None:
    page = document(Outcome())
    router = next(case for case in page.cases if case.guest.ident == "104")
    nas = next(case for case in page.cases if case.guest.ident == "101")
    told = replace(router, observed=nas.view)
    text = render(replace(page, cases=(told,)), 0)
    assert row(text, "104 router")[5:8] == ["yes", "no", "v2"]
    differing = replace(nas, observed=page.cases[0].view)
    text = render(replace(page, cases=(differing,)), 0)
    assert row(text, "101 nas")[5:8] == ["yes", "no", "v2"]  # a rule says that they differ


def test_below_a_hundred_columns_one_column_has_both_cpus() -> None:
    text = render(document(), 99)
    assert text.splitlines()[0].split()[:3] == ["GUEST", "NODE", "CPU"]
    assert "kvm64* > host" in row(text, "100 vpn-gateway")
    assert "(not x): x is what is configured" in text
    assert "CONFIGURED" in render(document(), 100).splitlines()[0]
