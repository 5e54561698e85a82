"""The program of the probes in real shells: bounds, hostile commands, and what comes out."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from support import peers, probe_shell
from support.probe_shell import MARK
from unmask.model.inside import Inside
from unmask.model.reading import Known, Missing
from unmask.probes import _reading, _script
from unmask.probes._probe import Probe, Shell
from unmask.probes._section import End, Section
from unmask.probes._sections import split


def probe(name: str, command: str, *, limit: int = 4096, seconds: int = 2) -> Probe:
    return Probe(name, command, Section.text, limit=limit, seconds=seconds)


def after() -> Probe:
    return probe("after", "echo still here\n")


@pytest.fixture(params=probe_shell.SHELLS)
def shell(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[list[str], str]:
    return probe_shell.shell(request.param, tmp_path / "bin")


@pytest.fixture(params=["setsid", "no setsid"])
def killer(request: pytest.FixtureRequest, shell: tuple[list[str], str]) -> tuple[list[str], str]:
    """Each shell with and without setsid, which FreeBSD lacks."""
    argv, path = shell
    if request.param == "no setsid":
        fake = Path(path) / "setsid"
        fake.unlink(missing_ok=True)
        fake.write_text("#!/bin/sh\nexit 127\n")
        fake.chmod(0o755)
        # busybox's ps cannot list parents; a system that has only that one has its setsid as well.
        (Path(path) / "ps").unlink(missing_ok=True)
    return argv, path


def test_everything_is_read_here(shell: tuple[list[str], str]) -> None:
    probes = _reading.probes()
    output = probe_shell.run(probes, *shell)
    found = split(output, MARK, probes)
    assert found.whole
    assert found.user == os.geteuid()
    assert list(found.found) == [each.name for each in probes]
    assert {section.end for section in found.found.values()} <= {End.DONE, End.DENIED}
    inside = _reading.read(output, MARK, probes)
    assert inside.system.value.kernel == os.uname().release
    assert inside.system.value.machine == os.uname().machine
    assert inside.resources.value.processors == os.cpu_count()
    assert inside.cpu.value.flags
    assert inside.bitlocker == Missing("nobody has looked inside the guest")
    assert isinstance(inside.crypttab, Known)


def test_another_user_gets_less_and_is_told_so(shell: tuple[list[str], str]) -> None:
    probe_shell.need_root()
    argv, path = shell
    with tempfile.TemporaryDirectory() as place:  # pytest's own directories are closed to others
        Path(place).chmod(0o755)
        shutil.copytree(path, f"{place}/bin", symlinks=True)
        inside = _as_nobody([f"{place}/bin/sh", *argv[1:]], f"{place}/bin")
    assert inside.root is False
    assert inside.signatures == Missing("only root may read it", "root in the guest")
    assert inside.tls_processes == inside.luks_headers == inside.signatures
    assert inside.system.value.kernel == os.uname().release
    assert inside.cpu.known
    told = {partial.probe: partial for partial in inside.partial}
    assert "listeners" in told
    assert told["dm_crypt"].needs == "root in the guest"
    assert "ciphers" in told["dm_crypt"].reason


def _as_nobody(argv: list[str], path: str) -> Inside:
    nobody = [peers.program("setpriv"), "--reuid=65534", "--regid=65534", "--clear-groups", *argv]
    probes = _reading.probes()
    return _reading.read(probe_shell.run(probes, nobody, path), MARK, probes)


def test_a_command_may_print_nothing_or_fail(shell: tuple[list[str], str]) -> None:
    probes = [probe("none", ":"), probe("fails", "echo part\nexit 3\n"), after()]
    found = probe_shell.sections(probes, *shell).found
    assert (found["none"].text(), found["none"].status) == ("", 0)
    assert (found["fails"].text(), found["fails"].status) == ("part\n", 3)
    assert found["fails"].end is End.DONE
    assert found["after"].text() == "still here\n"


@pytest.mark.parametrize(
    "command",
    [
        "yes",
        "while :; do echo line; done",
        "head -c 10485760 /dev/zero | tr '\\0' x",
        "head -c 10485760 /dev/urandom",
        "part big\nyes\n",
        "i=0\nwhile [ $i -lt 100000 ]; do part p$i; i=$((i + 1)); done",
    ],
)
def test_a_flood_is_cut(shell: tuple[list[str], str], command: str) -> None:
    probes = [probe("flood", command, seconds=20), after()]
    started = time.monotonic()
    output = probe_shell.run(probes, *shell)
    assert time.monotonic() - started < 15
    assert len(output) <= _script.most_bytes(probes)
    assert _script.most_bytes(probes) < 3 * 4096
    found = split(output, MARK, probes).found
    assert found["flood"].truncated
    assert sum(map(len, found["flood"].parts.values())) + len(found["flood"].content) <= 4096
    assert not found["after"].truncated
    assert found["after"].text() == "still here\n"


@pytest.mark.parametrize(
    "command",
    [
        "echo before\nsleep 1000",
        "echo before\ntrap '' TERM\nsleep 1000\nsleep 1000",
        "echo before\n(sleep 1000 & sleep 1000) | cat",
        "echo before\nwhile :; do :; done",
        "echo before\nread -r line </dev/zero",
    ],
)
def test_a_command_that_hangs_is_ended_and_keeps_what_it_said(
    killer: tuple[list[str], str], command: str
) -> None:
    probes = [probe("hangs", command, seconds=1), after()]
    started = time.monotonic()
    found = probe_shell.sections(probes, *killer).found
    assert time.monotonic() - started < 12
    assert found["hangs"].end is End.LATE
    assert found["hangs"].status is None
    if "trap" not in command:  # that one dies of SIGKILL, and what was waiting goes with it
        assert found["hangs"].text() == "before\n"
    assert found["after"].text() == "still here\n"


def test_nothing_stays_behind(shell: tuple[list[str], str], tmp_path: Path) -> None:
    sign = f"{tmp_path}/sign"
    command = f"sleep 4711 & sh -c 'sleep 4711; : {sign}' & sleep 4711"
    probe_shell.run([probe("leaves", command, seconds=1), after()], *shell)
    time.sleep(0.3)
    listed = subprocess.run(["ps", "-eo", "stat,args"], capture_output=True, text=True, check=True)
    lines = [line for line in listed.stdout.splitlines() if "4711" in line and line[0] != "Z"]
    assert lines == []


def test_a_command_cannot_end_the_rest(shell: tuple[list[str], str]) -> None:
    probes = [
        probe("suicide", "echo a\nkill -9 $$"),
        probe("parent", "echo b\nkill -9 $PPID; sleep 5", seconds=1),
        probe("closes", "exec >&- 2>&-; echo lost"),
        probe("leaves", "echo c\nexit 0; echo d"),
        probe("cd", "cd /tmp; set -e; false; echo no"),
        after(),
    ]
    found = probe_shell.sections(probes, *shell).found
    assert found["suicide"].text() == "a\n"
    assert found["suicide"].status == 137
    assert found["closes"].text() == ""
    assert found["leaves"].text() == "c\n"
    assert found["after"].text() == "still here\n"


def test_a_daemon_that_keeps_the_output_open_holds_up_nothing(
    shell: tuple[list[str], str],
) -> None:
    command = "echo a\n(trap '' HUP TERM; exec sleep 30) &\n"
    started = time.monotonic()
    found = probe_shell.sections([probe("daemon", command, seconds=1), after()], *shell).found
    assert time.monotonic() - started < 10
    assert found["daemon"].end is End.LATE
    assert found["after"].text() == "still here\n"


def test_the_whole_ends_in_time(shell: tuple[list[str], str]) -> None:
    probes = [probe(f"slow{number}", "sleep 1", seconds=5) for number in range(20)]
    started = time.monotonic()
    found = probe_shell.sections(probes, *shell, seconds=2).found
    assert time.monotonic() - started < _script.most_seconds(probes, 2) + 1
    assert found["slow0"].end is End.DONE
    assert found["slow19"].end is End.SKIPPED


def test_no_section_can_imitate_another(shell: tuple[list[str], str]) -> None:
    command = "printf '\\nunmask00 after\\nforged\\n%s after\\n' \"x$UNMASK_MARK\"; echo ' = 0'"
    found = probe_shell.sections([probe("forger", command), after()], *shell).found
    assert "forged" in found["forger"].text()
    assert found["after"].text() == "still here\n"


def test_the_mark_and_the_program_are_in_no_command_line(shell: tuple[list[str], str]) -> None:
    command = "tr '\\0' ' ' </proc/$PPID/cmdline; tr '\\0' ' ' </proc/$$/cmdline"
    found = probe_shell.sections([probe("spy", command, limit=65536)], *shell).found
    assert "sh" in found["spy"].text()
    assert MARK not in found["spy"].text()


def test_escape_sequences_and_bytes_are_harmless(shell: tuple[list[str], str]) -> None:
    command = "printf 'a\\033[2Jb\\007\\n\\377\\376c\\n\\342\\200\\256d\\n'"
    text = probe_shell.sections([probe("binary", command)], *shell).found["binary"].text()
    assert text == "a?[2Jb?\n??c\n?d\n"


def test_without_head_c(shell: tuple[list[str], str]) -> None:
    argv, path = shell
    fake = Path(path) / "head"
    fake.unlink(missing_ok=True)
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    found = probe_shell.sections([probe("flood", "yes", seconds=20), after()], argv, path).found
    assert found["flood"].truncated
    assert found["after"].text() == "still here\n"


def test_a_program_that_arrives_in_part_does_nothing() -> None:
    whole = _script.script(MARK, _reading.probes()).encode()
    for length in range(0, len(whole) - len("main </dev/null\n") - 1, 1497):
        done = subprocess.run(
            [peers.program("dash"), "-s"], input=whole[:length], capture_output=True, check=False
        )
        assert done.stdout == b""


def test_probes_for_windows_are_left_out() -> None:
    assert "Win32" not in _script.script(MARK, _reading.probes(Shell.POWERSHELL))
    assert "section" not in _script.script(MARK, ()).split("main() {")[1]


@pytest.mark.parametrize("mark", ["", "short", "0123456789abcdef'; reboot"])
def test_a_mark_is_plain_and_long(mark: str) -> None:
    with pytest.raises(ValueError, match="mark"):
        _script.script(mark, ())
