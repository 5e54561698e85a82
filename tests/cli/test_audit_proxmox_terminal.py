"""`unmask audit pve://` at a terminal: progress, and a password that is asked for."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from support import peers
from support.unmask_command import UNMASK, Answer
from unmask.lab.lab import Lab

Command = Callable[..., Answer]


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab() as made:
        yield made


def test_progress_is_shown_on_a_terminal_only(command: Command, lab: Lab) -> None:
    words = ("audit", "lab", "--config", str(lab.config_file), "--fail-on", "never")
    assert command(*words).errors == ""
    leader, follower = pty.openpty()
    with subprocess.Popen(
        [UNMASK, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=follower,
        env=peers.environment(TERM="xterm"),
    ) as process:
        assert process.wait(timeout=30) == 0
    os.close(follower)
    shown = ""
    with suppress(OSError):  # Linux answers so when the other end is closed
        while chunk := os.read(leader, 65536):
            shown += chunk.decode()
    os.close(leader)
    assert "guests: " in shown
    assert shown.endswith(f"\r{' ' * 79}\r")
    assert "\x1b" not in shown


def test_progress_that_nobody_can_see_is_no_error(lab: Lab, tmp_path: Path) -> None:
    """Standard error is closed, or a terminal that was hung up before the first word."""
    leader, follower = pty.openpty()
    os.close(leader)
    for place, ending in ((follower, ""), (subprocess.DEVNULL, " 2>&-")):
        done = subprocess.run(
            ["/bin/sh", "-c", f'exec "$0" "$@"{ending}', UNMASK, "audit", "lab", "--config",
             str(lab.config_file), "--fail-on", "never", "--output", str(tmp_path / "report")],
            stdin=subprocess.DEVNULL,
            stderr=place,
            env=peers.environment(TERM="xterm"),
            check=False,
        )  # fmt: skip
        assert done.returncode == 0
        assert (tmp_path / "report").read_text().startswith("GUEST")
    os.close(follower)


def test_a_password_is_asked_for_at_a_terminal_and_not_shown(lab: Lab, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    child, leader = pty.fork()
    if child == 0:
        os.execve(  # noqa: S606
            UNMASK,
            [
                UNMASK, "audit", f"pve://audit@pve@{lab.address}", "--fingerprint",
                lab.fingerprint, "--format", "json", "--output", str(report),
            ],
            peers.environment(HOME=str(tmp_path), TERM="xterm"),
        )  # fmt: skip
    shown = b""
    while b"Password of audit@pve: " not in shown:
        shown += os.read(leader, 4096)
    os.write(leader, lab.passwords["audit@pve"].encode() + b"\n")
    while True:
        try:
            data = os.read(leader, 4096)
        except OSError:  # Linux says so when the other side has gone
            break
        if not data:
            break
        shown += data
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    os.close(leader)
    assert lab.passwords["audit@pve"].encode() not in shown
    assert len(json.loads(report.read_text())["guests"]) == 24
