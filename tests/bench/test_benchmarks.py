"""The benchmarks run and measure what they say, at a size that takes no time."""

from __future__ import annotations

import pytest
from benchmarks import (
    bench_spread,
    guests_by_ssh,
    html_page,
    judging,
    moves,
    proxmox_api,
    proxmox_ssh,
    sample,
    start_up,
)
from benchmarks.figure import Figure, table
from playwright.sync_api import Browser

from unmask.model.inventory import GuestState


def test_sample_is_as_large_as_asked_and_mixed() -> None:
    inventory = sample.inventory(250)
    assert len(inventory.guests) == 250
    assert len({guest.subject for guest in inventory.guests}) == 250
    assert len(inventory.hosts) == 3
    assert {guest.host for guest in inventory.guests} == {host.subject for host in inventory.hosts}
    states = {guest.state for guest in inventory.guests}
    assert states == {GuestState.RUNNING, GuestState.STOPPED}
    assert any(guest.pending for guest in inventory.guests)


def test_judging_finds_something_and_gives_every_figure() -> None:
    assert judging.judged(sample.inventory(100)).outcome.findings
    figures = judging.measure(1200)  # in a quarter of them guests have other nodes to go to, too
    assert [figure.met for figure in figures] == [True, None, None, None, True]


def test_a_report_is_opened_filtered_and_sorted(browser: Browser) -> None:
    figures = html_page.measured(browser, guests=40, rounds=1)
    assert [figure.what.split()[0] for figure in figures] == ["open", "filter", "sort", "the"]
    assert all(figure.measured[0].isdigit() for figure in figures)


def test_every_move_of_a_cluster_is_judged() -> None:
    found = moves.judged(moves.cluster(40, 8))
    assert len(found) == 40 * 7
    assert len({(move.guest, move.target) for move in found}) == len(found)
    (figure,) = moves.measure(40, 8, rounds=1)
    assert "280 moves" in figure.what
    assert figure.met


def test_start_up_gives_both_ratios() -> None:
    whats = [figure.what for figure in start_up.measure(rounds=1)]
    assert whats == ["python -c pass", "unmask --version", "unmask --help"]


@pytest.mark.peer
def test_ssh_brings_and_reads_every_configuration() -> None:
    figures = proxmox_ssh.measure(guests=50, rounds=1)
    assert [figure.met for figure in figures] == [True, None]


@pytest.mark.peer
def test_a_quick_benchmark_is_quick_and_its_spread_is_told() -> None:
    longest, *spreads = bench_spread.measure(runs=1)
    assert longest.met
    assert [figure.measured.partition(" ")[0] for figure in spreads] == ["+-0%"] * 4


def test_table_names_every_verdict() -> None:
    figures = [
        Figure("one", "1 s", "under 2 s", met=True),
        Figure("two", "3 s", "under 2 s", met=False),
        Figure("three", "no libvirtd", "faster"),
        Figure("four", "5 MiB", ""),
    ]
    lines = table(figures).splitlines()
    assert [line.split()[-1] for line in lines[1:]] == ["met", "MISSED", "measured", "MiB"]


def test_the_api_is_measured_beside_a_loop() -> None:
    figures = proxmox_api.measure(guests=40, nodes=4, rounds=1)
    assert len(figures) == 3
    assert figures[0].measured.startswith("1.")
    assert figures[2].measured.endswith("s)")


@pytest.mark.peer
def test_each_guest_is_asked_once_by_ssh() -> None:
    commands, chain, cost = guests_by_ssh.measure(guests=8, rounds=1)
    assert commands.met
    assert chain.measured.endswith("median of 1)")
    assert cost.measured.endswith(" s")
