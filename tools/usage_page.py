"""Write docs/usage.md from the help of every command.

python tools/usage_page.py           writes the page
python tools/usage_page.py --check   ends with 1 where the page is not what it would write
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "usage.md"
WIDTH = 80
INTRODUCTION = """\
# Usage

This page is written by `tools/usage_page.py` from what `--help` prints.

"""


def page() -> str:
    """Return the page in Markdown."""
    from unmask.cli.overview import COMMANDS  # noqa: PLC0415 - `--help` of this tool needs no unmask

    parts = [section("unmask", ["--help"])]
    parts += [section(f"unmask {name}", [name, "--help"]) for name in COMMANDS]
    return INTRODUCTION + "\n".join(parts)


def section(title: str, words: list[str]) -> str:
    """Return a heading and what the command prints, as on a terminal of `WIDTH` columns."""
    environment = {
        **os.environ,
        "COLUMNS": str(WIDTH),
        "LC_ALL": "C.UTF-8",
        "NO_COLOR": "1",
        "HOME": "/",
    }
    command = [sys.executable, "-c", "from unmask.cli.main import main; main()", *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return f"## {title}\n\n```text\n{done.stdout.rstrip()}\n```\n"


def main() -> int:
    """Write or check the page."""
    made = page()
    if sys.argv[1:] == ["--check"]:
        fresh = PAGE.is_file() and PAGE.read_text(encoding="utf-8") == made
        print(f"{PAGE.name} is {'fresh' if fresh else 'stale: run tools/usage_page.py'}")
        return 0 if fresh else 1
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
