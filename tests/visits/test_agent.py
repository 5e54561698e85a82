"""What is run through an agent, and what becomes of its answers, honest or not."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Sequence

import pytest

from unmask.model.inside import Inside
from unmask.probes import _reading, _script
from unmask.probes._probe import Shell
from unmask.visits import _agent
from unmask.visits._channel import NoWayError

MARK = re.compile(r"UNMASK_MARK=(\w+)\n|\$mark = '(\w+)'")


class Told:
    """An agent that answers with what a function makes of the mark."""

    def __init__(self, answer: Callable[[str], bytes], system: str = "debian") -> None:
        self.answer = answer
        self.ident = system
        self.argv: Sequence[str] = ()
        self.stdin = b""
        self.limit = 0

    def system(self) -> str:
        return self.ident

    def run(self, argv: Sequence[str], stdin: bytes, seconds: float, limit: int) -> bytes:
        assert seconds <= 30
        self.argv, self.stdin, self.limit = argv, stdin, limit
        found = MARK.search(self.program)
        assert found
        return self.answer(found[1] or found[2])

    @property
    def program(self) -> str:
        if self.stdin:
            return self.stdin.decode("ascii")
        return base64.b64decode(self.argv[-1]).decode("utf-16-le")


def look(answer: Callable[[str], bytes], system: str = "debian") -> Inside:
    return _agent.look(Told(answer, system), 30)[0]


def framed(mark: str, *sections: tuple[str, str]) -> bytes:
    text = f"\n{mark} user\n0\n"
    for name, content in sections:
        text += f"\n{mark} {name}\n{content}\n{mark} = 0\n"
    return f"{text}\n{mark} end\n".encode()


UNAME = "Linux\n6.1.0\nx86_64\n"


def test_a_posix_guest_gets_the_program_on_its_shells_input() -> None:
    agent = Told(lambda mark: framed(mark, ("system", UNAME)))
    found, by = _agent.look(agent, 30)
    assert by == "the guest agent"
    assert (found.root, found.system.value.kernel) == (True, "6.1.0")
    assert tuple(agent.argv) == ("/bin/sh", "-s")
    assert agent.limit == _script.most_bytes(_reading.probes())
    assert found.zfs.known is False


def last_begin(seconds: float) -> int:
    program = _agent.program("m" * 16, _reading.probes(), Shell.POSIX, seconds)
    return int(re.findall(r"unmask_end=.* \+ (\d+)\)\)", program.stdin.decode())[0])


@pytest.mark.parametrize("seconds", [30.0, 45.5, 60.0, 300.0])
def test_the_program_ends_before_the_time_is_over(seconds: float) -> None:
    begin = last_begin(seconds)
    assert 1 <= begin <= _script.TOTAL_SECONDS
    assert _script.most_seconds(_reading.probes(), begin) + _agent.MARGIN <= seconds


@pytest.mark.parametrize(("seconds", "begin"), [(20.0, 10), (6.0, 3), (1.0, 1), (0.1, 1)])
def test_little_time_is_used_in_the_hope_that_nothing_hangs(seconds: float, begin: int) -> None:
    assert last_begin(seconds) == begin


def test_every_visit_has_a_mark_of_its_own() -> None:
    marks: list[str] = []

    def answer(mark: str) -> bytes:
        marks.append(mark)
        return framed(mark, ("system", UNAME))

    look(answer)
    look(answer)
    assert len(set(marks)) == 2
    assert all(len(mark) >= 32 for mark in marks)


def test_a_windows_guest_gets_powershell() -> None:
    system = '{"caption": "Windows", "version": "10.0.26100", "build": "26100"}'
    agent = Told(lambda mark: framed(mark, ("system", system)), "mswindows")
    found, _ = _agent.look(agent, 30)
    assert found.system.value.kernel_name == "Windows"
    assert (agent.argv[0], agent.stdin) == ("powershell.exe", b"")


@pytest.mark.parametrize(
    "answer",
    [
        lambda _: b"",
        lambda _: b"sh: not found\n",
        lambda _: b"\x00" * 5000,
        lambda _: b"\n" + b"x" * 32 + b" system\nLinux\n",
        lambda mark: f"\n{mark} nonsense\n".encode(),
        lambda mark: f"{mark} system\n".encode(),  # not at the beginning of a line of its own
    ],
)
def test_an_answer_without_a_section_is_no_way(answer: Callable[[str], bytes]) -> None:
    with pytest.raises(NoWayError, match="the shell in the guest printed nothing"):
        look(answer)


def test_an_answer_that_breaks_off_keeps_what_came() -> None:
    found = look(lambda mark: f"\n{mark} user\n1000\n\n{mark} system\n{UNAME}".encode())
    assert found.root is False
    assert found.system.value.machine == "x86_64"
    assert found.system.known
    assert [item.probe for item in found.partial if "ended in it" in item.reason] == ["system"]


def test_a_line_of_ten_megabytes_is_bounded() -> None:
    found = look(lambda mark: framed(mark, ("system", "A" * 10_000_000 + "\nx\ny")))
    assert not found.system.known or len(found.system.value.kernel_name) <= 1000


def test_endless_sections_cost_no_more_than_the_limit() -> None:
    agent = Told(lambda mark: f"\n{mark} system\nLinux\n".encode() * 1_000_000)
    found, _ = _agent.look(agent, 30)
    assert found.system.value.kernel_name == "Linux"


def test_control_characters_do_not_get_into_what_is_known() -> None:
    name = "Lin\x1b]0;owned\x07ux\u202e\n\x9b31m6.1\nx86\x00_64\n"
    found = look(lambda mark: framed(mark, ("system", name)))
    told = found.system.value
    for text in (told.kernel_name, told.kernel, told.machine):
        assert text.isprintable(), text


def test_a_guest_cannot_speak_for_another_section_without_the_mark() -> None:
    forged = f"Linux\n6.1\nx86_64\n\n{'m' * 32} zfs\nforged\n"
    found = look(lambda mark: framed(mark, ("system", forged)))
    assert not found.zfs.known
