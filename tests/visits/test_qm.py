"""`qm` on a guest's node: what is run, and what is made of its output."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from unmask.connect.ssh_session import ExecResult, Limit
from unmask.errors import TargetError
from unmask.visits._channel import NoWayError
from unmask.visits._qm import QmAgent, once

TEXTS = [b"plain", "grün €, 日本".encode(), b"", "Ä".encode()]
OTHER = [bytes(range(1, 256)), b"\xff\xfe"]
"""What is no UTF-8 cannot be told from what is encoded once more, and is left as it is."""


class Node:
    """Answers every command with the same."""

    def __init__(self, result: ExecResult | Exception) -> None:
        self.result = result
        self.commands: list[list[str]] = []
        self.stdin = b""
        self.limit = Limit()

    def __call__(
        self, command: Sequence[str], stdin: bytes, timeout: float, limit: Limit
    ) -> ExecResult:
        assert timeout > 0
        self.commands.append(list(command))
        self.stdin, self.limit = stdin, limit
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


def printed(answer: Any, *, encoded: bool) -> ExecResult:
    """Return what qm prints: pretty JSON, whose characters may be encoded as UTF-8 or not."""
    text = json.dumps(answer, ensure_ascii=False, indent=3, sort_keys=True)
    return ExecResult(0, text.encode("utf-8" if encoded else "latin-1"), b"")


def done(data: bytes) -> dict[str, Any]:
    return {"exitcode": 0, "exited": 1, "out-data": data.decode("latin-1")}


@pytest.mark.parametrize("encoded", [False, True])
@pytest.mark.parametrize("data", TEXTS)
def test_text_comes_back_whichever_way_it_was_printed(data: bytes, encoded: bool) -> None:  # noqa: FBT001
    node = Node(printed(done(data), encoded=encoded))
    assert QmAgent(node, "101").run(["/bin/sh", "-s"], b"x", 20, 1000) == data


@pytest.mark.parametrize("data", OTHER)
def test_bytes_of_every_value_come_back_where_they_are_not_encoded(data: bytes) -> None:
    node = Node(printed(done(data), encoded=False))
    assert QmAgent(node, "101").run(["x"], b"", 20, 1000) == data


def test_only_what_was_surely_encoded_twice_is_decoded() -> None:
    for data in TEXTS + OTHER:
        assert once(data) == data


def test_what_is_run() -> None:
    node = Node(printed(done(b"x"), encoded=True))
    QmAgent(node, "101").run(["/bin/sh", "-s"], b"script", 30, 1000)
    assert node.commands == [
        ["env", "LC_ALL=C", "qm", "guest", "exec", "101", "--timeout", "27",
         "--pass-stdin", "1", "--", "/bin/sh", "-s"],
    ]  # fmt: skip
    assert node.stdin == b"script"
    assert node.limit.stdout < 8 * 1024 * 1024


def test_without_input_none_is_passed_on() -> None:
    node = Node(printed(done(b"x"), encoded=True))
    QmAgent(node, "110").run(["powershell.exe", "-NoProfile"], b"", 30, 1000)
    assert "--pass-stdin" not in node.commands[0]


def test_output_is_cut_at_the_limit() -> None:
    node = Node(printed(done(b"x" * 5000), encoded=False))
    assert QmAgent(node, "101").run(["x"], b"", 20, 100) == b"x" * 100


def test_the_system_and_the_network() -> None:
    agent = QmAgent(Node(printed({"id": "freebsd"}, encoded=True)), "102")
    assert agent.system() == "freebsd"
    told = [{"name": "vtnet0", "ip-addresses": []}]
    assert QmAgent(Node(printed(told, encoded=True)), "102").interfaces() == told


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (ExecResult(255, b"", b"QEMU guest agent is not running\n"), "does not answer"),
        (ExecResult(255, b"", b"No QEMU guest agent configured\n"), "not switched on"),
        (ExecResult(2, b"", b"perl: warning: x\nVM 101 is not running\n"), "not run any more"),
        (ExecResult(255, b"", b"Configuration file 'nodes/a/qemu-server/1.conf' does not exist"),
         "has moved"),
        (ExecResult(127, b"", b"env: 'qm': No such file or directory\n"), "no qm"),
        (ExecResult(1, b"", b""), "ended with 1"),
        (ExecResult(1, b"", b"\x1b]0;owned\x07 no\n"), r"\?\]0;owned\? no"),
        (ExecResult(0, b"", b""), "cannot be read"),
        (ExecResult(0, b"\x00\xff", b""), "cannot be read"),
        (ExecResult(0, b"[" * 100_000, b""), "cannot be read"),
        (ExecResult(-1, b"{", b"", truncated=True), "answered with more than"),
        (TargetError("alder: a command did not end within 20 s"), "did not end within"),
    ],
)  # fmt: skip
def test_why_there_is_no_answer(result: ExecResult | Exception, reason: str) -> None:
    agent = QmAgent(Node(result), "101")
    with pytest.raises(NoWayError, match=reason):
        agent.run(["x"], b"", 20, 1000)
    with pytest.raises(NoWayError, match=reason):
        agent.interfaces()
    with pytest.raises(NoWayError, match=reason):
        agent.system()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"pid": 1201}, "did not end within"),
        ({"exited": 0}, "did not end within"),
        ({}, "cannot be read"),
        ([], "cannot be read"),
        ("x", "cannot be read"),
        ({"exited": 7}, "cannot be read"),
    ],
)
def test_answers_of_another_shape(answer: Any, reason: str) -> None:
    with pytest.raises(NoWayError, match=reason):
        QmAgent(Node(printed(answer, encoded=True)), "101").run(["x"], b"", 20, 1000)


@pytest.mark.parametrize("answer", [[], "x", {}, {"id": 7}, {"id": None}])
def test_a_system_without_a_name_has_none(answer: Any) -> None:
    assert QmAgent(Node(printed(answer, encoded=True)), "101").system() == ""


def test_an_agent_that_does_not_know_the_question_may_know_others() -> None:
    said = b"Agent error: Command guest-get-osinfo has been disabled\n"
    assert QmAgent(Node(ExecResult(255, b"", said)), "101").system() == ""
