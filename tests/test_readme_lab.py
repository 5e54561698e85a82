"""The README's sh-session blocks show what the commands print on the lab, run ids aside."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from unmask.lab.lab import Lab

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```sh-session\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
RUN = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{6}")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Return a directory whose unmask.toml has the lab as a target, for one who may change it."""
    with Lab() as lab:
        token, _, secret = lab.tokens["root"].partition("=")
        (tmp_path / "secret").write_text(secret)
        (tmp_path / "secret").chmod(0o600)
        (tmp_path / "unmask.toml").write_text(
            f'[targets.lab]\naddress = "pve://{lab.address}"\nca_file = "{lab.ca_file}"\n'
            f'token_id = "{token}"\ntoken_file = "secret"\n'
        )
        yield tmp_path


def commands(text: str) -> list[tuple[str, str]]:
    """Return each command of the blocks with the output that the page shows."""
    found = []
    for block in BLOCK.finditer(text):
        for part in re.split(r"^\$ ", block["text"], flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


def test_the_blocks_are_what_the_commands_print(folder: Path) -> None:
    shown = commands((ROOT / "README.md").read_text(encoding="utf-8"))
    assert any(command.startswith("unmask fix lab --vm 101 --cpu host") for command, _ in shown)
    ident = ""
    for command, output in shown:
        program, *arguments = command.split()
        assert program == "unmask"
        arguments = [RUN.sub(ident, word) for word in arguments]
        result = subprocess.run(
            [sys.executable, "-m", "unmask", *arguments],
            cwd=folder,
            env={"COLUMNS": "100", "PATH": "/usr/bin:/bin", "HOME": str(folder)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert result.stderr == ""
        assert RUN.sub("RUN", result.stdout).rstrip() == RUN.sub("RUN", output).rstrip()
        found = RUN.search(result.stdout)
        ident = found[0] if found else ident
