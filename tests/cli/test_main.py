"""The start of the program and the end of every error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.documents import LAB
from support.unmask_command import UNMASK, Answer, unmask
from unmask import __version__
from unmask.cli import overview, root
from unmask.errors import InputError, TargetError, UsageError

from .conftest import Command


@pytest.mark.parametrize("words", [("--version",), ("--version", "audit")])
def test_the_version_is_shown(command: Command, words: tuple[str, ...]) -> None:
    assert command(*words) == Answer(0, f"unmask {__version__}\n", "")


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",)])
def test_the_overview_is_shown(command: Command, words: tuple[str, ...]) -> None:
    assert command(*words) == Answer(0, overview.page(), "")


def test_the_overview_fits_every_terminal() -> None:
    lines = overview.page().splitlines()
    assert max(map(len, lines)) <= 80
    text = " ".join(overview.page().split())
    assert all(f"{name} {summary}" in text for name, summary in overview.COMMANDS.items())


def test_typer_shows_the_same_overview(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ending:
        root.run(["--help"])
    assert ending.value.code == 0
    assert capsys.readouterr().out == overview.page()


def test_every_command_has_its_module_and_help(command: Command) -> None:
    for name, summary in overview.COMMANDS.items():
        answer = command(name, "--help")
        assert answer.code == 0
        assert summary in answer.output
        assert f"Usage: unmask {name}" in answer.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("audti",), "No such command 'audti'. Did you mean 'audit'?"),
        (("audit", "--fromat", "json"), "--fromat"),
        (("audit", "--fail-on", "bad"), "--fail-on"),
        (("audit", "--timeout", "0"), "--timeout"),
        (("audit", "--format", "xml", "x"), "there is no format 'xml'"),
        (("explain", "CPU001", "CPU002"), "CPU002"),
        (("--show-completion", "tcsh"), "--show-completion"),
    ],
)
def test_a_wrong_command_line_is_a_usage_error(
    command: Command, words: tuple[str, ...], message: str
) -> None:
    answer = command(*words)
    assert answer.code == 2
    assert message in answer.errors
    assert answer.output == ""


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def run(words: list[str]) -> None:
        del words
        raise error

    monkeypatch.setattr(root, "run", run)


@pytest.mark.parametrize(
    ("error", "code"),
    [(UsageError("no \x1b[31mway"), 2), (TargetError("no way"), 3), (InputError("no way"), 3)],
)
def test_an_error_of_ours_is_one_clean_line(
    command: Command, monkeypatch: pytest.MonkeyPatch, error: Exception, code: int
) -> None:
    failing(monkeypatch, error)
    assert command("audit", "-v") == Answer(code, "", "unmask: no way\n")


def test_a_bug_says_so_and_keeps_its_traceback_for_those_who_ask(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, RuntimeError("odd \x1b]0;name\x07"))
    answer = command("audit")
    assert answer.code == 70
    assert answer.errors.startswith(
        f"unmask: this is a bug in unmask {__version__}: RuntimeError: odd"
    )
    assert answer.errors.count("\n") == 1
    for words in (("audit", "-v"), ("audit", "--verbose")):
        assert "Traceback" in command(*words).errors
    monkeypatch.setenv("UNMASK_DEBUG", "1")
    traced = command("audit").errors
    assert "Traceback" in traced
    assert "\x1b" not in traced


def test_an_interruption_is_no_bug(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, KeyboardInterrupt())
    assert command("audit") == Answer(130, "", "unmask: interrupted\n")
    failing(monkeypatch, SystemExit(130))  # what typer makes of it
    assert command("audit") == Answer(130, "", "unmask: interrupted\n")


WORDS = [["--version"], ["--help"], ["audit", str(LAB)], ["models"]]


def through_a_shell(redirection: str, words: list[str]) -> Answer:
    """Run unmask with its output redirected as a shell does it."""
    return unmask(*words, through=("sh", "-c", f'exec "$0" "$@" {redirection}'))


@pytest.mark.parametrize("words", WORDS)
def test_a_full_disk_is_said_and_no_bug(words: list[str]) -> None:
    answer = through_a_shell(">/dev/full", words)
    said = "unmask: standard output: cannot be written: No space left on device\n"
    assert answer == Answer(2, "", said)


def test_a_page_of_typer_that_finds_no_room_is_no_bug() -> None:
    answer = through_a_shell(">/dev/full", ["audit", "--help"])
    assert answer == Answer(2, "", "unmask: cannot write: No space left on device\n")


@pytest.mark.parametrize("words", WORDS)
def test_a_closed_standard_output_is_said_and_no_bug(words: list[str]) -> None:
    answer = through_a_shell(">&-", words)
    said = "unmask: standard output is closed: use --output FILE, or open it\n"
    assert answer == Answer(2, "", said)


def test_a_report_to_a_file_needs_no_standard_streams(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    words = ["audit", str(LAB), "--format", "json", "--output", str(report)]
    assert through_a_shell("<&- >&- 2>&-", words).code == 0
    assert json.loads(report.read_text())["schema"] == "unmask.audit/1"


def test_errors_never_end_up_in_the_report(tmp_path: Path) -> None:
    answer = through_a_shell("2>&-", ["audit", str(LAB), str(tmp_path / "gone"), "--format=json"])
    assert (answer.code, answer.report["schema"]) == (3, "unmask.audit/1")
    assert through_a_shell("2>/dev/full", ["audit", str(tmp_path / "gone")]) == Answer(3, "", "")
    assert through_a_shell(">&- 2>/dev/full", ["audit", "--unknown"]) == Answer(2, "", "")


@pytest.mark.parametrize("words", WORDS)
def test_a_reader_that_has_gone_is_no_error(words: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [UNMASK, *words], stdout=writing, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writing)
    assert done.stderr == ""
    assert done.returncode in (0, 141)


def test_a_terminal_that_lacks_letters_is_no_error() -> None:
    answer = unmask("explain", "CPU001", LC_ALL="C", PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    assert answer.code == 0
    assert answer.errors == ""


@pytest.mark.parametrize("word", ["--version", "--help"])
def test_the_start_imports_nothing_heavy(word: str) -> None:
    script = (
        "import sys; from unmask.cli.main import main; main([sys.argv[1]]); "
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, word], capture_output=True, text=True, check=True
    )
    loaded = set(done.stderr.split())
    assert "unmask.cli.overview" in loaded
    heavy = {"typer", "tabulate", "libvirt", "defusedxml", "unmask.model.cpu", "json", "typing"}
    assert not heavy & loaded


def test_a_command_does_not_import_another_commands_parts() -> None:
    script = (
        "import sys; from unmask.cli.main import main; main(['explain', 'CPU001']); "
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert not {"tabulate", "libvirt", "rich", "unmask.cli.audit"} & set(done.stderr.split())


def test_a_working_directory_that_is_gone_is_said(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f"cd {gone} && rmdir {gone} && exec {UNMASK} audit saved.json"
    result = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr == "unmask: the working directory no longer exists; change to another\n"
