"""The charts of the HTML report: what is kept of the speed, what was measured, who moves where."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support.bench_results import HIDDEN, NODE, result
from support.report_document import rich
from unmask.model.move import Answer, Move, Reason
from unmask.model.move_kind import COLD, LIVE
from unmask.report import _migration_matrix
from unmask.report._html import measured, moves, throughput
from unmask.report._html.labels import Labels

# Throughput


def test_bars_are_of_known_factors_the_worst_first_and_say_their_origin() -> None:
    made = throughput.build(rich(), Labels(rich()))
    assert [(bar.label, bar.text, bar.missing) for bar in made.bars] == [
        ("ZFS encryption, aes-256-gcm", "0.7 %", "pclmulqdq, avx"),
        ("TLS, gcm", "3 %", "aes, pclmulqdq"),
    ]
    assert all(0 < bar.kept < 100 for bar in made.bars)
    assert [made.notes[bar.note - 1].split()[0] for bar in made.bars] == ["OpenZFS", "OpenSSL"]


def test_guests_with_the_same_figure_share_a_bar() -> None:
    told = rich()
    again = replace(
        told.cases[0], guest=replace(told.cases[0].guest, subject="coast/999", ident="999")
    )
    both = replace(told, cases=(*told.cases, again))
    bar = throughput.build(both, Labels(both)).bars[0]
    assert [ref.text for ref in bar.guests.named] == ["coast 101 truenas", "coast 999 truenas"]


def test_measured_before_after_and_the_node() -> None:
    made = {bench.ref.text: bench for bench in measured.build(rich(), Labels(rich()))}
    web = made["coast 102 web"]
    assert web.since == "2026-11-28 21:00:00 UTC"
    (gcm,) = [change for change in web.changes if change.algorithm == "aes-256-gcm"]
    assert (gcm.before.text, gcm.after.text) == ("189 MB/s", "3010 MB/s")
    assert gcm.after.width == 100
    assert gcm.before.width == pytest.approx(100 * 189 / 3010, abs=0.1)
    assert "15.9 times" in gcm.sentence
    settings = [line.setting for line in web.algorithms[0].lines]
    assert settings == ["as it is", "its node, as it is"]
    node = made["coast/heron"]
    assert node.since == ""
    assert node.changes == ()
    assert [line.setting for line in node.algorithms[0].lines] == [
        "as it is",
        "masked",
        "without PCLMULQDQ",
        "forced",
    ]
    models = made["coast/gull"]
    assert models.what_if
    assert [(line.setting, line.of_plain) for line in models.algorithms[0].lines] == [
        ("kvm64", "3 %"),
        ("x86-64-v2-AES", "12 %"),
        ("Westmere", "69 %"),
        ("host", "100 %"),
    ]


def test_bars_of_one_machine_are_to_one_scale() -> None:
    guest = result(HIDDEN, subject="coast/102", name="web", host="coast/heron")
    node = result(NODE, subject="coast/heron", name="heron", host="coast/heron")
    told = replace(rich(), measured=(guest, node))
    web = measured.build(told, Labels(told))[0]
    lines = [line for algorithm in web.algorithms for line in algorithm.lines]
    assert max(line.width for line in lines) == 100
    rates = {line.width / float(line.text.split()[0]) for line in lines}
    assert max(rates) == pytest.approx(min(rates), rel=0.02)


# Moves


def test_every_move_is_in_a_matrix_with_its_reasons() -> None:
    told = rich()
    made = moves.build(told, Labels(told))
    notes = {note.number: note for note in made.notes}
    cells = {
        (guest.anchor, node.anchor): cell
        for matrix in made.matrices
        for row in matrix.rows
        for guest in (*row.guests.named, *row.guests.rest)
        for node, cell in zip(matrix.nodes, row.cells, strict=True)
    }
    assert told.moves
    for move in told.moves:
        ends = Labels(told).of(move.guest).anchor, Labels(told).of(move.target).anchor
        cell = cells[ends]
        assert cell.word == _migration_matrix.cell(move)
        assert {notes[number].code for number in cell.notes} == {
            reason.code for reason in move.reasons
        }
        here = cells[ends[0], Labels(told).of(move.origin).anchor]
        assert (here.word, here.notes) == ("here", ())


def test_a_reason_that_differs_in_its_target_only_is_one() -> None:
    told = rich()
    origin, *targets = (host for host in told.inventory.hosts if host.cluster == "coast")
    made = [
        Move(
            "coast/101",
            origin.subject,
            host.subject,
            Answer.BLOCKED,
            Answer.POSSIBLE,
            (
                Reason("MIG001", f"{host.name} lacks aes.", (LIVE,)),
                Reason("MIG013", "It has a disk.", (), (LIVE, COLD), needs=f"a/{host.name}/b"),
            ),
        )
        for host in targets
    ]
    found = moves.build(replace(told, moves=tuple(made)), Labels(told))
    texts = [(note.effect, note.text, note.needs) for note in found.notes]
    assert texts[0] == ("blocks live", "the target lacks aes.", "")
    assert ("leaves live and cold unknown", "It has a disk.", f"a/{targets[0].name}/b") in texts
    assert len(found.notes) == 1 + len(targets)
