"""The guest agent's calls: bytes as they were, one program, an end in time, odd answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from unmask.connect.deadline import Clock
from unmask.connect.proxmox import Api
from unmask.connect.proxmox_agent import INPUT_LIMIT, ApiAgent, ended, output
from unmask.connect.proxmox_answer import ApiError

RECORDED = Path(__file__).parents[3] / "shared" / "pve-api" / "recorded"


class Scripted:
    """An API that answers exec-status with what a test says, one after the other."""

    def __init__(self, *answers: Any) -> None:
        self.clock = Clock(60)
        self.posts: list[tuple[str, Mapping[str, Any]]] = []
        self.asked: list[tuple[str, int]] = []
        self.answers = iter(answers)

    def post(self, path: str, form: Mapping[str, Any]) -> Any:
        self.posts.append((path, form))
        return next(self.answers)

    def get_up_to(self, most: int, path: str, **params: str) -> Any:
        self.asked.append((f"{path}?{params}" if params else path, most))
        answer = next(self.answers)
        if isinstance(answer, Exception):
            raise answer
        return answer


def agent(*answers: Any) -> tuple[ApiAgent, Scripted]:
    api = Scripted(*answers)
    return ApiAgent(cast("Api", api), "pve1", "101"), api


def done(text: str) -> dict[str, Any]:
    return {"exited": 1, "exitcode": 0, "out-data": text, "out-truncated": 0}


@pytest.mark.parametrize(
    "data",
    [
        bytes(range(256)),
        "grün €, 日本, \u202e".encode(),
        b"\xff\xfe\x80 no UTF-8",
        b"",
    ],
)
def test_bytes_come_back_as_they_were(data: bytes) -> None:
    """Proxmox VE writes one character for each byte; JSON carries those."""
    carried = json.loads(json.dumps(done(data.decode("latin-1"))))
    asked, _ = agent({"pid": 7}, {"exited": 0}, carried)
    assert asked.run(["cat"], b"", 20, 10_000) == data


def test_what_is_typed_goes_out_byte_for_byte() -> None:
    typed = bytes(range(1, 256))
    asked, api = agent({"pid": 7}, done(""))
    asked.run(["/bin/sh", "-s"], typed, 20, 100)
    ((path, form),) = api.posts
    assert path == "nodes/pve1/qemu/101/agent/exec"
    assert form["command"] == ["/bin/sh", "-s"]
    assert form["input-data"].encode("latin-1") == typed


def test_output_is_cut_at_the_limit() -> None:
    asked, api = agent({"pid": 7}, done("x" * 5000))
    assert asked.run(["yes"], b"", 20, 100) == b"x" * 100
    assert all(most < 8 * 1024 * 1024 for _, most in api.asked)


def test_no_input_is_not_sent() -> None:
    asked, api = agent({"pid": 7}, done("x"))
    asked.run(["powershell.exe"], b"", 20, 100)
    assert list(api.posts[0][1]) == ["command"]


def test_a_program_that_is_too_long_is_not_sent() -> None:
    asked, api = agent()
    with pytest.raises(ApiError, match="longer than Proxmox VE takes"):
        asked.run(["sh"], b"x" * (INPUT_LIMIT + 1), 20, 100)
    assert api.posts == []


def test_a_finished_program_is_asked_for_once() -> None:
    asked, api = agent({"pid": 7}, {"exited": 0}, {"exited": 0}, done("x"))
    asked.run(["sh"], b"", 20, 100)
    assert len(api.asked) == 3


def test_a_program_that_goes_on_is_left_in_time() -> None:
    asked, _ = agent({"pid": 7}, *[{"exited": 0}] * 100)
    with pytest.raises(ApiError, match=r"did not end within 0\.3 s") as caught:
        asked.run(["sh"], b"", 0.3, 100)
    assert caught.value.needs == "a longer --guest-timeout"


@pytest.mark.parametrize("started", [None, {}, [], {"pid": "7"}, {"pid": None}, {"pid": -1}])
def test_a_start_without_a_process_is_odd(started: Any) -> None:
    asked, _ = agent(started)
    with pytest.raises(ApiError, match="not what Proxmox VE sends"):
        asked.run(["sh"], b"", 20, 100)


@pytest.mark.parametrize("answer", [None, [], "x", {}, {"exited": 2}, {"exited": "1"}])
def test_an_answer_of_another_shape_is_odd(answer: Any) -> None:
    with pytest.raises(ApiError, match="not what Proxmox VE sends"):
        ended(answer)


def test_both_spellings_of_true_are_known() -> None:
    assert (ended({"exited": 1}), ended({"exited": True})) == (True, True)
    assert (ended({"exited": 0}), ended({"exited": False})) == (False, False)


@pytest.mark.parametrize("answer", [{}, {"out-data": 7}, {"out-data": ["x"]}, {"out-data": None}])
def test_no_text_is_no_output(answer: Mapping[str, Any]) -> None:
    assert output(answer) == b""


def test_characters_that_are_no_bytes_are_replaced() -> None:
    assert output({"out-data": "a\u20acb"}) == b"a?b"


def test_the_system_and_the_network_are_asked_below_their_node() -> None:
    asked, api = agent({"result": {"id": "debian"}}, {"result": [1]}, {"result": {}})
    assert (asked.system(), asked.interfaces(), asked.system()) == ("debian", [1], "")
    assert [path.rpartition("/")[2] for path, _ in api.asked] == [
        "get-osinfo",
        "network-get-interfaces",
        "get-osinfo",
    ]


@pytest.mark.parametrize("answer", [None, [], {}, "x"])
def test_an_answer_without_a_result_is_odd(answer: Any) -> None:
    asked, _ = agent(answer)
    with pytest.raises(ApiError, match="not what Proxmox VE sends"):
        asked.system()


def recordings(name: str) -> Iterator[Any]:
    for path in sorted(RECORDED.glob(name)):
        yield json.loads(path.read_text(encoding="utf-8"))["response"]["json"]["data"]


@pytest.mark.skipif(not RECORDED.is_dir(), reason="the recordings of the real cluster are not here")
def test_recorded_answers_are_read() -> None:
    outputs = {
        output(answer)
        for answer in recordings("5*-agent-exec-*-final.json")
        if answer and ended(answer)
    }
    assert b"\xc3\xa4\xff" in outputs  # printf '\303\244\377'
    assert b"hello\nworld\n" in outputs
    assert max(map(len, outputs)) == 300_000
