"""Write docs/rules/CODE.md and the list of rules from the docstrings of the rules' modules.

python tools/rule_pages.py            write what has changed, remove what has no rule
python tools/rule_pages.py --check    change nothing; fail if anything would change
"""

from __future__ import annotations

import sys
from pathlib import Path

from unmask import plugins
from unmask.engine import explain
from unmask.model.finding import Rule

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "rules"
NOTE = "<!-- Made by tools/rule_pages.py from the rule's module; change it there. -->\n\n"


def pages() -> dict[str, str]:
    """Return every page by file name."""
    found = {f"{code}.md": NOTE + explain.page(code) for code in explain.codes()}
    return found | {"README.md": NOTE + index()}


def index() -> str:
    """Return the list of all rules in Markdown."""
    rules = sorted(plugins.load("unmask.rules", "RULE", Rule), key=lambda rule: rule.code)
    rows = [f"| [{rule.code}]({rule.code}.md) | {rule.title} | {rule.about} |" for rule in rules]
    head = ["# Rules", "", "| code | what it finds | looks at |", "| --- | --- | --- |"]
    return "\n".join([*head, *rows]) + "\n"


def stale(folder: Path, wanted: dict[str, str]) -> list[str]:
    """Return the names of pages that are missing, outdated, or of no rule."""
    present = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    return sorted(
        name for name in present.keys() | wanted.keys() if present.get(name) != wanted.get(name)
    )


def write(folder: Path, wanted: dict[str, str]) -> list[str]:
    """Bring the folder up to date and return the names of the pages that changed."""
    folder.mkdir(parents=True, exist_ok=True)
    changed = stale(folder, wanted)
    for name in changed:
        if name in wanted:
            (folder / name).write_text(wanted[name], encoding="utf-8")
        else:
            (folder / name).unlink()
    return changed


def main(arguments: list[str]) -> int:
    """Write or check the pages; return the exit code."""
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    check = arguments == ["--check"]
    names = stale(FOLDER, pages()) if check else write(FOLDER, pages())
    for name in names:
        print(f"{'stale' if check else 'written'}: docs/rules/{name}")
    return 1 if check and names else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
