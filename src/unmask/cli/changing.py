"""What the commands that change guests have in common: the journal, the ways in, the outcomes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import typer

from unmask.cli import choices, collecting, terminal
from unmask.cli.collecting import Asked
from unmask.config.settings import Settings, Target
from unmask.errors import ChangeError, UnmaskError, UsageError
from unmask.fixes import _state, _target, recover
from unmask.fixes.journal import Journal
from unmask.fixes.run import Outcome
from unmask.model.change import Phase, Place, Plan
from unmask.model.source import CollectOptions
from unmask.report import _history

FAILED = 4
"""What a command ends with where a guest is not as it was to be."""

RESTART = typer.Option(
    "--restart", help="Shut guests that run down and start them again, so that it takes effect."
)
FORCE_STOP = typer.Option(
    "--force-stop", help="With --restart: pull the plug of a guest that does not shut down in time."
)
DEADLINE = typer.Option(
    "--deadline",
    metavar="SECONDS",
    min=1,
    max=86400,
    help="What a guest may take to shut down, and again to start.",
)
KEEP_GOING = typer.Option("--keep-going", help="Go on with the next guest after a failure.")
REASON = typer.Option("--reason", metavar="TEXT", help="Why; it is kept in the journal.")


def book() -> Journal:
    """Return the journal of all changes.

    Raises:
        UsageError: There is no place for it.
    """
    return Journal(_state.folder(os.environ))


def opener(asked: Asked) -> Callable[[Place], _target.Target]:
    """Return what opens a guest's configuration, with the options of this command line.

    It raises `UsageError` or `TargetError` where it cannot. A password is asked for once a target.
    """
    settings = choices.configuration(asked.config)
    known: dict[tuple[str, str], CollectOptions] = {}

    def open_it(place: Place) -> _target.Target:
        which = (place.target, place.login)
        if which not in known:
            wanted = _configured(place, settings)
            known[which] = collecting.options(asked, settings, (wanted,))(wanted.address)
        return _target.open_target(place, known[which])

    return open_it


def _configured(place: Place, settings: Settings) -> Target:
    """Return the configured target that the change was ordered by, with its credentials.

    One address may have several, a login that reads and one that writes: never another one than the
    operator has named. Where its name is not configured any more, the only one of the address.
    """
    for target in settings.at(place.target):
        if target.name == place.login:
            return target
    return settings.named(place.target) or Target("", place.target)


@contextmanager
def told() -> Iterator[None]:
    """Say where to go on when Ctrl-C ends a run in its middle."""
    try:
        yield
    except KeyboardInterrupt:
        terminal.progress("")
        terminal.say(
            "interrupted in the middle of a change; the journal has how far it came: run "
            "`unmask recover`, which looks at the guests"
        )
        raise


def mention_unsettled() -> None:
    """Say where an earlier run has left a guest of which nobody knows what it has."""
    try:
        recover.refuse_unsettled(book())
    except UnmaskError as error:  # what is wrong with the journal is told when it is needed
        if isinstance(error, recover.UnsettledError):
            terminal.say(str(error))


@contextmanager
def reported(run: str) -> Iterator[None]:
    """Tell where the outcome is to be had where the report on a run cannot be written.

    Raises:
        ChangeError: Instead of the `UsageError` that would say that nothing was done.
    """
    try:
        yield
    except UsageError as error:
        raise ChangeError(
            f"{error}; the run had ended by then: unmask history {run} has what became of it"
        ) from error


def progress(plan: Plan, phase: Phase) -> None:
    """Show what is being done, in a line of a terminal."""
    words = _history.DOING.get(phase)
    terminal.progress(f"{plan.place.subject}: {words}" if words else "")


def exit_code(outcomes: Sequence[Outcome]) -> int:
    """Return 0, or 4 where something went wrong with any guest."""
    return FAILED if any(outcome.problem for outcome in outcomes) else 0
