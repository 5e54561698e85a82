"""Programs run through the guest agent's commands, and agents that answer nonsense."""

from __future__ import annotations

import base64
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from support import peers
from unmask.errors import UnreadError
from unmask.visits._channel import NoWayError
from unmask.visits._libvirt_agent import MOST_BYTES, LibvirtAgent, cut

DONE = {"exited": True, "exitcode": 0}
Answer = Any | Callable[[Mapping[str, object]], Any]


@dataclass
class Scripted:
    """An agent that answers each command as it is told to; the last answer is repeated."""

    answers: dict[str, list[Answer]] = field(default_factory=dict)
    asked: list[tuple[str, Mapping[str, object]]] = field(default_factory=list)

    def agent(
        self, command: str, arguments: Mapping[str, object] | None = None, seconds: float = 5.0
    ) -> Any:
        assert seconds > 0
        self.asked.append((command, arguments or {}))
        answers = self.answers[command]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def scripted(*status: Answer, started: Answer = None) -> Scripted:
    return Scripted(
        {
            "guest-ping": [{}],
            "guest-get-osinfo": [{"id": "debian"}],
            "guest-exec": [{"pid": 7} if started is None else started],
            "guest-exec-status": list(status),
        }
    )


def run(agent: Scripted, seconds: float = 20.0, limit: int = 1000) -> bytes:
    return LibvirtAgent(agent).run(["/bin/sh", "-s"], b"echo hello\n", seconds, limit)


def test_a_program_is_started_and_asked_for_until_it_has_ended() -> None:
    output = base64.b64encode(b"hello\n").decode()
    agent = scripted({"exited": False}, {"exited": False}, {**DONE, "out-data": output})
    assert run(agent) == b"hello\n"
    (_, started), *polls = agent.asked
    assert started["path"] == "/bin/sh"
    assert started["arg"][-2:] == ["/bin/sh", "-s"]  # type: ignore[index]
    assert base64.b64decode(str(started["input-data"])) == b"echo hello\n"
    assert started["capture-output"] is True
    assert polls == [("guest-exec-status", {"pid": 7})] * 3


def test_no_output_and_any_exit_status_are_an_answer() -> None:
    assert run(scripted(DONE)) == b""
    assert run(scripted({"exited": True, "signal": 9, "out-data": "eA=="})) == b"x"


def test_output_beyond_the_limit_is_cut() -> None:
    output = base64.b64encode(b"x" * 5000).decode()
    assert run(scripted({**DONE, "out-data": output}), limit=10) == b"x" * 10


def test_a_program_that_does_not_end_is_left_alone() -> None:
    agent = scripted({"exited": False})
    with pytest.raises(NoWayError, match=r"did not end within 0\.3 s"):
        run(agent, seconds=0.3)
    assert {command for command, _ in agent.asked} == {"guest-exec", "guest-exec-status"}


NONSENSE: list[Answer] = [None, 7, "text", [], [[[]]], {"exited": True, "out-data": 7}]


@pytest.mark.parametrize(
    "status",
    [
        *NONSENSE,
        {"exited": True, "out-data": "not base64!"},
        {"exited": True, "out-data": "eA="},
        {"exited": True, "out-data": "\u00e9\x1b[2J"},
        {"exited": True, "out-data": None},
    ],
)
def test_nonsense_about_a_program_ends_the_attempt(status: Answer) -> None:
    with pytest.raises(NoWayError, match="none of an agent's"):
        run(scripted(status))


@pytest.mark.parametrize("started", [7, [], "pid", {}, {"pid": "7"}, {"pid": True}, {"pid": 1.5}])
def test_nonsense_about_a_start_ends_the_attempt(started: Answer) -> None:
    with pytest.raises(NoWayError, match="none of an agent's"):
        run(scripted(DONE, started=started))


def test_an_end_that_is_not_true_is_none() -> None:
    with pytest.raises(NoWayError, match="did not end"):
        run(scripted({"exited": "yes"}), seconds=0.2)


def test_a_refusal_says_what_would_be_needed() -> None:
    refusal = UnreadError("its guest agent may not run programs", "guest-exec allowed")
    with pytest.raises(NoWayError) as caught:
        run(scripted(started=refusal))
    assert (caught.value.reason, caught.value.needs) == (refusal.reason, refusal.needs)


def test_the_system_is_told_or_not() -> None:
    assert LibvirtAgent(scripted()).system() == "debian"
    strange: list[Answer] = [UnreadError("blocked"), [], {}, {"id": 7}, {"id": "\x1b[31m"}]
    for answer in strange:
        agent = scripted()
        agent.answers["guest-get-osinfo"] = [answer]
        assert LibvirtAgent(agent).system() == ""
    agent.answers["guest-get-osinfo"] = [{"id": "x" * 1000}]
    assert len(LibvirtAgent(agent).system()) == 64
    agent.answers["guest-ping"] = [UnreadError("its guest agent does not run", "it")]
    with pytest.raises(NoWayError, match="does not run"):
        LibvirtAgent(agent).system()


def test_windows_runs_the_program_itself() -> None:
    argv = ["powershell.exe", "-EncodedCommand", "eA=="]
    assert cut(argv, 10) == argv
    assert cut(["C:\\Windows\\POWERSHELL.EXE"], 10) == ["C:\\Windows\\POWERSHELL.EXE"]


@pytest.mark.parametrize("shell", ["dash", "bash", "busybox"])
def test_the_output_is_cut_in_the_guest(shell: str) -> None:
    """Whichever shell /bin/sh is; what was given reaches the program, and its errors get lost."""
    program = [peers.program(shell), *(["sh"] if shell == "busybox" else [])]
    wanted = 'cat; echo "$1" >&2; yes "$1"'
    argv = cut(["/bin/sh", "-c", wanted, "sh", "a b"], 14)
    done = subprocess.run([*program, *argv[1:]], input=b"given\n", capture_output=True, check=False)
    assert (done.stdout, done.stderr) == (b"given\na b\na b\n", b"")


def test_where_head_cannot_count_the_program_keeps_to_the_limit_itself(tmp_path: Any) -> None:
    head = tmp_path / "head"
    head.write_text("#!/bin/sh\nexit 1\n")
    head.chmod(0o755)
    argv = cut(["/bin/sh", "-c", "cat; echo error >&2"], 3)
    path = f"{tmp_path}:/usr/bin:/bin"
    done = subprocess.run(
        argv, input=b"given", capture_output=True, check=False, env={"PATH": path}
    )
    assert (done.stdout, done.stderr) == (b"given", b"")


def test_what_fits_into_a_limit_of_libvirts_is_not_exceeded() -> None:
    assert f"head -c {MOST_BYTES}" in " ".join(cut(["/bin/true"], MOST_BYTES))
    agent = scripted(DONE)
    run(agent, limit=10**9)
    assert f"head -c {MOST_BYTES}" in str(agent.asked[0][1]["arg"])
    assert MOST_BYTES * 4 / 3 < 4 * 1024 * 1024 - 1000
