"""What a shell is offered for arguments and options.

A shell waits for this at every TAB, so nothing is imported before it is needed, and nothing of what
speaks to a hypervisor ever is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from unmask import plugins
from unmask.errors import UnmaskError

PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
"""Names that no shell makes anything else of."""
WISHES = ("host", "recommended", "+aes")
"""What `--cpu` takes beside the names of models."""


def targets(incomplete: str) -> list[str]:
    """Return the names of configured targets that begin so.

    A configuration that is wrong has none: nobody wants to read of it in the middle of a line.
    """
    from unmask.config import settings  # noqa: PLC0415 - see above

    try:
        found = settings.find(Path.cwd(), os.environ, os.geteuid())
    except (UnmaskError, OSError):
        return []
    names = [item.name for item in found.targets if PLAIN.fullmatch(item.name)]
    return _beginning(names, incomplete)


def codes(incomplete: str) -> list[str]:
    """Return the codes of rules that begin so, in any case of letters.

    They are the names of the rules' modules, none of which has to be imported for that.
    """
    every = [name.partition("_")[0].upper() for name in plugins.names("unmask.rules")]
    return _beginning(every, incomplete.upper())


def selections(incomplete: str) -> list[str]:
    """Return what `--select` takes: codes and families of them, after the last comma."""
    before, comma, last = incomplete.rpartition(",")
    every = codes("")
    families = dict.fromkeys(code.rstrip("0123456789") for code in every)
    return [f"{before}{comma}{word}" for word in _beginning((*families, *every), last.upper())]


def models(incomplete: str) -> list[str]:
    """Return the names of CPU models that begin so, in any case of letters."""
    from unmask.cpu import catalogue  # noqa: PLC0415 - see above

    names = dict.fromkeys((*catalogue.proxmox_names(), *catalogue.names()))
    return [name for name in names if name.lower().startswith(incomplete.lower())]


def cpus(incomplete: str) -> list[str]:
    """Return what `--cpu` takes: names of models, and the words for others."""
    words = [word for word in WISHES if word.startswith(incomplete)]
    return list(dict.fromkeys((*words, *models(incomplete))))


def listed_models(incomplete: str) -> list[str]:
    """Return what `--as` takes: names of models with commas; the last one is completed."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in models(last)]


def runs(incomplete: str) -> list[str]:
    """Return the ids of runs that begin so, the latest first."""
    from unmask.fixes import _state  # noqa: PLC0415 - see above
    from unmask.fixes.journal import Journal  # noqa: PLC0415

    try:
        found = Journal(_state.folder(os.environ)).idents()
    except (UnmaskError, OSError):
        return []
    return _beginning(reversed(found), incomplete)


def _beginning(words: Iterable[str], incomplete: str) -> list[str]:
    return [word for word in words if word.startswith(incomplete)]
