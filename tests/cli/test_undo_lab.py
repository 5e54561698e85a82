"""`unmask undo` on the lab: by the command alone, with nothing but the journal and a token."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.unmask_command import Answer
from unmask.cli import changing
from unmask.cli.collecting import Asked
from unmask.fixes import run
from unmask.fixes.run import Hooks, Orders
from unmask.lab.lab import Lab
from unmask.model.change import Phase, Place, Plan, Setting
from unmask.model.inventory import Platform
from unmask.model.run import RunKind

Command = Callable[..., Answer]


@pytest.fixture
def lab() -> Iterator[Lab]:
    with Lab(pace=0) as made:
        yield made


@pytest.fixture
def words(lab: Lab, tmp_path: Path) -> tuple[str, ...]:
    """Return the options that a command needs for the lab."""
    token = tmp_path / "token"
    token.write_text(lab.tokens["fix"])
    token.chmod(0o600)
    return ("--token-file", str(token), "--ca-file", str(lab.ca_file))


def fixed(lab: Lab, words: tuple[str, ...], *idents: str) -> str:
    """Change guests of the lab to `host`, and return the run."""
    asked = Asked(token_file=Path(words[1]), ca_file=Path(words[3]))
    hooks, book, plans = Hooks(changing.opener(asked)), changing.book(), []
    for ident in idents:
        place = Place(
            f"pve://{lab.address}", f"homelab/{ident}", ident, "", Platform.PROXMOX, "pve1"
        )
        target = hooks.open(place)
        plans.append(Plan(place, "host", target.read(), Setting("host")))
        target.close()
    with book.begin(RunKind.FIX) as writer:
        outcomes = run.apply(plans, writer, book, hooks, Orders())
    assert [outcome.phase for outcome in outcomes] == [Phase.DONE] * len(plans)
    return writer.ident


def test_everything_is_as_it_was(command: Command, lab: Lab, words: tuple[str, ...]) -> None:
    before = lab.tree()
    ident = fixed(lab, words, "101", "102", "111")
    assert lab.tree() != before
    answer = command("undo", ident, *words)
    assert (answer.code, answer.errors) == (0, "")
    assert lab.tree() == before
    assert "taken back by" in command("history", ident).output


def test_one_guest_of_three(command: Command, lab: Lab, words: tuple[str, ...]) -> None:
    before = lab.tree()
    ident = fixed(lab, words, "101", "111")
    assert command("undo", ident, "--vm", "111", *words).code == 0
    now = lab.tree()
    assert [name for name in before if now[name] != before[name]] == [
        "nodes/pve1/qemu-server/101.conf"
    ]


def test_a_token_that_may_only_read(
    command: Command, lab: Lab, words: tuple[str, ...], tmp_path: Path
) -> None:
    ident = fixed(lab, words, "111")
    before = lab.tree()
    (tmp_path / "token").write_text(lab.tokens["audit"])
    answer = command("undo", ident, *words)
    assert answer.code == 4
    assert "VM.Config.CPU" in answer.output
    assert lab.tree() == before


def test_without_a_token_nothing_is_asked(
    command: Command, lab: Lab, words: tuple[str, ...]
) -> None:
    ident = fixed(lab, words, "111")
    asked = len(lab.seen)
    answer = command("undo", ident, *words[2:])
    assert answer.code in (3, 4)
    assert len(lab.seen) == asked
