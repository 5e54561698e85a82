"""Completion for bash, zsh and fish, from any shell or none."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.peers import environment
from support.unmask_command import UNMASK, unmask

from .conftest import Command

SHELLS = ("bash", "zsh", "fish")


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_shown_without_a_shell_around(command: Command, shell: str) -> None:
    answer = command("--show-completion", shell)
    assert answer.code == 0
    assert "_UNMASK_COMPLETE=complete_" + shell in answer.output
    assert answer.errors == ""


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_one_that_the_shell_understands(tmp_path: Path, shell: str) -> None:
    program = shutil.which(shell)
    if not program:
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / "completion"
    script.write_text(unmask("--show-completion", shell).output)
    subprocess.run([program, "-n", str(script)], check=True, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("unmask ", {"audit", "models", "explain"}),
        ("unmask au", {"audit"}),
        ("unmask explain CPU00", {"CPU001", "CPU002"}),
        ("unmask models x86-64-v2", {"x86-64-v2", "x86-64-v2-AES"}),
        ("unmask audit --format ", {"json", "table"}),
        ("unmask audit --fail-on c", {"critical"}),
    ],
)
def test_bash_is_told_what_fits(line: str, expected: set[str]) -> None:
    words = line.split(" ")
    answer = unmask(
        COMP_WORDS=line, COMP_CWORD=str(len(words) - 1), _UNMASK_COMPLETE="complete_bash"
    )
    offered = set(answer.output.split())
    assert expected <= offered
    assert all(word.startswith(words[-1]) for word in offered)


def test_completion_is_installed_for_the_user(tmp_path: Path) -> None:
    answer = unmask("--install-completion", "bash", HOME=str(tmp_path))
    assert answer.code == 0
    assert str(tmp_path) in answer.output
    script = tmp_path / ".bash_completions/unmask.sh"
    assert "_UNMASK_COMPLETE=complete_bash" in script.read_text()
    assert str(script) in (tmp_path / ".bashrc").read_text()


def test_the_completion_works_in_bash(tmp_path: Path) -> None:
    script = tmp_path / "completion"
    script.write_text(unmask("--show-completion", "bash").output)
    asked = (
        f"source {script}; COMP_WORDS=(unmask exp); COMP_CWORD=1; "
        f"_unmask_completion {UNMASK}; echo ${{COMPREPLY[@]}}"
    )
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["explain"]


SLOW = ("paramiko", "proxmoxer", "libvirt", "requests", "cryptography", "jinja2", "urllib3")


@pytest.mark.parametrize(
    "line",
    ["unmask ", "unmask audit ", "unmask audit --format ", "unmask fix --cpu ", "unmask bench --"],
)
def test_a_completion_loads_nothing_that_speaks_to_a_hypervisor(line: str) -> None:
    words = line.split(" ")
    script = (
        "import sys\nfrom unmask.cli.main import main\nmain([])\n"
        "print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment(
            COMP_WORDS=line, COMP_CWORD=str(len(words) - 1), _UNMASK_COMPLETE="complete_bash"
        ),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout
    assert not set(SLOW).intersection(done.stderr.split())


def test_completion_without_a_place_for_it_is_printed_instead(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for shell in ("bash", "zsh", "fish"):
        answer = unmask("--install-completion", shell, HOME=str(tmp_path / "file"))
        assert (answer.code, answer.output) == (2, "")
        assert answer.errors.endswith(f"print it with --show-completion {shell}\n")
