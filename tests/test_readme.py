"""The README's console blocks show what the commands really print."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```console\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = ("README.md",)


def blocks() -> list[tuple[str, str]]:
    """Return each command of a console block with the output that the page shows."""
    found = []
    for page in PAGES:
        for block in BLOCK.finditer((ROOT / page).read_text(encoding="utf-8")):
            for part in re.split(r"^\$ ", block["text"], flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                found.append((command, output))
    return found


@pytest.mark.parametrize(("command", "output"), blocks())
def test_a_console_block_is_what_the_command_prints(command: str, output: str) -> None:
    program, *arguments = command.split()
    assert program == "unmask"
    result = subprocess.run(
        [sys.executable, "-m", "unmask", *arguments],
        cwd=ROOT,
        env={"COLUMNS": "100", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.stderr == ""
    assert result.stdout.rstrip() == output.rstrip()


def test_there_is_something_to_compare() -> None:
    assert blocks()


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")) + sorted(ROOT.glob("docs/*.md")))
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\((?!https?://)([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / link).exists(), f"{page.name} links to {link}"
