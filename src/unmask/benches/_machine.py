"""The benchmark of one machine: look what it is, plan, run one program, read what came of it."""

from __future__ import annotations

import secrets
import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from unmask.benches import _answer, _dataset, _openssl, _script
from unmask.benches._answer import Answer
from unmask.benches._door import Door
from unmask.benches._effort import PACES, Effort
from unmask.benches._plan import FILE_SECONDS, Dataset, Plan, Run, interleaved
from unmask.dialects import framed
from unmask.errors import TargetError
from unmask.model.bench import PLAIN, BenchResult, Environment, Tool
from unmask.model.cpu import HostCpu
from unmask.model.inside import Inside
from unmask.model.reading import Known

PROBES = frozenset({"cpu", "system", "virtualisation", "resources", "openssl"})
SERVICES = frozenset({"tls_services", "tls_processes", "openvpn"})
LOOK_SECONDS = 30.0
"""For looking what a machine is."""
WAY = 5.0
"""Seconds for the way there and back."""
USUAL = 12
"""Runs of a round for which the budgets are meant."""
NO_WINDOWS = "it runs Windows, which has no shell that could measure it"
NO_OPENSSL = "openssl is not installed in it, or not where its user finds it"
NOT_WHOLE = "the benchmark did not come to its end: what it had measured until then is here"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a benchmark is to measure."""

    effort: Effort = Effort.STANDARD
    algorithms: tuple[str, ...] = _openssl.ALGORITHMS
    kernel: bool = True
    """Whether `cryptsetup benchmark` runs where it is there."""
    extra: tuple[Run, ...] = ()
    """Further runs, each once."""
    datasets: tuple[tuple[str, str], ...] = ()
    """Datasets of ZFS on which a file is written, each with its setting."""
    services: bool = False
    """Whether to look which programs there may encrypt."""

    @property
    def seconds(self) -> float:
        """Return more seconds than measuring one machine takes, with what belongs to it."""
        once = sum(run.seconds for run in self.extra) + 2 * FILE_SECONDS * len(self.datasets)
        return 3 * PACES[self.effort].budget * max(len(self.algorithms) // 4, 1) + once + 60


@dataclass(frozen=True, slots=True)
class Subject:
    """The machine in the words of the inventory."""

    subject: str
    name: str = ""
    host: str = ""


Rounds = Callable[[Inside, float], Sequence[Run]]
"""Makes one round from what a machine is and the seconds that a run measures."""


def measure(door: Door, who: Subject, wanted: Wanted, rounds: Rounds | None = None) -> BenchResult:
    """Measure a machine.

    Args:
        door: The way into it.
        who: What it is called.
        wanted: What to measure.
        rounds: Makes a round of other runs than those that tell why it is as fast as it is.

    Raises:
        UnmaskError: It cannot be entered, or what runs there cannot be made sense of.
    """
    started = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    inside = door.look(LOOK_SECONDS, PROBES | (SERVICES if wanted.services else frozenset()))
    if isinstance(inside.system, Known) and inside.system.value.kernel_name == "Windows":
        raise TargetError(NO_WINDOWS)
    plan = planned(inside, wanted, rounds)
    result = BenchResult(
        subject=who.subject,
        name=who.name,
        host=who.host,
        started=started,
        method=wanted.effort.value,
        way=door.way,
        environment=environment(inside),
        services=services(inside),
    )
    problems = list(_lacking(inside))
    if not plan.runs:
        return replace(result, problems=tuple(problems))
    answer = run(door, plan)
    if not answer.ended:
        problems.append(NOT_WHOLE)
    for found in answer.datasets:
        problems.extend(_dataset.problems(found, dict(wanted.datasets).get(found.name, PLAIN)))
    return replace(
        result,
        environment=replace(
            result.environment,
            pinned=answer.pinned,
            override=answer.override,
            load=answer.load,
            drivers=answer.drivers or result.environment.drivers,
        ),
        samples=tuple(answer.samples),
        problems=tuple(problems),
    )


def planned(inside: Inside, wanted: Wanted, rounds: Rounds | None = None) -> Plan:
    """Return what is run in a machine that is like this."""
    pace = PACES[wanted.effort]
    version = openssl_version(inside)
    once = list(wanted.extra)
    one: Sequence[Run] = ()
    if version:
        make = rounds or (lambda inside, measured: _usual(inside, wanted, measured))
        one = make(inside, pace.slice)
    if wanted.kernel and rounds is None:
        once = [*_kernel(wanted.effort), *once]
    # As long for each run as where it is only asked why a machine is as fast as it is.
    budget = pace.budget * max(len(one), USUAL) // USUAL
    size = _dataset.MEBIBYTES[wanted.effort]
    datasets = tuple(Dataset(name, setting, size) for name, setting in wanted.datasets)
    return Plan(interleaved(one, pace.rounds), tuple(once), budget, datasets)


def openssl_version(inside: Inside) -> str:
    """Return what `openssl version` says there; "" where there is none."""
    return inside.openssl.value.version if isinstance(inside.openssl, Known) else ""


def cpu(inside: Inside) -> HostCpu | None:
    """Return the machine's CPU as its kernel shows it; None where that was not read."""
    return inside.cpu.value if isinstance(inside.cpu, Known) else None


def environment(inside: Inside) -> Environment:
    """Return where it is measured."""
    return Environment(
        cpu=inside.cpu,
        system=inside.system,
        virtualisation=inside.virtualisation,
        resources=inside.resources,
        openssl=inside.openssl,
    )


def services(inside: Inside) -> tuple[str, ...]:
    """Return the programs found that may encrypt, as their files or the kernel name them."""
    names: list[str] = []
    if isinstance(inside.tls_services, Known):
        names += [service.name for service in inside.tls_services.value]
    if isinstance(inside.tls_processes, Known):
        names += [process.name for process in inside.tls_processes.value]
    if isinstance(inside.openvpn, Known) and inside.openvpn.value:
        names.append("openvpn")
    return tuple(dict.fromkeys(names))


def _usual(inside: Inside, wanted: Wanted, measured: float) -> Sequence[Run]:
    version = openssl_version(inside)
    return tuple(_openssl.runs(version, cpu(inside), wanted.algorithms, measured))


def _kernel(effort: Effort) -> list[Run]:
    """Return the runs of cryptsetup, which takes a second for each direction."""
    sizes = (512,) if effort is Effort.QUICK else (256, 512)
    return [
        Run(
            Tool.CRYPTSETUP,
            f"aes-xts-{size}",
            ("cryptsetup", "benchmark", "-c", "aes-xts", "-s", str(size)),
            seconds=20,
        )
        for size in sizes
    ]


def _lacking(inside: Inside) -> list[str]:
    if not isinstance(inside.openssl, Known):
        return [f"openssl could not be looked for: {inside.openssl.reason}"]
    return [] if inside.openssl.value.version else [NO_OPENSSL]


def run(door: Door, plan: Plan) -> Answer:
    """Run what is planned in a machine and return what came of it.

    Raises:
        UnmaskError: It cannot be run there.
    """
    mark = f"unmask{secrets.token_hex(16)}"
    program = _script.script(mark, plan, held=door.held)
    end = time.monotonic() + plan.seconds + WAY
    left = end - time.monotonic()
    output = door.run(program, _script.end(mark), left, _script.most_bytes(plan))
    answer = _answer.read(output, mark, plan)
    if not answer.begun:
        raise TargetError("the program that measures did not run there")
    return answer


def read_file(door: Door, path: str, limit: int) -> str:
    """Return the text of a file there; "" where it is not, or may not be read.

    Raises:
        UnmaskError: Nothing can be run there.
    """
    mark = f"unmask{secrets.token_hex(16)}"
    shown = f"cat {shlex.quote(path)} 2>/dev/null"
    program = f"printf '\\n{mark} file\\n'; {shown}; printf '\\n{mark} end 0\\n'; exit\n"
    output = door.run(program, _script.end(mark), LOOK_SECONDS, limit)
    parts = dict(framed.parts(output, mark))
    return parts.get("file", b"").decode("utf-8", errors="replace")
