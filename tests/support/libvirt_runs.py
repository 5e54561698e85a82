"""A program that changes and recovers one libvirt guest, in children that can be killed at a line.

It is a process of its own, for libvirt's client starts threads and a process with threads must not
fork. It reads commands from standard input, one a line, and answers each with a line:

    fix LINE      change the guest; the answer is how many lines there were, 0 where it was killed
    undo LINE     take the last fix back, likewise
    cut           change it, and be killed while libvirt is being told
    recover       look at what was left, and settle it
"""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support import kill_points
from unmask.connect import threads
from unmask.connect.libvirt_write import DomainWriter
from unmask.fixes import recover, run, undo
from unmask.fixes._target import Target
from unmask.fixes.journal import Journal
from unmask.fixes.libvirt import TARGET
from unmask.fixes.recover import Ways
from unmask.fixes.run import Hooks, Orders
from unmask.model.change import Place, Plan, Setting
from unmask.model.inventory import Platform
from unmask.model.run import RunKind
from unmask.model.source import CollectOptions

PARTS = ("unmask/fixes/", "unmask/connect/libvirt_write", "unmask/dialects/libvirt/domain_text")
NEW = (
    "<cpu mode='custom' match='exact' check='none'>\n"
    "    <model fallback='forbid'>Westmere</model>\n"
    "    <feature policy='require' name='aes'/>\n  </cpu>"
)


def open_target(place: Place) -> Target:
    return TARGET.open(place, CollectOptions(timeout=30))


class Site:
    """One guest and its journals."""

    def __init__(self, uri: str, uuid: str, folder: Path, *, restart: bool) -> None:
        self.place = Place(uri, "host/guest", uuid, "guest", Platform.LIBVIRT)
        self.book = Journal(folder / "state")
        self.orders = Orders(restart=restart, force_stop=True, seconds_down=0, seconds_up=60)

    def fix(self) -> None:
        target = open_target(self.place)
        plan = Plan(self.place, "Westmere,+aes", target.read(), Setting(NEW))
        target.close()
        with self.book.begin(RunKind.FIX) as writer:
            run.apply([plan], writer, self.book, Hooks(open_target), self.orders)

    def undo(self) -> None:
        runs = self.book.runs()
        first = next(item for item in runs if item.kind is RunKind.FIX)
        plans = undo.plan(first, runs, (), open_target).plans
        with self.book.begin(RunKind.UNDO, undoes=first.ident) as writer:
            run.apply(plans, writer, self.book, Hooks(open_target), self.orders)

    def cut(self) -> None:
        """Die while the definition is on its way: it arrives or it does not."""

        def told(self: DomainWriter, xml: str) -> None:
            handle = self._handle
            ready = threading.Event()

            def send() -> None:
                ready.set()
                handle.defineXMLFlags(xml, 1)

            threads.start(send)
            ready.wait()
            os.kill(os.getpid(), signal.SIGKILL)

        DomainWriter.define = told  # type: ignore[method-assign]
        self.fix()

    def recover(self, patience: float = 0.0) -> None:
        recover.recover(self.book, Ways(open_target, finish_undo=True, patience=patience))


def main() -> None:
    uri, uuid, folder, restart = sys.argv[1:]
    importlib.import_module("libvirt")  # here, once; its event loop is started in the children
    site = Site(uri, uuid, Path(folder), restart=restart == "restart")
    for line in sys.stdin:
        word, _, number = line.strip().partition(" ")
        jobs: dict[str, Any] = {
            "fix": site.fix,
            "undo": site.undo,
            "cut": site.cut,
            "recover": site.recover,
            "recover-cut": lambda: site.recover(2.0),
        }
        done = kill_points.fork(jobs[word], PARTS, int(number or 0), Path(folder))
        sys.stdout.write(f"{done}\n")
        sys.stdout.flush()


class Runs:
    """The program from the outside."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def tell(self, command: str) -> int:
        """Let it do something and return its answer."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"{command}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, f"{command}: the program has ended"
        return int(answer)


@contextmanager
def running(uri: str, uuid: str, folder: Path, *, restart: bool = False) -> Iterator[Runs]:
    """Start the program, and end it with the context."""
    argv = [sys.executable, "-m", "support.libvirt_runs", uri, uuid, str(folder)]
    with subprocess.Popen(
        [*argv, "restart" if restart else "leave"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    ) as process:
        yield Runs(process)
        assert process.stdin
        process.stdin.close()


if __name__ == "__main__":
    main()
