"""What the pages say of the command line is so: commands, options, codes of rules, exit codes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from support.golden import ROOT
from unmask import plugins
from unmask.cli.overview import COMMANDS
from unmask.cli.root import command
from unmask.model.finding import Rule

PAGES = sorted(
    {*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")}
    - {ROOT / "docs/usage.md"}
)
"""All pages but the one that is made from the help itself."""
FENCED = re.compile(r"^```(?P<kind>[\w-]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"^ {4}(?P<line>unmask .*)$", re.MULTILINE)
INLINE = re.compile(r"`(?P<words>[^`\n]+(?:\n[^`\n]+)?)`")
SHELL = ("sh", "console", "sh-session")
ENDS = re.compile(r"\s(?:\||>|&&|\d>)|;")
"""Where a shell ends one command's words."""

USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]
"""What a parser raises; typer has a click of its own."""
OTHERS = {
    "--copy-storage-all": "virsh migrate",
    "--delete": "qm set",
    "--digest": "qm set",
    "--force": "pipx install",
    "--inactive": "virsh dumpxml",
    "--key": "virsh metadata",
    "--no-install-recommends": "apt install",
    "--revert": "qm set",
    "--showkeys": "dmsetup table",
    "--upgrade": "pip install",
}
"""Options of other programs that pages name."""
RULES = frozenset(rule.code for rule in plugins.load("unmask.rules", "RULE", Rule))
CODE = re.compile(rf"\b(?:{'|'.join(sorted({code[:3] for code in RULES}))})\d{{3}}\b")


@cache
def group_options() -> frozenset[str]:
    return frozenset({"--version", "--help", "-h", "--show-completion", "--install-completion"})


@cache
def known(name: str) -> Any:
    return command(name)


@cache
def options(name: str) -> frozenset[str]:
    """Return every option of a command and of what is below it."""
    made = known(name)
    below = getattr(made, "commands", {}).values()
    found = {word for item in (made, *below) for param in item.params for word in param.opts}
    return frozenset({*found, "--help", "-h"})


def shell_lines(text: str) -> Iterator[str]:
    """Yield the lines of a page that a reader would type."""
    for block in FENCED.finditer(text):
        if block["kind"] in SHELL:
            lines = block["text"].replace("\\\n", " ").splitlines()
            prompted = block["kind"] != "sh"
            yield from (
                line.removeprefix("$ ")
                for line in lines
                if line.removeprefix("$ ").startswith("unmask ")
                and (line.startswith("$ ") or not prompted)
            )
    for line in INDENTED.finditer(FENCED.sub("", text)):
        yield line["line"]


def inline(text: str) -> Iterator[str]:
    """Yield what a page has in single back quotes."""
    for found in INLINE.finditer(FENCED.sub("", text)):
        yield " ".join(found["words"].split())


def commands(page: Path) -> list[str]:
    """Return the command lines of unmask that a page names.

    In running text a last option may stand without its value.
    """
    text = page.read_text(encoding="utf-8")
    quoted = [words for words in inline(text) if words.startswith("unmask ")]
    return [*shell_lines(text), *(f"{words} X" if "--" in words else words for words in quoted)]


def wrong(line: str) -> str:
    """Return what is wrong with a command line; empty where nothing is."""
    words = shlex.split(ENDS.split(line, maxsplit=1)[0], comments=True)[1:]
    if not words or words[0].startswith("-"):
        return "" if set(words) <= group_options() | {"bash", "zsh", "fish"} else "no such option"
    words = words[1:] if words[0] == "help" else words
    if words[0] in ("COMMAND", "CMD"):
        return ""
    if words[0] not in COMMANDS:
        return f"there is no command {words[0]}"
    made = known(words[0])
    try:
        made.make_parser(made.context_class(made, info_name=words[0])).parse_args(words[1:])
    except USAGE_ERROR as error:
        return str(error)
    return ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_that_a_page_names_is_one(page: Path) -> None:
    told = {line: wrong(line) for line in commands(page)}
    assert not {line: why for line, why in told.items() if why}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_option_that_a_page_names_is_there(page: Path) -> None:
    every = {word for name in COMMANDS for word in options(name)} | group_options() | set(OTHERS)
    named = {
        re.split(r"[ =]", words, maxsplit=1)[0]
        for words in inline(page.read_text(encoding="utf-8"))
        if words.startswith("--")
    }
    assert named <= every


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_code_that_a_page_names_is_a_rule(page: Path) -> None:
    assert set(CODE.findall(page.read_text(encoding="utf-8"))) <= RULES


def test_each_option_of_another_program_is_named_somewhere() -> None:
    named = {
        re.split(r"[ =]", words, maxsplit=1)[0]
        for page in PAGES
        for words in inline(page.read_text("utf-8"))
    }
    assert named >= OTHERS.keys()


def test_commands_and_options_are_found() -> None:
    assert sum(len(commands(page)) for page in PAGES) > 100
    assert wrong("unmask audit --formt json x")
    assert wrong("unmask migrate x")
    assert not wrong("unmask audit --format json a.json | jq . # why")
