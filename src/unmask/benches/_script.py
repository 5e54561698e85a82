"""The one program that runs in a machine while it is measured.

POSIX sh, for dash, bash, busybox ash and FreeBSD's sh. It goes to the input of `sh -s`, and what
gave it to the shell keeps that input open: its end is the sign to stop. A watcher waits for it, so
that a connection that is cut, or an operator who presses Ctrl-C, leaves no process behind. Where
nobody can hold the input open (the guest agent), and where a connection dies without a word, the
program ends at its own time. It writes no file, but one of its own where a dataset is measured.

Everything runs in one session, so that all of it can be ended at once.
"""

from __future__ import annotations

import secrets
import shlex

from unmask.benches import _dataset, _shell
from unmask.benches._openssl import SKIPPED
from unmask.benches._plan import Plan, Run
from unmask.dialects import framed
from unmask.probes._library import GUARD

CRYPTO_BYTES = 256 * 1024
"""Of /proc/crypto that are looked at."""
FLOOD = 64 * 1024
"""Bytes that one run may print."""


def script(mark: str, plan: Plan, *, held: bool) -> str:
    """Return the program for the standard input of `sh -s`.

    It is one function that the last line calls: a connection that breaks off while it is sent
    cannot leave half of it running.

    Args:
        mark: Unguessable letters and digits, at least 16.
        plan: What is run.
        held: Whether its input is kept open, and its end means to stop.

    Raises:
        ValueError: The mark is no such text.
    """
    numbers = iter(range(len(plan.runs)))
    rounds = ["\n".join(_line(run, next(numbers)) for run in part) for part in plan.rounds]
    once = [_once(run, next(numbers)) for run in plan.once]
    files = [_dataset.line(item, next(numbers), next(numbers)) for item in plan.datasets]
    worker = _shell.WORKER.format(
        flood=FLOOD,
        budget=plan.budget,
        skipped=SKIPPED,
        rounds=_while_there_is_time(rounds),
        once="\n".join(once),
        crypto=CRYPTO_BYTES,
        files="\n".join([_dataset.functions(), *files] if files else []),
    )
    guard = GUARD
    if files:
        guard += _dataset.FUNCTIONS
        worker = _dataset.FUNCTIONS + worker
    token = secrets.token_hex(16)
    head = _shell.HEAD.format(mark=framed.checked(mark), token=token, guard=guard)
    tidy = [f"tidy {shlex.quote(item.name)}" for item in plan.datasets]
    main = _shell.MAIN.format(
        total=plan.seconds, held="held" if held else "''", tidy="\n    ".join(tidy) or ":"
    )
    return f"{head}unmask_worker={shlex.quote(worker)}\n{main}"


def end(mark: str) -> bytes:
    """Return what the program prints at its end."""
    return f"\n{mark} end ".encode()


def most_bytes(plan: Plan) -> int:
    """Return how many bytes the program prints at most, its own lines included."""
    return (FLOOD + 4096) * len(plan.runs) + CRYPTO_BYTES + 16 * 1024


def _while_there_is_time(rounds: list[str]) -> str:
    """Return shell for the first round, and for each other one if it would end in time."""
    text = ""
    for part in reversed(rounds):
        rest = f"\nif more; then\n{text}\nfi" if text else ""
        text = f"{part}{rest}"
    return text


def _line(run: Run, number: int) -> str:
    words = list(run.words)
    given = [f"{name}={value}" for name, value in run.variables]
    if given:
        words = ["env", *given, *words]
    size = str(run.block)
    fixed = [str(number), str(run.slice), size, str(run.seconds)]
    return " ".join(["run", *fixed, "$unmask_pin", *map(shlex.quote, words)])


def _once(run: Run, number: int) -> str:
    """Return shell for a run whose program may not be there."""
    program = shlex.quote(run.words[0])
    return f"if command -v {program} >/dev/null; then\n{_line(run, number)}\nfi"
