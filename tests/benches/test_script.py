"""The program that measures, in every shell that there is, with well and ill behaved programs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from support.bench_shell import SHELLS, SPEED, Place, place, speed
from unmask.benches._plan import Plan, Run
from unmask.model.bench import FORCED, MASKED, Ended, Tool

SOON = 20.0


@pytest.fixture(params=SHELLS)
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return place(request.param, tmp_path)


def test_each_round_measures_each_run(machine: Place) -> None:
    round_ = (speed(), speed("aes-256-ctr"))
    answer = machine.run(Plan((round_, round_), budget=60))
    assert [sample.algorithm for sample in answer.samples] == ["aes-256-gcm", "aes-256-ctr"] * 2
    assert {sample.rate for sample in answer.samples} == {1e9}
    assert {sample.block for sample in answer.samples} == {16384}
    assert answer.begun
    assert answer.ended


OLD = r"""
trap 'over=yes' ALRM
for size in 16 64 256 1024 8192; do
    over=
    n=0
    printf '+DT:aes-256-cbc:3:%s\n' "$size" >&2
    while [ -z "$over" ] && [ "$n" -lt 500 ]; do sleep 0.01; n=$((n + 1)); done
    printf '+R:%s:aes-256-cbc:0.00\n' "$n" >&2
done
printf '+H:16:64:256:1024:8192\n+F:22:aes-256-cbc:nan:0.00:0.00:0.00:90700000.00\n'
"""


def test_an_old_openssl_loses_no_time_with_small_blocks(machine: Place) -> None:
    machine.has("openssl", OLD)
    run = replace(speed("aes-256-cbc", measured=0.2), block=8192)
    (sample,) = machine.run(Plan(((run,),), budget=60)).samples
    assert (sample.rate, sample.block) == (90.7e6, 8192)
    counts = [int(line.split(":")[1]) for line in sample.raw.splitlines() if "+R" in line]
    assert max(counts) < 500  # none of them measured until it ended by itself


def test_no_round_begins_that_would_end_too_late(machine: Place) -> None:
    round_ = (speed(measured=1.2),)
    answer = machine.run(Plan((round_,) * 3, budget=0))
    assert len(answer.samples) == 1
    assert answer.ended


def test_variables_are_set_for_their_run_alone(machine: Place) -> None:
    machine.has("openssl", 'echo "cap: ${OPENSSL_ia32cap-none}"')
    runs = (speed(), speed(setting=MASKED, variables={"OPENSSL_ia32cap": "~0x1"}), speed())
    answer = machine.run(Plan((runs,), budget=60))
    assert [sample.raw for sample in answer.samples] == ["cap: none", "cap: ~0x1", "cap: none"]
    assert [sample.setting for sample in answer.samples] == ["plain", MASKED, "plain"]


def test_the_mask_that_a_login_has_is_told(machine: Place) -> None:
    answer = machine.run(Plan((), budget=1), OPENSSL_ia32cap="~0x200000200000000")
    assert answer.override == "OPENSSL_ia32cap=~0x200000200000000"
    assert machine.run(Plan((), budget=1)).override == ""


@pytest.mark.parametrize(
    ("text", "ended"),
    [
        ('printf "+DT:AES-256-GCM:1:16384\\n"; kill -ILL $$', Ended.ILLEGAL),
        ("kill -KILL $$", Ended.KILLED),
        ("echo 'unknown option'; exit 1", Ended.FAILED),
        ("exit 0", Ended.FAILED),
    ],
)
def test_how_a_run_ended_is_told(machine: Place, text: str, ended: Ended) -> None:
    machine.has("openssl", text)
    run = speed(setting=FORCED, variables={"OPENSSL_ia32cap": "0x1"})
    (sample,) = machine.run(Plan(((run,),), budget=60)).samples
    assert sample.ended is ended or (ended is Ended.FAILED and sample.rate is None)
    assert (sample.algorithm, sample.setting) == ("aes-256-gcm", FORCED)


def test_a_run_that_does_not_end_is_ended(machine: Place) -> None:
    machine.has("openssl", "trap '' ALRM TERM; while :; do sleep 1; done")
    answer = machine.run(Plan(((speed(seconds=1), speed("aes-256-ctr", seconds=1)),), budget=60))
    assert [sample.ended for sample in answer.samples] == [Ended.LATE, Ended.LATE]
    assert answer.ended


def test_a_flood_costs_its_own_run_only(machine: Place) -> None:
    machine.has("openssl", f'case "$*" in *ctr) yes;; esac\n{SPEED}')
    runs = (speed("aes-256-ctr", seconds=3), speed())
    answer = machine.run(Plan((runs,), budget=60))
    flooded, well = answer.samples
    assert flooded.rate is None
    assert len(flooded.raw) <= 4000
    assert well.rate == 1e9


def test_what_is_not_there_is_left_out(machine: Place) -> None:
    once = Run(Tool.CRYPTSETUP, "aes-xts-512", ("unmask-has-no-such-program", "benchmark"))
    answer = machine.run(Plan(((speed(),),), (once,), budget=60))
    assert [sample.tool for sample in answer.samples] == [Tool.OPENSSL]
    assert answer.ended


@pytest.mark.parametrize("session", [True, False])
def test_the_end_of_its_input_ends_all_of_it(
    machine: Place, tmp_path: Path, *, session: bool
) -> None:
    if not session:
        machine.has("setsid", "exit 1")
    machine.has("openssl", f"echo $$ >>{tmp_path}/pids; exec sleep 1000")
    pids = tmp_path / "pids"
    with machine.start(Plan(((speed(seconds=900),),), budget=900)) as process:
        _until(lambda: pids.exists() and pids.read_text().endswith("\n"))
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(timeout=SOON) == 0
    _until(lambda: not _left(machine))


def test_without_an_open_input_it_runs_to_its_end(machine: Place) -> None:
    with machine.start(Plan(((speed(),),), budget=60), held=False) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        assert b"+F:25:AES-256-GCM:1000000000.00" in process.stdout.read()
        assert process.wait(timeout=SOON) == 0


def _until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SOON
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _left(machine: Place) -> list[str]:
    """The command lines of what still runs of a machine's programs, the shell's own included."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if str(machine.programs).encode() in (path / "environ").read_bytes():
                found.append((path / "cmdline").read_text())
        except (ProcessLookupError, FileNotFoundError, PermissionError):
            continue
    return found
