"""Real shells with a terminal of their own, in which a line is typed and TAB is pressed."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import time
from pathlib import Path

from support import peers
from support.unmask_command import UNMASK

READY = "ready>"
SHOW = """unmask() { printf 'GOT'; printf '<%s>' "$@"; printf 'END\\n'; }\n"""
"""What is run once the line is completed; the completion itself asks the program, by its path."""
SCRIPTS = {
    "bash": f"PS1='{READY}'\nbind 'set enable-bracketed-paste off'\n",
    "zsh": f"PS1='{READY}'\nunsetopt zle_bracketed_paste prompt_sp\n"
    "autoload -U compinit\ncompinit -u -D\n",
}
PATIENCE = 30.0
"""Seconds that a shell may take for anything."""


class Shell:
    """A shell that has loaded the completion script."""

    def __init__(self, name: str, folder: Path, script: str) -> None:
        program = peers.program(name)
        (folder / "completion").write_text(script)
        rc = folder / (".zshrc" if name == "zsh" else "bashrc")
        rc.write_text(f"{SCRIPTS[name]}source {folder}/completion\n{SHOW}")
        words = [program, "-i"] if name == "zsh" else [program, "--rcfile", str(rc), "-i"]
        settings = peers.environment(
            PATH=f"{Path(UNMASK).parent}:{os.environ['PATH']}",
            HOME=str(folder),
            ZDOTDIR=str(folder),
            TERM="vt100",
            INPUTRC="/dev/null",
        )
        self._ours, theirs = pty.openpty()
        self._process = subprocess.Popen(
            words,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=settings,
            cwd=folder,
            start_new_session=True,
        )
        os.close(theirs)
        self._heard = ""
        self._until(READY)

    def __enter__(self) -> Shell:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._ours)

    def completed(self, line: str) -> list[str]:
        """Type a line, press TAB and Enter, and return the words that the command was given."""
        self._type(f"{line}\t\n")
        heard = self._until("END")
        self._until(READY)
        found = re.findall(r"GOT((?:<[^<>]*>)*)END", heard)
        return re.findall("<([^<>]*)>", found[-1])

    def listed(self, line: str) -> str:
        """Type a line, press TAB until the shell lists what fits, and return what it has shown.

        The shell is of no further use: the list may still be on it.
        """
        self._type(f"{line}\t")
        shown = self._quiet()
        self._type("\t")
        shown += self._quiet()
        return shown

    def _type(self, text: str) -> None:
        self._heard = ""
        os.write(self._ours, text.encode())

    def _until(self, sign: str) -> str:
        end = time.monotonic() + PATIENCE
        while sign not in self._heard:
            assert time.monotonic() < end, f"the shell said only {self._heard!r}"
            self._read(0.1)
        before, _, self._heard = self._heard.partition(sign)
        return before + sign

    def _quiet(self) -> str:
        """Read until there was something and then nothing for a while: the shell waits."""
        end = time.monotonic() + PATIENCE
        silent = 0
        while silent < 15 and time.monotonic() < end:
            silent = 0 if self._read(0.1) else silent + 1
        return self._heard

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._ours], [], [], seconds)
        if ready:
            self._heard += os.read(self._ours, 65536).decode(errors="replace")
        return bool(ready)


def fish(line: str, folder: Path, script: str) -> set[str]:
    """Return what fish would offer, without what it says of each."""
    (folder / "completion").write_text(script)
    done = subprocess.run(
        [
            peers.program("fish"),
            "--no-config",
            "-c",
            f"source {folder}/completion; complete --do-complete '{line}'",
        ],
        env=peers.environment(
            PATH=f"{Path(UNMASK).parent}:{os.environ['PATH']}",
            HOME=str(folder),
            XDG_CONFIG_HOME=str(folder),
        ),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
        stdin=subprocess.DEVNULL,
    )
    return {item.partition("\t")[0] for item in done.stdout.splitlines()}
