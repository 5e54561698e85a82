"""Machines that are entered by SSH and cannot be booted here: their files, programs and words.

Each is a directory and a real sshd. The probes' own program runs in it, with the directory as "/"
and its programs before all others; or something else answers in its place, as a hostile guest may.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from support import sshd
from support.sshd import Client, Sshd

# What sshd runs instead of the command: it is written down, and then this machine's own way.
_ENTER = """\
#!/bin/sh
echo "$SSH_ORIGINAL_COMMAND" >>{root}/commands
{answer}
"""

# The same program, with the machine's directory as "/" and its programs first.
_AS_ROOT = """\
PATH={root}/bin:$PATH
export PATH
sed "s,^UNMASK_ROOT=''\\$,UNMASK_ROOT='{root}'," | /bin/sh -c "$SSH_ORIGINAL_COMMAND"
"""

READ_MARK = "mark=$(sed -n \"s/^UNMASK_MARK=//p; s/^.mark = '\\(.*\\)'/\\1/p\" | head -n 1)\n"
"""Shell that reads the program to its end, as a guest may, and learns its mark."""


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine's directory, which is "/" to the program."""

    root: Path

    @property
    def commands(self) -> list[str]:
        """What it was asked to run."""
        path = self.root / "commands"
        return path.read_text().splitlines() if path.exists() else []

    def has(self, program: str, script: str) -> None:
        path = self.root / "bin" / program
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def write(self, path: str, content: str) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content)


def machine(
    root: Path,
    files: Mapping[str, str] = MappingProxyType({}),
    programs: Mapping[str, str] = MappingProxyType({}),
) -> Machine:
    """Make a machine with these files, and programs given as shell."""
    made = Machine(root)
    (root / "bin").mkdir(parents=True)
    for path, content in files.items():
        made.write(path, content)
    for program, script in programs.items():
        made.has(program, script)
    return made


@contextlib.contextmanager
def serving(
    made: Machine, user: Client, *, answer: str = "", settings: str = "", port: int = 0
) -> Iterator[Sshd]:
    """Serve a machine by SSH; the client knows its host key afterwards.

    `answer` is shell that runs instead of the command, with the program on its input.
    """
    path = made.root / "enter"
    path.write_text(_ENTER.format(root=made.root, answer=answer or _AS_ROOT.format(root=made.root)))
    path.chmod(0o755)
    directory = made.root.with_name(f"{made.root.name}-sshd")
    force = f"ForceCommand {path}\n{settings}"
    with sshd.running(directory, user, settings=force, port=port) as server:
        user.knows(server)
        yield server


def sections(*found: tuple[str, str]) -> str:
    """Return shell that prints sections as the program does, marked with $mark."""
    lines = [READ_MARK, "printf '\\n%s user\\n0\\n' \"$mark\"\n"]
    for name, content in found:
        quoted = content.replace("'", "'\\''")
        lines.append(f"printf '\\n%s {name}\\n' \"$mark\"\n")
        lines.append(f"printf '%s\\n' '{quoted}'\nprintf '\\n%s = 0\\n' \"$mark\"\n")
    return "".join(lines) + "printf '\\n%s end\\n' \"$mark\"\n"
