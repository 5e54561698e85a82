"""The `Document`: everything that a report may show, judged and ordered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from unmask.model.bench import BenchResult
from unmask.model.case import GuestCase
from unmask.model.finding import Outcome, Rule
from unmask.model.inventory import Inventory
from unmask.model.move import Move


@dataclass(frozen=True, slots=True)
class Run:
    """When and how a report was made."""

    version: str
    """Of unmask."""
    started: str
    """ISO 8601 in UTC, seconds."""
    targets: tuple[str, ...]
    complete: bool
    """False where a target could not be read or a gap or skip is left."""
    called: tuple[str, ...] = ()
    """What a command line calls each target: its name in the configuration, else its address; none
    where that is all addresses."""


@dataclass(frozen=True, slots=True)
class Document:
    """One audit."""

    run: Run
    inventory: Inventory
    cases: tuple[GuestCase, ...]
    """One a guest, in the order of `inventory.guests`."""
    outcome: Outcome
    rules: tuple[Rule, ...] = ()
    """What was judged by, by code: also the rules that found nothing."""
    moves: tuple[Move, ...] = ()
    """Where each guest could move, in the order of the guests; none where no format shows it."""
    measured: tuple[BenchResult, ...] = ()
    """What `unmask bench` has measured of these guests and nodes, the oldest first."""


@dataclass(frozen=True, slots=True)
class Format:
    """A way to write a document."""

    name: str
    """As `--format` takes it."""
    summary: str
    render: Callable[[Document, int], str]
    """The document and the width of the terminal in columns (0: unlimited) to text."""
    coloured: Callable[[Document, int], str] | None = None
    """The same with a terminal's colours, where the format has any."""
    moves: bool = False
    """It shows `Document.moves`, which take time to judge."""
