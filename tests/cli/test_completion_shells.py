"""TAB in real shells: what is completed there is what the program takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import shell_tab
from support.shell_tab import Shell
from support.unmask_command import unmask

pytestmark = pytest.mark.peer

UNIQUE = [
    ("unmask expl", ["explain"]),
    ("unmask audit --form", ["audit", "--format"]),
    ("unmask audit --format tick", ["audit", "--format", "ticket"]),
    ("unmask explain SEC", ["explain", "SEC001"]),
    ("unmask audit --select CPU001,SEC00", ["audit", "--select", "CPU001,SEC001"]),
    ("unmask fix --cpu x86-64-v2-", ["fix", "--cpu", "x86-64-v2-AES"]),
    ("unmask migrate-check --cpu kvm3", ["migrate-check", "--cpu", "kvm32"]),
    ("unmask models kvm3", ["models", "kvm32"]),
    ("unmask audit berl", ["audit", "berlin"]),
    ("unmask doctor berl", ["doctor", "berlin"]),
    ("unmask config check berl", ["config", "check", "berlin"]),
    ("unmask audit --output repo", ["audit", "--output", "report.json"]),
    ("unmask audit save", ["audit", "saved.json"]),
    ("unmask audit --fail-on crit", ["audit", "--fail-on", "critical"]),
    ("unmask config ch", ["config", "check"]),
]
"""Lines of which one continuation fits, and the words that the command is given then."""
LISTS = [
    ("unmask ", ("audit", "doctor", "recover")),
    ("unmask explain MIG01", ("MIG010", "MIG016")),
    ("unmask audit ", ("berlin", "paris")),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "unmask.toml").write_text(
        '[targets.berlin]\naddress = "pve://b"\n[targets.paris]\naddress = "pve://p"\n'
        '[targets."$(touch pwned)"]\naddress = "pve://x"\n'
    )
    (tmp_path / "report.json").write_text("")
    (tmp_path / "saved.json").write_text("")
    return tmp_path


def script(shell: str) -> str:
    return unmask("--show-completion", shell).output


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_one_that_fits_is_put_in(shell: str, folder: Path) -> None:
    with Shell(shell, folder, script(shell)) as typed:
        for line, words in UNIQUE:
            assert typed.completed(line) == words, line


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_several_that_fit_are_listed(shell: str, folder: Path) -> None:
    for line, words in LISTS:
        with Shell(shell, folder, script(shell)) as typed:
            shown = typed.listed(line)
        assert all(word in shown for word in words), shown
    assert not (folder / "pwned").exists()


def test_zsh_completes_from_its_own_path_at_the_first_press(folder: Path) -> None:
    """As a package installs it: a file of the path for functions that is called _unmask."""
    (folder / "functions").mkdir()
    (folder / "functions/_unmask").write_text(script("zsh"))
    head = f"fpath=({folder}/functions $fpath)\ncompinit -u -D\n"
    with Shell("zsh", folder, head) as typed:
        assert typed.completed("unmask expl") == ["explain"]
        assert typed.completed("unmask explain SEC") == ["explain", "SEC001"]


@pytest.mark.parametrize(("line", "words"), UNIQUE)
def test_fish_offers_what_fits(line: str, words: list[str], folder: Path) -> None:
    assert words[-1] in shell_tab.fish(line, folder, script("fish"))


def test_fish_runs_no_name(folder: Path) -> None:
    assert {"berlin", "paris"} <= shell_tab.fish("unmask audit ", folder, script("fish"))
    assert not (folder / "pwned").exists()
