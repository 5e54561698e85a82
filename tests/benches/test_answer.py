"""What the program printed, in whatever state it arrives."""

from __future__ import annotations

from dataclasses import replace

import pytest

from unmask.benches import _answer
from unmask.benches._plan import Plan, Run
from unmask.model.bench import MASKED, PLAIN, Ended, Tool

MARK = "unmask0123456789abcdef"
SPEED = """\
+DT:AES-256-GCM:1:16384
+R:91552:AES-256-GCM:0.300000
+H:16384
+F:25:AES-256-GCM:5000000000.00
"""


def run(setting: str = PLAIN) -> Run:
    return Run(Tool.OPENSSL, "aes-256-gcm", ("openssl",), setting, slice=0.3, block=16384)


PLAN = Plan(((run(), run(MASKED)),), budget=60)


def printed(*parts: str) -> bytes:
    return b"Welcome\n" + "".join(f"\n{MARK} {part}" for part in parts).encode()


def one(number: int, text: str = SPEED, status: str = "0", steal: int = 0) -> tuple[str, ...]:
    before, after = "100 0 10 500 0 0 0 5 0 0", f"130 0 10 500 0 0 0 {5 + steal} 0 0"
    return (f"before {before}\n", f"run {number}\n{text}", f"= {status}\n", f"after {after}\n")


def test_everything_is_read() -> None:
    output = printed(
        "begin\n",
        "pinned 1\n",
        "environment\nOPENSSL_ia32cap=~0x1\n",
        "load\n0.50 0.40 0.30 1/99 7\n",
        *one(0),
        *one(1, steal=10),
        "crypto\nname : xts(aes)\ndriver : xts-aes-aesni\npriority : 401\n",
        "load\n9.00 1 1\n",
        "end 0\n",
    )
    answer = _answer.read(output, MARK, PLAN)
    first, second = answer.samples
    assert (first.rate, first.setting, first.steal) == (5e9, PLAIN, 0.0)
    assert (second.setting, second.steal) == (MASKED, 0.25)
    assert first.raw == SPEED.strip()
    assert (answer.begun, answer.ended, answer.pinned) == (True, True, True)
    assert answer.override == "OPENSSL_ia32cap=~0x1"
    assert answer.load == 0.5
    assert answer.drivers == (("xts(aes)", "xts-aes-aesni"),)


def test_what_breaks_off_keeps_what_came_before() -> None:
    whole = printed("begin\n", *one(0), *one(1), "end 0\n")
    counts = []
    for length in range(len(whole) - len("end 0\n")):
        answer = _answer.read(whole[:length], MARK, PLAN)
        assert not answer.ended
        assert {sample.rate for sample in answer.samples} <= {5e9}
        counts.append(len(answer.samples))
    assert counts == sorted(counts)
    assert counts[-1] == 2


@pytest.mark.parametrize("number", ["2", "99999999999", "-1", "x", ""])
def test_a_run_that_was_not_planned_is_passed_over(number: str) -> None:
    parts = (f"run {number}\n{SPEED}", "= 0\n", "after 1 2 3\n")
    assert _answer.read(printed(*parts), MARK, PLAN).samples == []


def test_a_run_that_did_not_end_in_time_has_no_figure() -> None:
    before, begun, ended, after = one(0, status="143")
    answer = _answer.read(printed(before, begun, "late\n", ended, after), MARK, PLAN)
    (sample,) = answer.samples
    assert (sample.ended, sample.rate) == (Ended.LATE, None)
    assert sample.note == "not done within 30 s"


def test_time_that_a_run_waited_is_told() -> None:
    before, begun, ended, after = one(0)
    waited = "waited 225000000 75000000 12\n"
    (sample,) = _answer.read(printed(before, begun, waited, ended, after), MARK, PLAN).samples
    assert sample.waited == 0.25
    (sample,) = _answer.read(printed(*one(0)), MARK, PLAN).samples
    assert sample.waited is None


@pytest.mark.parametrize(
    ("ran", "waited", "rate"),
    [
        pytest.param(225, 75, 5e9 / 0.75, id="a part"),
        pytest.param(300, 0, 5e9, id="nothing"),
        pytest.param(30, 270, 5e9, id="nearly all"),
        pytest.param(2, 3, 5e9, id="of a wrapper that has another program do the work"),
    ],
)
def test_time_that_others_had_is_taken_out_of_elapsed_time(
    ran: int, waited: int, rate: float
) -> None:
    elapsed = replace(run(), words=("openssl", "speed", "-elapsed"))
    before, begun, ended, after = one(0)
    told = f"waited {ran}000000 {waited}000000 12\n"
    output = printed(before, begun, told, ended, after)
    (sample,) = _answer.read(output, MARK, Plan(((elapsed,),))).samples
    assert sample.rate == pytest.approx(rate)
    assert "5000000000.00" in sample.raw


def test_an_illegal_instruction_is_told() -> None:
    text = "+DT:AES-256-GCM:1:16384\n"
    (sample,) = _answer.read(printed(*one(1, text, "132")), MARK, PLAN).samples
    assert (sample.ended, sample.algorithm) == (Ended.ILLEGAL, "aes-256-gcm")


def test_control_characters_stay_outside() -> None:
    (sample,) = _answer.read(printed(*one(0, "\x1b[2J\x00evil\n")), MARK, PLAN).samples
    assert "\x1b" not in sample.raw + sample.note
    assert "\x00" not in sample.raw + sample.note


def test_sizes_that_were_skipped_are_no_measurement() -> None:
    sizes = (16, 64, 256, 1024, 8192)
    text = "".join(f"+DT:aes-256-gcm:3:{size}\n+R:0:aes-256-gcm:0.000000\n" for size in sizes[:-1])
    text += "+DT:aes-256-gcm:3:8192\n+R:9155:aes-256-gcm:0.300000\n"
    text += "+H:16:64:256:1024:8192\n+F:22:aes-256-gcm:nan:0.00:inf:1.00:249992533.33\n"
    old = Plan(((Run(Tool.OPENSSL, "aes-256-gcm", ("openssl",), slice=0.3, block=8192),),))
    (sample,) = _answer.read(printed(*one(0, text)), MARK, old).samples
    assert sample.rate == pytest.approx(249992533.33)
    assert (sample.block, sample.ended) == (8192, Ended.WELL)
    assert sample.raw == text.strip()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "+DT:AES-256-GCM:1:16384\n",
        "+H:8192\n+F:25:AES-256-GCM:1.00\n",
        "+H:16384:8192\n+F:25:AES-256-GCM:1.00\n",
        "+F:25:AES-256-GCM:1.00\n",
    ],
)
def test_text_without_all_lines_of_a_run_stays_as_it_is(text: str) -> None:
    assert _answer.trimmed(text, 16384) == text


@pytest.mark.parametrize(
    ("before", "after", "share"),
    [
        ([0] * 8, [30, 0, 0, 60, 0, 0, 0, 10], 0.1),
        ([0] * 8, [30, 0, 0, 70, 0, 0, 0, 0], 0.0),
        ([0] * 8, [1, 0, 0, 0, 0, 0, 0, 1], None),
        ([0] * 4, [9] * 4, None),
        ([0] * 7 + [50], [100] + [0] * 6 + [40], None),
        ([], [], None),
    ],
)
def test_stolen_time(before: list[int], after: list[int], share: float | None) -> None:
    assert _answer.stolen(before, after) == share
