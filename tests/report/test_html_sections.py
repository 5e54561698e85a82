"""What the sections of the HTML report are made of."""

from __future__ import annotations

from dataclasses import replace

import pytest
from benchmarks import sample

from support import html_tree
from support.inventories import random_inventory
from support.report_document import rich
from support.visited_document import visited
from unmask import plugins
from unmask.engine import document
from unmask.model.finding import Finding, Outcome, Problem, Rule, Severity
from unmask.model.inventory import Inventory
from unmask.model.report import Document
from unmask.model.workload import Unread, WorkloadKind
from unmask.report._html import (
    cluster_map,
    findings,
    flags,
    page,
    summary,
    why,
)
from unmask.report._html.labels import Labels, Ref, parted
from unmask.report.html import render

TWO_KINDS = (
    "2 of 3 encrypted workloads run in software, and 1 uses the CPU's instructions only in part."
)
RULES = plugins.load("unmask.rules", "RULE", Rule)


def labels(told: Document) -> Labels:
    return Labels(told)


# Summary


def test_the_worst_is_told_with_what_it_costs_and_the_command() -> None:
    made = page.build(rich()).summary
    assert [(thing.subject.text, thing.text, thing.cost) for thing in made.things[:2]] == [
        ("coast 101 truenas", "ZFS encryption of tank/family", "keeps 0.7 % of its speed"),
        ("coast 102 web", "TLS of nginx", "keeps 3 % of its speed"),
    ]
    assert made.things[0].command == "unmask fix coast --vm 101 --cpu recommended --dry-run"
    assert made.things[2].cost == ""
    assert "runs in software" in made.things[2].text


def test_what_nobody_could_see_is_not_taken_for_nothing() -> None:
    made = page.build(rich()).summary
    assert made.doubt == "What 8 of 11 guests may encrypt is not known: nobody was inside."
    rows = {row.subject: row for row in page.build(visited()).guests.rows}
    assert (rows["lab/106"].status, rows["lab/106"].unseen) == (
        "none",
        "no encrypted workload seen inside",
    )
    assert (rows["lab/104"].status, rows["lab/104"].unseen) == (
        "unseen",
        "could not be entered: what it encrypts is not known",
    )
    assert rows["lab/105"].status == "unseen"
    assert rows["lab/100"].status == "software"


def test_a_kind_that_could_not_be_looked_for_is_not_taken_for_none() -> None:
    case = next(case for case in visited().cases if case.guest.subject == "lab/106")
    unread = (Unread(WorkloadKind.LUKS, "lsblk is not installed in the guest"),)
    (row,) = page.build(replace(visited(), cases=(replace(case, unread=unread),))).guests.rows
    assert (row.status, row.unseen) == (
        "unseen",
        "no encrypted workload seen inside, where not every kind could be looked for",
    )


@pytest.mark.parametrize(
    ("statuses", "verdict"),
    [
        ((), "No encrypted workload was seen; there are findings about the CPUs themselves."),
        (("hardware", "unknown"), "None of 2 encrypted workloads is known to run in software."),
        (("software",), "1 of 1 encrypted workloads runs in software."),
        (("partial", "hardware"), "1 of 2 encrypted workloads uses the instructions in part."),
        (
            ("software", "software", "partial"),
            TWO_KINDS,
        ),
    ],
)
def test_the_verdict(statuses: tuple[str, ...], verdict: str) -> None:
    known = {item.status: item for case in visited().cases for item in case.workloads}
    case = replace(visited().cases[0], workloads=tuple(known[status] for status in statuses))
    told = replace(rich(), cases=(case,))
    assert page.build(told).summary.verdict == verdict


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("2026-12-01T08:00:00Z", "2026-12-01 08:00:00 UTC"),
        ("yesterday\x1b[31m", "yesterday"),
        ("", ""),
    ],
)
def test_a_moment(written: str, shown: str) -> None:
    assert summary.moment(written) == shown


def test_what_is_worse_than_slow_comes_before_what_is_slow() -> None:
    told = rich()
    dead = Problem(Severity.CRITICAL, "the guest does not start")
    finding = Finding("CPU005", "Title", "coast/102", "web", "coast/heron", dead)
    found = replace(told, outcome=replace(told.outcome, findings=(*told.outcome.findings, finding)))
    first, second = page.build(found).summary.things[:2]
    assert (first.subject.text, first.text, first.cost) == (
        "coast 102 web",
        "the guest does not start",
        "",
    )
    assert second.subject.text == "coast 101 truenas"


def test_nothing_found_is_not_nothing_read() -> None:
    blank = replace(rich(), cases=(), outcome=Outcome(), moves=(), measured=())
    verdicts = []
    for complete, hosts in ((True, ()), (False, rich().inventory.hosts), (False, ())):
        told = replace(
            blank,
            run=replace(blank.run, complete=complete),
            inventory=replace(blank.inventory, guests=(), hosts=hosts),
        )
        verdicts.append(page.build(told).summary.verdict)
    assert verdicts == [
        "Nothing was found.",
        "Nothing was found in what could be read.",
        "Nothing could be read.",
    ]


# Labels


def test_clusters_are_named_only_where_there_are_several() -> None:
    assert labels(rich()).of("coast/101") == Ref("coast 101 truenas", "guest-1")
    assert labels(rich()).short_guests["coast/101"] == Ref("101 truenas", "guest-1")
    one = replace(
        rich(),
        cases=tuple(case for case in rich().cases if case.guest.subject.startswith("coast/")),
    )
    assert labels(one).of("coast/101").text == "101 truenas"


def test_what_is_not_on_the_page_has_no_place_to_go_to() -> None:
    assert labels(rich()).of("pve://tern", "tern") == Ref("pve://tern")
    assert labels(rich()).of("gone/7", "box") == Ref("gone/7 box")


def test_one_more_is_named_rather_than_counted() -> None:
    refs = [Ref(str(number)) for number in range(14)]
    assert parted(refs[:13]).rest == ()
    assert (len(parted(refs).named), len(parted(refs).rest)) == (12, 2)


# Nodes and flags


def test_nodes_that_differ_are_marked_and_unknown_ones_say_why() -> None:
    coast, harbour, alone = cluster_map.build(rich(), labels(rich()))
    assert (coast.title, harbour.title, alone.title) == ("coast", "harbour", cluster_map.ALONE)
    (table,) = coast.tables
    assert table.said == cluster_map.SAME_KNOWN
    assert {row.ref.text: bool(row.cells) for row in table.rows} == {
        "gull": True,
        "heron": True,
        "tern": False,
    }
    assert "no cpuinfo of this node" in table.rows[2].why
    assert "needs nodes/tern/cpuinfo" in table.rows[2].why
    merged = replace(
        rich(),
        inventory=replace(
            rich().inventory,
            hosts=tuple(replace(host, cluster="coast") for host in rich().inventory.hosts),
        ),
    )
    (table,) = cluster_map.build(merged, labels(merged))[0].tables
    assert "avx512f" in table.differing
    assert "aes" not in table.differing


def test_a_node_that_no_table_has_says_why_nothing_is_known_of_it() -> None:
    told = rich()
    tern = next(host for host in told.inventory.hosts if host.name == "tern")
    alone = replace(told, inventory=replace(told.inventory, hosts=(tern,)), moves=())
    (made,) = cluster_map.build(alone, labels(alone))
    assert made.tables == ()
    assert [row.ref.text for row in made.unknown] == ["tern"]
    assert "no cpuinfo of this node" in html_tree.read(render(alone, 0)).one(id="cluster-map").text


def test_guests_that_see_the_same_are_one_line() -> None:
    work, defences = flags.build(rich(), labels(rich()))
    assert not work.defences
    assert defences.defences
    named = [ref.text for row in work.rows for ref in row.guests.named]
    assert len(named) == len(set(named)) == len(rich().cases)
    (files,) = [row for row in work.rows if row.guests.named[0].text == "coast 103 files"]
    now, later = (dict(zip(work.flags, each, strict=True)) for each in (files.now, files.later))
    assert (now["pclmulqdq"], later["pclmulqdq"]) == ("no", "yes")
    assert len(defences.rows) < len(rich().cases)


def test_what_a_guest_tells_itself_settles_what_would_be_open() -> None:
    open_ = next(case for case in rich().cases if case.guest.subject == "coast/105")
    seen = next(case.view for case in rich().cases if case.guest.subject == "coast/101")
    told = replace(rich(), cases=(replace(open_, observed=seen),))
    (row,) = flags.build(told, labels(told))[0].rows
    assert set(row.now) == {"yes", "no"}


# Findings


def test_what_is_said_of_several_guests_is_said_once() -> None:
    told = rich()
    first = told.outcome.findings[0]
    others = tuple(
        replace(
            first,
            subject=case.guest.subject,
            name=case.guest.name,
            problem=replace(first.problem, command=f"qm set {case.guest.ident}"),
        )
        for case in told.cases
    )
    made = findings.build(
        replace(told, outcome=replace(told.outcome, findings=others)), labels(told)
    )
    ((item,),) = [group.items for group in made.groups]
    assert item.subjects.count == len(told.cases)
    assert [command.text for command in item.commands] == [
        f"qm set {case.guest.ident}" for case in told.cases
    ]
    assert set(made.places.values()) == {"finding-1"}


def test_every_rule_says_why_it_matters() -> None:
    pages = why.pages(RULES)
    assert set(pages) == {rule.code for rule in RULES}
    assert [code for code, blocks in pages.items() if not blocks] == []
    kinds = {block.kind for blocks in pages.values() for block in blocks}
    assert kinds <= {"paragraph", "list", "table", "code"}
    table = next(block for block in pages["CPU002"] if block.kind == "table")
    assert table.rows[0] == ("software", "AES-256-GCM rate that is left")
    assert all(len(row) == 2 for row in table.rows)


def test_blocks_of_a_page() -> None:
    parts = ("One\nline.", "- a\n  b\n- c", "1. d", "    code", "    more")
    text = "\n\n".join((*parts, "| x | y |\n| --- | :-: |\n| 1 | 2 |"))
    assert [(block.kind, block.lines, block.rows) for block in why.blocks(text)] == [
        ("paragraph", ("One line.",), ()),
        ("list", ("a b", "c"), ()),
        ("list", ("d",), ()),
        ("code", ("code", "", "more"), ()),
        ("table", (), (("x", "y"), ("1", "2"))),
    ]
    assert why.blocks("") == ()


# The whole


def judged(inventory: Inventory) -> Document:
    told = document.build(inventory, RULES, version="1", started="2026-12-01T08:00:00Z")
    return document.with_moves(told, RULES)


@pytest.mark.parametrize("seed", range(40))
def test_any_inventory_that_the_types_allow_is_a_page(seed: int) -> None:
    told = judged(random_inventory(seed))
    root = html_tree.read(render(told, 0))
    rows = [one for one in root.all("tr") if "data-subject" in one.attributes]
    assert len(rows) == len(told.cases)
    idents = [one.attributes["id"] for one in root if "id" in one.attributes]
    assert len(idents) == len(set(idents))
    links = {one.attributes["href"] for one in root.all("a")}
    assert links <= {f"#{ident}" for ident in idents}


def test_a_site_of_many_guests_stays_lean() -> None:
    """With 5,000 guests the page is to stay below 15 MB."""
    told = judged(sample.inventory(400))
    assert len(render(told, 0)) / 400 < 3000
