"""Sites: one place puts their names before subjects, and everything after that agrees."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support.documents import lab
from support.inventories import random_inventory
from unmask import plugins
from unmask.dialects.saved import dump, load
from unmask.engine import document, site
from unmask.engine.collect import collect
from unmask.engine.merge import merge
from unmask.errors import UsageError
from unmask.model.finding import Rule
from unmask.model.inventory import Inventory
from unmask.model.reading import Known
from unmask.model.report import Document
from unmask.model.source import CollectOptions, Interrupted, Source
from unmask.model.tie import Confinement
from unmask.model.workload import Finder

RULES = plugins.load("unmask.rules", "RULE", Rule)
FINDERS = plugins.load("unmask.workloads", "WORKLOAD", Finder)


def judged(inventory: Inventory) -> Document:
    return document.build(inventory, RULES, version="1", started="2026-12-01", finders=FINDERS)


def subjects(inventory: Inventory) -> set[str]:
    return {
        item.subject
        for what in ("clusters", "hosts", "guests", "gaps")
        for item in getattr(inventory, what)
    }


@pytest.mark.parametrize("name", ["berlin", "b", "2nd", "fra-1.example_x", "x" * 64])
def test_a_name_of_a_site(name: str) -> None:
    assert site.checked(name) == name


@pytest.mark.parametrize(
    "name", ["", "a b", "a:b", "a/b", ".a", "-a", "ü", "x" * 65, "a\n", "\x1b"]
)
def test_what_cannot_name_a_site(name: str) -> None:
    with pytest.raises(UsageError, match=r"cannot be a site's name.*--site NAME"):
        site.checked(name)


def test_every_subject_begins_with_its_site() -> None:
    rule = Confinement("r", ("n",), apart=("lab/101",), together=("lab/102",))
    whole = lab()
    first = replace(whole.guests[0], confined=Known((rule,)))
    named = site.of_site(replace(whole, guests=(first, *whole.guests[1:])), "berlin")
    assert subjects(named) == {f"berlin:{subject}" for subject in subjects(whole)}
    assert {guest.host for guest in named.guests} <= {host.subject for host in named.hosts}
    assert {host.cluster for host in named.hosts} - {""} == {c.subject for c in named.clusters}
    assert named.guests[0].confined == Known(
        (replace(rule, apart=("berlin:lab/101",), together=("berlin:lab/102",)),)
    )
    assert site.sites(named) == ("berlin",)
    assert site.sites(whole) == ()


@pytest.mark.parametrize("seed", range(20))
def test_a_site_is_saved_and_read_again(seed: int) -> None:
    named = site.of_site(replace(random_inventory(seed), targets=()), "berlin")
    if site.sites(named) == ("berlin",):  # the random ones may be of sites already
        assert load(dump(named)) == named
        assert site.of_site(named, "munich") == named


def test_the_names_that_people_use() -> None:
    guest = site.of_site(lab(), "berlin").guests[0]
    assert guest.names == (
        "berlin:lab/100", "berlin:100", "berlin:vpn-gateway", "lab/100", "100", "vpn-gateway",
    )  # fmt: skip
    assert lab().guests[0].names == ("lab/100", "100", "vpn-gateway")
    assert guest.node == lab().guests[0].node == "one"


def test_a_site_is_judged_as_it_is_without_its_name() -> None:
    plain, named = judged(lab()), judged(site.of_site(lab(), "berlin"))

    def short(of: Document) -> list[tuple[str, str, object]]:
        return sorted(
            (item.code, item.subject.removeprefix("berlin:"), item.problem.severity)
            for item in of.outcome.findings
        )

    assert short(plain) == short(named)
    assert all(item.subject.startswith("berlin:") for item in named.outcome.findings)
    assert len(plain.outcome.skips) == len(named.outcome.skips)


def test_sites_together_find_what_each_finds_alone() -> None:
    one, two = (site.of_site(lab(), name) for name in ("berlin", "munich"))
    merged = merge([replace(one, targets=("a",)), replace(two, targets=("b",))])
    assert merged.notes == ()
    apart = {*judged(one).outcome.findings, *judged(two).outcome.findings}
    assert set(judged(merged.inventory).outcome.findings) == apart
    assert site.sites(merged.inventory) == ("berlin", "munich")
    assert load(dump(merged.inventory)) == merged.inventory


def test_the_same_site_twice_is_one() -> None:
    named = site.of_site(lab(), "berlin")
    merged = merge([replace(named, targets=("a",)), replace(named, targets=("b",))])
    assert merged.notes == ()
    assert merged.inventory.guests == named.guests


def test_two_different_files_of_one_site_are_kept_apart_and_said() -> None:
    named = site.of_site(lab(), "berlin")
    changed = replace(named.guests[0], name="another")
    later = replace(named, targets=("b.json",), guests=(changed, *named.guests[1:]))
    merged = merge([replace(named, targets=("a.json",)), later])
    (note,) = merged.notes
    assert note == (
        "b.json describes berlin:lab/100 differently from an earlier target: its subjects are "
        "shown as b.json:...; both are of the site berlin: audit one file of a site at a time, "
        "and compare two with unmask diff"
    )
    assert "b.json:berlin:lab/100" in subjects(merged.inventory)


def test_one_site_for_things_of_none_and_its_own() -> None:
    named = site.of_site(lab(), "berlin")
    pi = [host for host in lab().hosts if not host.cluster]
    mixed = replace(named, hosts=(*named.hosts, *pi))
    with pytest.raises(UsageError, match="holds things of the site berlin and others of no site"):
        site.of_site(mixed, "berlin")
    both = site.of_site(mixed, "munich")
    assert site.sites(both) == ("berlin", "munich")
    assert {host.subject for host in both.hosts if host.site == "munich"} == {"munich:pi"}
    assert {item.subject for item in both.guests} == {item.subject for item in named.guests}


def test_what_was_read_before_ctrl_c_is_of_its_site_too() -> None:
    def stopped(target: str, _: CollectOptions) -> Inventory:
        raise Interrupted(replace(lab(), targets=(target,)))

    source = Source("test", "a test", lambda _: True, stopped)
    got = collect(
        ["one", "two"], lambda _: source, lambda _: CollectOptions(), lambda _: None, at="berlin"
    )
    assert got.interrupted
    assert site.sites(got.inventory) == ("berlin",)
    assert all(subject.startswith("berlin:") for subject in subjects(got.inventory))
    assert "berlin:two" in subjects(got.inventory)
