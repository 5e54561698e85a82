"""The one program that runs in a guest: every probe's command, framed and bounded.

POSIX sh, for dash, bash, busybox ash and FreeBSD's sh. It changes nothing. Each section has a limit
of bytes and of seconds, and a command that hangs or floods costs no other section anything, even if
it cannot be killed: nothing waits for it. The program goes to the shell's standard input, so that
its mark stands in no command line that other users of the guest could read.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from unmask.dialects import framed
from unmask.probes._library import GUARD, LIBRARY, RUNNER
from unmask.probes._probe import Probe, Shell

COMMAND = "/bin/sh -s"
"""Reads the script from its input, so that it does not matter which shell the user has."""
TOTAL_SECONDS = 60
"""No section begins later than this."""

_HEAD = """\
exec 2>/dev/null
LC_ALL=C
PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
WG_HIDE_KEYS=always
UNMASK_MARK={mark}
UNMASK_ROOT={root}
UNMASK_LIBRARY={library}
UNMASK_SESSION=
if setsid true; then
    UNMASK_SESSION=setsid
fi
UNMASK_HEAD='head -c '
if ! printf x | head -c 1 >/dev/null; then
    UNMASK_HEAD='dd bs=1 count='
fi
export LC_ALL PATH WG_HIDE_KEYS
export UNMASK_MARK UNMASK_ROOT UNMASK_LIBRARY UNMASK_SESSION UNMASK_HEAD
unset ENV BASH_ENV CDPATH GREP_OPTIONS
unmask_runner={runner}
{guard}"""

# $1 name, $2 bytes, $3 seconds, $4 "root" where only root gets anything, $5 the command
_MAIN = """\
section() {{
    printf '\\n%s %s\\n' "$UNMASK_MARK" "$1"
    if [ "$(date +%s)" -ge "$unmask_end" ]; then
        printf '\\n%s = skipped\\n' "$UNMASK_MARK"
        return
    fi
    if [ "$4" ] && [ "$unmask_user" != 0 ]; then
        printf '\\n%s = denied\\n' "$UNMASK_MARK"
        return
    fi
    $UNMASK_SESSION sh -c "$unmask_runner" sh "$2" "$5" &
    unmask_job=$!
    guard "$unmask_job" "$3" >/dev/null &
    unmask_guard=$!
    wait "$unmask_job"
    unmask_code=$?
    kill -TERM "$unmask_guard" && wait "$unmask_guard"
    if [ "$unmask_code" -ne 0 ]; then
        printf '\\n%s = late\\n' "$UNMASK_MARK"
    fi
}}
main() {{
    unmask_user=$(id -u)
    unmask_end=$(($(date +%s) + {total}))
    printf '\\n%s user\\n%s\\n' "$UNMASK_MARK" "$unmask_user"
    {sections}
    printf '\\n%s end\\n' "$UNMASK_MARK"
}}
main </dev/null
"""


def script(
    mark: str, probes: Sequence[Probe], *, root: str = "", seconds: int = TOTAL_SECONDS
) -> str:
    """Return the program for the standard input of `COMMAND`.

    It is one function that the last line calls: a connection that breaks off while it is sent
    cannot leave half of it running.

    Args:
        mark: Unguessable letters and digits, at least 16.
        probes: Those for other shells are left out.
        root: The directory that "/" means for files, without a slash at its end; for tests.
        seconds: No section begins later than this after the start.

    Raises:
        ValueError: The mark is no such text.
    """
    head = _HEAD.format(
        mark=framed.checked(mark),
        root=shlex.quote(root),
        library=shlex.quote(LIBRARY),
        runner=shlex.quote(RUNNER),
        guard=GUARD,
    )
    sections = "\n    ".join(_section(probe) for probe in probes if probe.shell is Shell.POSIX)
    return head + _MAIN.format(total=seconds, sections=sections)


def most_bytes(probes: Sequence[Probe]) -> int:
    """Return how many bytes the program prints at most, its own lines included."""
    frame = 3 * 200  # the lines that begin and end a section, with a mark of up to 150 characters
    return sum(probe.limit + frame for probe in probes if probe.shell is Shell.POSIX) + frame


def most_seconds(probes: Sequence[Probe], seconds: int = TOTAL_SECONDS) -> int:
    """Return after how many seconds the program has ended in any case."""
    last = max((probe.seconds for probe in probes if probe.shell is Shell.POSIX), default=0)
    return seconds + last + 2  # a command gets one second to end politely


def _section(probe: Probe) -> str:
    root = "root" if probe.needs_root is True else ""
    # One byte more than it may: that is how it is known that there was more.
    words = (probe.name, str(probe.limit + 1), str(probe.seconds), root, probe.command)
    return " ".join(["section", *map(shlex.quote, words)])
