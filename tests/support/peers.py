"""What a test does when the real thing it needs is not there.

On a developer's machine a missing peer is a skip that pytest prints; where the variable `CI` is set
it is a failure, so that a pipeline never passes by testing less.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable
from functools import cache
from typing import NoReturn

import pytest

SEARCH_PATH = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"))
"""Where programs are looked for: a user's PATH on Debian lacks the system directories."""


def in_ci() -> bool:
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


def missing(what: str) -> NoReturn:
    """Skip the test, or fail it in CI, because `what` is not there."""
    if in_ci():
        pytest.fail(f"peer missing: {what}", pytrace=False)
    pytest.skip(f"peer missing: {what}")


def program(name: str) -> str:
    """Return the path of an installed program."""
    path = shutil.which(name, path=SEARCH_PATH)
    return path or missing(f"{name} (`make test` installs it)")


@cache
def _privilege() -> tuple[str, ...] | None:
    if os.geteuid() == 0:
        return ()
    sudo = shutil.which("sudo")
    if sudo is None:
        return None
    allowed = subprocess.run([sudo, "-n", "true"], capture_output=True, check=False)
    return (sudo, "-n") if allowed.returncode == 0 else None


def as_root(*argv: str) -> list[str]:
    """Return the command line that runs `argv` as root without asking for a password."""
    prefix = _privilege()
    if prefix is None:
        missing("root, or sudo without a password")
    return [*prefix, *argv]


def environment(**extra: str) -> dict[str, str]:
    """Return an environment in which programs speak English and find each other."""
    return {**os.environ, "LC_ALL": "C.UTF-8", "PATH": SEARCH_PATH, **extra}


def run(
    argv: Iterable[str], *, stdin: str = "", timeout: float = 60, check: bool = True
) -> subprocess.CompletedProcess[str]:
    """Run a command with text in and out; a failure's message holds what it printed."""
    command = list(argv)
    done = subprocess.run(
        command,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env=environment(),
    )
    if check and done.returncode != 0:
        raise AssertionError(
            f"{command} ended with {done.returncode}: {done.stderr or done.stdout}"
        )
    return done
