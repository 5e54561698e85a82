"""`unmask audit pve://` of the lab with a look into its guests, from the command line's view."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from support import peers
from support.lab_entered import replaced
from support.unmask_command import UNMASK, Answer
from unmask.lab.answer import Json, Refused
from unmask.lab.guest_agent import GuestAgent, Outcome
from unmask.lab.lab import Lab

Command = Callable[..., Answer]
SHELL = ("/bin/sh", "-s")
ESCAPE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab() as made:
        yield made


def words(lab: Lab, *more: str) -> tuple[str, ...]:
    config = str(lab.config_file)
    return ("audit", "inside", "--config", config, "--fail-on", "never", *more)


def guests(answer: Answer) -> Mapping[str, Any]:
    return {guest["ident"]: guest for guest in json.loads(answer.output)["guests"]}


def kinds(guest: Mapping[str, Any]) -> set[tuple[str, str]]:
    return {(item["kind"], item["status"]) for item in guest["workloads"]}


def test_each_guest_tells_its_workloads(command: Command, lab: Lab) -> None:
    answer = command(*words(lab, "--format", "json"))
    assert (answer.code, answer.errors) == (0, "")
    found = guests(answer)
    assert ("zfs", "software") in kinds(found["101"])
    assert ("openvpn", "software") in kinds(found["102"])
    assert "wireguard" in {kind for kind, _ in kinds(found["103"])}
    assert "bitlocker" in {kind for kind, _ in kinds(found["110"])}
    assert ("tls", "software") in kinds(found["112"])
    assert ("luks", "hardware") in kinds(found["123"])
    assert ("luks", "software") in kinds(found["130"])
    assert found["101"]["inside"]["by"] == "the guest agent"
    assert found["115"]["inside"]["by"] != "the guest agent"
    assert lab.written == ()


def test_without_probing_no_agent_is_asked(command: Command, lab: Lab) -> None:
    before = len(lab.seen)
    answer = command(*words(lab, "--no-probe", "--format", "json"))
    assert not [seen for seen in lab.seen[before:] if "/agent" in seen.path]
    assert guests(answer)["101"]["workloads"] == []


class Swearing(GuestAgent):
    """An agent whose every word is an escape sequence."""

    def status(self, pid: int) -> Mapping[str, Json]:
        super().status(pid)
        raise Refused(f"Agent error: {ESCAPE}".replace("\u202e", ""))


@pytest.mark.parametrize("form", ["table", "json"])
def test_no_escape_sequence_of_a_guest_gets_out(command: Command, lab: Lab, form: str) -> None:
    honest = lab.cluster.agents[112]
    told = {**honest.told, "get-osinfo": {"id": ESCAPE}}
    swearing = Swearing(told=told, inside=honest.inside, pace=0)
    printing = replace(honest, commands={SHELL: Outcome(ESCAPE.encode() * 1000)}, inside=None)
    with replaced(lab, 112, swearing), replaced(lab, 125, printing):
        answer = command(*words(lab, "--format", form))
    assert answer.code == 0
    for sign in ("\x1b", "\x07", "\x9b", "\u202e", "\\u001b", "\\u202e"):
        assert sign not in answer.output + answer.errors
    flat = " ".join(answer.output.split())
    assert "printed nothing that could be read" in flat
    assert "Agent error: ?]0;owned?" in flat


def test_one_bad_guest_costs_no_other(command: Command, lab: Lab) -> None:
    flood = replace(lab.cluster.agents[112], commands={SHELL: Outcome(b"y\n" * 9_000_000)})
    hangs = replace(lab.cluster.agents[125], commands={SHELL: Outcome(seconds=9e9)})
    with replaced(lab, 112, flood), replaced(lab, 125, hangs):
        began = time.monotonic()
        answer = command(*words(lab, "--format", "json", "--guest-timeout", "4"))
        took = time.monotonic() - began
    assert answer.code == 0
    assert took < 20
    found = guests(answer)
    assert ("zfs", "software") in kinds(found["101"])
    reasons = {gap["subject"]: gap["reason"] for gap in json.loads(answer.output)["gaps"]}
    assert "did not end" in reasons["homelab/125"]
    assert "homelab/112" in reasons


def test_control_c_while_a_guest_hangs_prints_what_was_read() -> None:
    with Lab() as slow:
        hangs = replace(slow.cluster.agents[125], commands={SHELL: Outcome(seconds=9e9)})
        with (
            replaced(slow, 125, hangs),
            subprocess.Popen(
                [UNMASK, *words(slow, "--format", "json")],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=peers.environment(),
            ) as process,
        ):
            try:
                _until_only_one_is_left(slow, process)
                process.send_signal(signal.SIGINT)
                began = time.monotonic()
                output, errors = process.communicate(timeout=30)
            finally:
                process.kill()
        assert time.monotonic() - began < 5
        assert (process.returncode, errors.splitlines()[-1]) == (130, "unmask: interrupted")
        assert "Traceback" not in errors
        found = guests(Answer(process.returncode, output, errors))
    assert ("zfs", "software") in kinds(found["101"])
    reasons = {gap["subject"]: gap["reason"] for gap in json.loads(output)["gaps"]}
    assert "interrupted" in reasons["homelab/125"]


def _until_only_one_is_left(lab: Lab, process: subprocess.Popen[str]) -> None:
    """Wait until nobody but the hanging guest is asked any more."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        assert process.poll() is None, "it ended by itself"
        last = [seen.path for seen in lab.seen[-4:]]
        if last and all("/qemu/125/agent/exec-status" in path for path in last):
            return
        time.sleep(0.05)
    raise AssertionError("the hanging guest was not asked alone")
