"""Live migrations between two QEMU processes without disks, and the monitor that steers them."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from support.qemu_program import Program
from unmask.cpu import features

SECONDS = 60
"""How long a process has for what takes tenths of a second."""
ROUND = 0.01


class EndedError(Exception):
    """QEMU has gone before it answered."""


@dataclass
class Machine:
    """A running QEMU and its monitor."""

    said: Iterator[str]
    monitor: socket.socket
    events: list[str] = field(default_factory=list)

    def ask(self, command: str, **arguments: Any) -> Any:
        """Return the answer to a monitor command; raises where QEMU answers with an error."""
        text = json.dumps({"execute": command, "arguments": arguments})
        try:
            self.monitor.sendall(text.encode())
        except ConnectionError:
            raise EndedError(command) from None
        while True:
            answer = self._read(command)
            if "return" in answer:
                return answer["return"]
            if "error" in answer:
                raise AssertionError(f"{command}: {answer['error']['desc']}")
            self._note(answer)

    def wait(self, *wanted: str) -> str:
        """Return the first of these events: "RESUME", or "MIGRATION failed" with its status."""
        while True:
            for event in self.events:
                if event in wanted:
                    return event
            self._note(self._read(f"any of {wanted} after {self.events}"))

    def _read(self, wanted: str) -> Any:
        try:
            line = next(self.said, "")
        except ConnectionError:
            line = ""
        if not line:
            raise EndedError(wanted)
        return json.loads(line)

    def _note(self, answer: Mapping[str, Any]) -> None:
        """Keep what was not asked for: events, and the greeting, which is none."""
        name = answer.get("event", "")
        self.events.append(f"{name} {answer.get('data', {}).get('status', '')}".strip())

    def status(self) -> str:
        """Return the guest's state: "running", "postmigrate", "inmigrate"."""
        return str(self.ask("query-status")["status"])

    def flags(self) -> frozenset[str]:
        """Return the words that Linux has for the flags of its processor."""
        (cpu,) = self.ask("query-cpus-fast")
        found = self.ask("qom-list", path=cpu["qom-path"])
        names = [item["name"] for item in found if item["type"] == "bool"]
        shown = (name for name in names if features.known(name) and self._has(cpu, name))
        return frozenset(map(features.canonical, shown))

    def _has(self, cpu: Mapping[str, Any], name: str) -> bool:
        return self.ask("qom-get", path=cpu["qom-path"], property=name) is True


@contextlib.contextmanager
def running(program: Program, place: Path, *options: str) -> Iterator[Machine | str]:
    """Start QEMU; where it ends before it answers, hand out what it said.

    Args:
        program: Which one.
        place: A new name, short enough for a socket's path.
        options: `-cpu`, `-machine`, `-incoming`.
    """
    path, said = Path(f"{place}.qmp"), Path(f"{place}.log")
    process = program.start(said, "-qmp", f"unix:{path},server=on,wait=off", *options)
    try:
        machine = _answering(process, path)
        if machine is None:
            process.wait(SECONDS)
            yield said.read_text(encoding="utf-8", errors="replace")
        else:
            with machine.monitor:
                yield machine
    finally:
        process.kill()
        process.wait()
        path.unlink(missing_ok=True)


def _answering(process: subprocess.Popen[bytes], path: Path) -> Machine | None:
    """Return the machine once its monitor answers, None where QEMU ends before that.

    The greeting comes from a thread of its own, maybe before QEMU has looked at the CPU; commands
    are answered only when the guest is there.
    """
    monitor = _connected(process, path)
    if monitor is None:
        return None
    machine = Machine(monitor.makefile("r", encoding="utf-8"), monitor)
    try:
        machine.ask("qmp_capabilities")
        on = [{"capability": "events", "state": True}]
        machine.ask("migrate-set-capabilities", capabilities=on)
    except EndedError:
        monitor.close()
        return None
    return machine


def _connected(process: subprocess.Popen[bytes], path: Path) -> socket.socket | None:
    deadline = time.monotonic() + SECONDS
    while process.poll() is None:
        if time.monotonic() > deadline:
            pytest.fail(f"QEMU does not listen on {path} after {SECONDS} s")
        monitor = socket.socket(socket.AF_UNIX)
        monitor.settimeout(SECONDS)
        with contextlib.suppress(OSError):
            monitor.connect(str(path))
            return monitor
        monitor.close()
        time.sleep(ROUND)
    return None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one live migration."""

    arrived: bool
    """The guest runs on the target, and its source has let go of it."""
    refusal: str = ""
    """What the target's QEMU said as it did not start."""
    source: str = ""
    """The guest's state on its source afterwards: "running", or "finish-migrate" and then
    "postmigrate" where it was let go."""
    before: frozenset[str] = frozenset()
    after: frozenset[str] = frozenset()
    """The flags of its processor on either side; looked at where it was asked for."""


def migrate(
    origin: Program, target: Program, place: Path, *options: str, look: bool = False
) -> Outcome:
    """Start a guest on `origin` and move it to `target`, which is started with the same options.

    Args:
        origin: Where it runs; it must start there.
        target: Where it is to go.
        place: A new name, short enough for a socket's path.
        options: `-cpu` and `-machine`.
        look: Whether to ask both sides for the flags of its processor.
    """
    way = f"unix:{place}.way"
    with running(origin, Path(f"{place}-a"), *options) as here:
        assert isinstance(here, Machine), f"does not start on its source: {here}"
        assert here.status() == "running"
        before = here.flags() if look else frozenset[str]()
        with running(target, Path(f"{place}-b"), *options, "-incoming", way) as there:
            if isinstance(there, str):
                _fails(here, way)
                return Outcome(arrived=False, refusal=there, source=here.status(), before=before)
            here.ask("migrate", uri=way)
            end = here.wait("MIGRATION completed", "MIGRATION failed")
            if end == "MIGRATION failed":
                return Outcome(arrived=False, source=here.status(), before=before)
            there.wait("RESUME")
            assert there.status() == "running"
            after = there.flags() if look else frozenset[str]()
            return Outcome(arrived=True, source=here.status(), before=before, after=after)


def _fails(here: Machine, way: str) -> None:
    """Try to move a guest to where nobody listens, as its hypervisor would."""
    try:
        here.ask("migrate", uri=way)
    except AssertionError:
        return
    here.wait("MIGRATION failed")
