"""Run the program of the probes in the shells that there are, here and as somebody else."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from support import peers
from unmask.probes import _script
from unmask.probes._probe import Probe
from unmask.probes._sections import Sections, split

MARK = "unmask0123456789abcdef"
SHELLS = ("dash", "bash", "busybox")


def shell(name: str, place: Path) -> tuple[list[str], str]:
    """Return the command line of a shell, and a PATH on which every `sh` is that one."""
    program = peers.program(name)
    place.mkdir(exist_ok=True)
    (place / "sh").symlink_to(program)
    if name == "busybox":
        applets = subprocess.run([program, "--list"], capture_output=True, text=True, check=True)
        for applet in applets.stdout.split():
            if applet not in ("sh", "busybox"):
                (place / applet).symlink_to(program)
    return [str(place / "sh"), "-s"], str(place)


def run(
    probes: Sequence[Probe],
    argv: Sequence[str],
    path: str,
    *,
    root: str = "",
    seconds: int = 60,
    timeout: float = 60,
) -> bytes:
    """Return what the program prints; it must end by itself, with nothing on standard error."""
    program = _script.script(MARK, probes, root=root, seconds=seconds)
    done = subprocess.run(
        list(argv),
        input=program.encode(),
        capture_output=True,
        timeout=timeout,
        check=True,
        env={"PATH": f"{path}{os.pathsep}{peers.SEARCH_PATH}"},
    )
    assert done.stderr == b""
    return b"Welcome to a guest!\n" + done.stdout


def sections(probes: Sequence[Probe], argv: Sequence[str], path: str, **options: int) -> Sections:
    """Return the sections of what the program prints, which must be whole."""
    found = split(run(probes, argv, path, **options), MARK, probes)  # type: ignore[arg-type]
    assert found.whole
    return found


def output(*sections: tuple[str, str], user: str = "0", end: bool = True) -> bytes:
    """Return what the script would print; a section's text is its content."""
    text = f"Last login: today\n{MARK} is not at a line's beginning\n"
    text += f"\n{MARK} user\n{user}\n"
    for name, content in sections:
        text += f"\n{MARK} {name}\n{content}\n{MARK} = 0\n"
    return (text + (f"\n{MARK} end\n" if end else "")).encode()


def need_root() -> None:
    """Skip where the tests do not run as root and cannot become somebody else."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user without a password")
