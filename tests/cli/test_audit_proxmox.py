"""`unmask audit pve://`: faults, deadlines, Ctrl-C, and what is said where."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support import peers
from support.lab_target import address
from support.unmask_command import UNMASK, Answer
from unmask.lab import faults
from unmask.lab.lab import Lab
from unmask.lab.server import LabServer

Command = Callable[..., Answer]
TIMEOUT = 6

FAULTS = {
    "latency=0.05": (24, r""),
    "latency=30@nodes/pve2/qemu": (18, r"no whole answer within"),
    "5xx=3": (20, r""),
    "5xx=1@qemu/101": (23, r"(50[23]|596) .* \(3 tries\)"),
    "resets=3": (20, r""),
    "resets=1@nodes/pve3/qemu": (17, r"closed the connection without an answer|stopped answering"),
    "truncated=3": (20, r""),
    "truncated=1@qemu/101": (23, r"before the end of its answer|breaks off"),
    "html=1@nodes/pve1": (20, r"an HTML page instead of JSON|stopped answering"),
    "401-mid-run=12": (0, r"the token audit@pve!unmask is not accepted any more \(401"),
    "node-down=2": (18, r"its node pve2 is offline"),
    "no-quorum": (24, r"it has no quorum"),
    "slow-drip=0.5@nodes/pve4": (20, r"no whole answer within"),
}
"""Faults, the guests at least that are read in spite of them, and what is said of the others."""

CLEAN = ("latency=0.05",)


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab() as made:
        yield made


def audit(command: Command, lab: Lab, *words: str) -> Answer:
    options = ("--config", str(lab.config_file), "--timeout", str(TIMEOUT), "--fail-on", "never")
    return command("audit", "lab", "--format", "json", *options, *words)


def outside(command: Command, lab: Lab, *words: str) -> Answer:
    """Audit the cluster and look into none of its guests."""
    return audit(command, lab, "--no-probe", *words)


def test_every_kind_of_fault_is_tried_and_described(command: Command) -> None:
    assert {faults.parse(written).kind for written in FAULTS} == faults.KINDS.keys()
    page = (Path(__file__).parents[2] / "docs/lab.md").read_text(encoding="utf-8")
    text = " ".join(command("lab", "--help").output.split())
    assert f"Kinds: {', '.join(faults.KINDS)}." in text
    assert not [
        kind for kind in faults.KINDS if not re.search(rf"^\| `{kind}[=`]", page, re.MULTILINE)
    ]


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_leaves_what_is_readable_and_names_the_rest(
    command: Command, lab: Lab, fault: str
) -> None:
    least, said = FAULTS[fault]
    lab.set_fault(fault)
    try:
        began = time.monotonic()
        answer = outside(command, lab, "--strict")
        took = time.monotonic() - began
    finally:
        lab.clear_faults()
    assert took < TIMEOUT + 1
    assert "Traceback" not in answer.errors
    report = answer.report
    assert len(report["guests"]) == 24
    read = [guest for guest in report["guests"] if guest["cpu"]["effective"] != "unknown"]
    assert len(read) >= least
    unread = {guest["subject"] for guest in report["guests"]} - {one["subject"] for one in read}
    named = {gap["subject"] for gap in report["gaps"]}
    assert unread <= named
    assert report["run"]["complete"] is (not report["gaps"])
    assert answer.code == (3 if report["gaps"] else 0)
    if said:
        assert any(re.search(said, gap["reason"]) for gap in report["gaps"])
    if fault in CLEAN:
        assert not report["gaps"]


@pytest.mark.parametrize("fault", ["5xx=1", "resets=1", "truncated=1", "html=1", "slow-drip=0.5"])
def test_where_nothing_can_be_read_it_is_one_clear_error(
    command: Command, lab: Lab, fault: str
) -> None:
    lab.set_fault(fault)
    try:
        began = time.monotonic()
        answer = outside(command, lab)
        took = time.monotonic() - began
    finally:
        lab.clear_faults()
    assert took < TIMEOUT + 1
    assert (answer.code, answer.output) == (3, "")
    assert answer.errors.startswith(f"unmask: {address(lab)}: ")
    assert answer.errors.count("\n") == 1
    assert answer.errors.endswith(" (needs a longer --timeout)\n") == fault.startswith("slow-drip")


def test_the_deadline_of_the_run_holds_and_the_rest_is_reported(command: Command, lab: Lab) -> None:
    lab.set_fault("latency=1")
    try:
        began = time.monotonic()
        answer = command(
            "audit", "lab", "--config", str(lab.config_file), "--format", "json",
            "--timeout", "5", "--fail-on", "never", "--no-probe",
        )  # fmt: skip
        took = time.monotonic() - began
    finally:
        lab.clear_faults()
    assert took < 6
    assert answer.code in (0, 3)
    assert len(answer.report["guests"]) == 24


@pytest.mark.parametrize(("words", "workers"), [(("--parallel", "2"), 2), ((), 16)])
def test_each_of_the_workers_keeps_one_connection(
    command: Command,
    lab: Lab,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    workers: int,
) -> None:
    accepted: list[object] = []
    serve = LabServer.process_request

    def process(self: LabServer, request: Any, client: Any) -> None:
        accepted.append(client)
        serve(self, request, client)

    monkeypatch.setattr(LabServer, "process_request", process)
    lab.set_fault("latency=0.05")  # long enough for every worker to have something to wait for
    before = len(lab.seen)
    try:
        outside(command, lab, *words)
    finally:
        lab.clear_faults()
    assert len(lab.seen) - before > 2 * 16
    assert len(accepted) == workers


def test_a_token_in_the_command_line_is_refused_and_not_repeated(command: Command) -> None:
    answer = command("audit", "pve://audit@pve!unmask=hush@pve1")
    assert answer.code == 2
    assert "must not hold a password or a token" in answer.errors
    assert "hush" not in answer.errors + answer.output


def test_a_token_file_and_a_pin_are_enough(command: Command, lab: Lab, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(lab.tokens["audit"])
    token.chmod(0o644)
    answer = command(
        "audit", address(lab), "--token-file", str(token), "--fingerprint", lab.fingerprint,
        "--format", "json", "--fail-on", "never",
    )  # fmt: skip
    assert answer.code == 0
    assert f"chmod 600 {token}" in answer.errors
    assert len(answer.report["guests"]) == 24


def test_a_saved_cluster_gives_the_same_findings(
    command: Command, lab: Lab, tmp_path: Path
) -> None:
    path = tmp_path / "saved.json"
    live = audit(command, lab, "--save", str(path)).report
    again = command("audit", str(path), "--format", "json", "--fail-on", "never").report
    assert again["findings"] == live["findings"]
    assert again["guests"] == live["guests"]


def interrupted(lab: Lab, *words: str) -> Answer:
    """Audit the lab in a process of its own and press Ctrl-C once guests are being read."""
    with subprocess.Popen(
        [UNMASK, "audit", *words, "--config", str(lab.config_file), "--format", "json"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=peers.environment(),
    ) as process:
        try:
            before = len(lab.seen)
            until = time.monotonic() + 30
            while not any("pending" in seen.path for seen in lab.seen[before:]):
                assert time.monotonic() < until, "no guest was read"
                assert process.poll() is None, "it ended by itself"
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            began = time.monotonic()
            output, errors = process.communicate(timeout=20)
        finally:
            process.kill()
    assert time.monotonic() - began < 5
    return Answer(process.returncode, output, errors)


def test_control_c_prints_what_was_read_and_leaves_nothing_behind(lab: Lab) -> None:
    lab.set_fault("latency=3@qemu/13")  # pve4's guests
    try:
        answer = interrupted(lab, "lab")
        asked = len(lab.seen)
    finally:
        lab.clear_faults()
    assert answer.code == 130
    assert answer.errors.splitlines()[-1] == "unmask: interrupted"
    assert "Traceback" not in answer.errors
    report = json.loads(answer.output)
    read = [guest for guest in report["guests"] if guest["cpu"]["effective"] != "unknown"]
    assert 0 < len(read) < 24
    reasons = {gap["reason"] for gap in report["gaps"]}
    assert "reading was interrupted before its end" in reasons
    assert "reading was interrupted" in reasons
    time.sleep(0.5)
    # What an earlier test left the lab to answer late is not of this run: it was asked long before.
    late = [seen for seen in lab.seen[asked:] if seen.seconds < 10]
    assert not [seen for seen in late if "13" not in seen.path]


@pytest.mark.parametrize("pause", [0.01, 0.05, 0.2])
def test_control_c_twice_shows_no_traceback(pause: float) -> None:
    with (
        Lab(faults=["latency=0.5"]) as slow,  # its own: it answers when this is over
        subprocess.Popen(
            [UNMASK, "audit", "--config", str(slow.config_file), "lab"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=peers.environment(),
        ) as process,
    ):
        until = time.monotonic() + 30
        while not slow.seen and time.monotonic() < until:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        time.sleep(pause)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (130, "unmask: interrupted\n")


def test_control_c_does_not_begin_the_next_target(lab: Lab) -> None:
    lab.set_fault("latency=3@qemu/13")
    try:
        answer = interrupted(lab, "lab", "qemu+unix:///absent")
    finally:
        lab.clear_faults()
    assert answer.code == 130
    assert "qemu+unix:///absent: not read: interrupted before it" in answer.errors
