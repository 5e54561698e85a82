"""Where the program begins and where every error ends.

Nothing heavy is imported here: the version and the overview are printed before typer is loaded.
"""

from __future__ import annotations

import errno
import importlib
import os
import signal
import sys
from collections.abc import Callable, Sequence

from unmask import __version__
from unmask.cli import overview
from unmask.errors import UnmaskError, UsageError

INTERRUPTED = 130
BUG = 70
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
COMPLETING = "_UNMASK_COMPLETE"
"""Set by a shell that asks for completions; it calls the program without arguments."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    _prepare_output()
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    if COMPLETING not in os.environ:
        if words == ["--version"]:
            return _print(f"unmask {__version__}\n")
        if words in ([], ["--help"], ["-h"]):
            return _print(overview.page())
    ends = arguments is None  # the process ends with this
    try:
        return _guarded(
            words, lambda: importlib.import_module("unmask.cli.root").run(words), ends=ends
        )
    except KeyboardInterrupt:  # once more, while the first was being answered
        return _interrupted(ends=ends)


def _prepare_output() -> None:
    if None in (sys.stdin, sys.stdout, sys.stderr):
        # A file that is opened later must not get the number of a standard stream that is closed.
        while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
            pass
        os.close(number)
    if isinstance(getattr(sys.stdout, "errors", None), str) and hasattr(sys.stdout, "reconfigure"):
        # A name that the terminal's encoding lacks is no reason to fail.
        sys.stdout.reconfigure(errors="backslashreplace")


def _print(text: str) -> int:
    """Print a text without loading anything; only where that fails `terminal.put` says why."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except (OSError, AttributeError):  # no reader, no room, or no standard output at all
        return _guarded([], lambda: importlib.import_module("unmask.cli.terminal").put(text))
    return 0


def _guarded(words: list[str], job: Callable[[], None], *, ends: bool = False) -> int:
    """Run a command; every error becomes one line and an exit code."""
    try:
        job()
    except SystemExit as ending:
        if ending.code == INTERRUPTED:
            return _interrupted(ends=ends)
        return ending.code if isinstance(ending.code, int) else int(bool(ending.code))
    except UnmaskError as error:
        _say(str(error))
        _trace([])
        return error.exit_code
    except KeyboardInterrupt:
        return _interrupted(ends=ends)
    except OSError as error:
        if error.errno not in NO_ROOM:
            return _bug(error, words)
        _say(f"cannot write: {error.strerror}")  # typer's own pages do not go through terminal.put
        importlib.import_module("unmask.cli.terminal").abandon(sys.stdout)
        return UsageError.exit_code
    except Exception as error:  # noqa: BLE001 - the one place where a bug ends
        return _bug(error, words)
    return 0


def _interrupted(*, ends: bool) -> int:
    if ends:  # who presses Ctrl-C once more gets no traceback from Python's own end
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    _say("interrupted")
    return INTERRUPTED


def _bug(error: Exception, words: list[str]) -> int:
    _say(
        f"this is a bug in unmask {__version__}: {type(error).__name__}: {error}. "
        "Please report it with what UNMASK_DEBUG=1 prints"
    )
    _trace(words)
    return BUG


def _say(text: str) -> None:
    importlib.import_module("unmask.cli.terminal").say(text)


def _trace(words: Sequence[str]) -> None:
    """Print the traceback of the current error where the operator asked for it."""
    if os.environ.get("UNMASK_DEBUG") or {"-v", "--verbose"}.intersection(words):
        text = importlib.import_module("traceback").format_exc()
        for line in text.splitlines():  # messages in it may quote what a guest is called
            sys.stderr.write(line.encode("unicode_escape").decode() + "\n")
