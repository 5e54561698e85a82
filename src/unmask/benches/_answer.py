"""From what the program printed to samples, whatever state it arrived in."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from unmask.benches import _dataset
from unmask.benches._dataset import Seen
from unmask.benches._plan import Plan, Run
from unmask.dialects import framed
from unmask.dialects.bench import (
    apache_bench,
    cryptsetup_benchmark,
    dd,
    fio,
    iperf3,
    openssl_speed,
    s_time,
)
from unmask.model.bench import Ended, Sample, Tool
from unmask.model.inside import CryptoDriver
from unmask.probes._section import printable
from unmask.probes.crypto_drivers import parse_text

SHOWN = ("xts(aes)", "gcm(aes)", "ctr(aes)", "cbc(aes)", "chacha20", "rfc4106(gcm(aes))")
"""The kernel's algorithms whose drivers are told."""
RAW = 4000
"""Characters of one run's output that are kept."""
_OVERRIDE = re.compile(r"^(OPENSSL_(?:ia32|arm)cap=[0-9a-fA-Fx:~]{0,200})$", re.MULTILINE)
TICKS = 20
"""Ticks of a processor below which its times are too coarse to be shared out; mostly 10 ms each."""
AT_WORK = 0.5
"""Share of what it measured in which a program ran, or waited to, if it did the work itself."""
MOST_WAITED = 0.8
"""Share of its time that a run may have waited for its rate to be made whole."""
_FIO = re.compile(r'"fio version"|^fio: ', re.MULTILINE)
_STEAL = 7
"""Position among the numbers of a line "cpu" (proc_stat(5))."""


@dataclass(slots=True)
class Answer:
    """What came of one program."""

    samples: list[Sample] = field(default_factory=list)
    begun: bool = False
    ended: bool = False
    """It came to its own end."""
    pinned: bool = False
    override: str = ""
    load: float | None = None
    drivers: tuple[tuple[str, str], ...] = ()
    datasets: list[Seen] = field(default_factory=list)
    """What was seen of those that were to be measured."""


@dataclass(slots=True)
class _Draft:
    """A run that is being read."""

    run: Run
    before: list[int]
    text: str
    status: int | None = None
    late: bool = False
    waited: float | None = None


def read(output: bytes, mark: str, plan: Plan) -> Answer:
    """Return what the program's output says; what is broken off in it is left out.

    Args:
        output: Standard output of the program that was made of `plan` and `mark`.
        mark: The mark of that run.
        plan: What was run.
    """
    answer = Answer()
    runs = plan.runs
    before: list[int] = []
    draft: _Draft | None = None
    for head, content in framed.parts(output, mark):
        word, _, rest = head.strip().partition(" ")
        text = content.decode("utf-8", errors="replace")
        if word == "before":
            before = _numbers(rest)
        elif word == "run":
            number = int(rest) if rest.isdigit() and len(rest) < 6 else len(runs)
            draft = _Draft(runs[number], before, text) if number < len(runs) else None
        elif word == "after" and draft:
            answer.samples += _samples(draft, _numbers(rest))
            draft = None
        elif draft:
            _add(draft, word, rest, text)
        else:
            _note(answer, word, rest, text)
    return answer


def _add(draft: _Draft, word: str, rest: str, text: str) -> None:
    if word == "=":
        draft.status = int(rest) if rest.isdigit() and len(rest) < 6 else None
    elif word == "late":
        draft.late = True
    elif word == "waited":
        draft.waited = _waited(_numbers(rest), draft.run.slice)
    draft.text += text


def _note(answer: Answer, word: str, rest: str, text: str) -> None:
    if word == "begin":
        answer.begun = True
    elif word == "end":
        answer.ended = rest == "0"
    elif word == "pinned":
        answer.pinned = bool(rest.strip())
    elif word == "environment":
        found = _OVERRIDE.search(printable(text))
        answer.override = found[1] if found else ""
    elif word == "load" and answer.load is None:
        found = re.search(r"\d{1,6}\.\d{1,6}", text)
        answer.load = float(found[0]) if found else None
    elif word == "dataset":
        answer.datasets.append(_dataset.seen(printable(rest), printable(text)))
    elif word in ("no", "arc") and answer.datasets:
        _dataset.note(answer.datasets[-1], word, rest)
    elif word == "crypto":
        answer.drivers = drivers(parse_text(printable(text)))


def drivers(found: Sequence[CryptoDriver]) -> tuple[tuple[str, str], ...]:
    """Return the algorithms that are told of, with the driver that serves each."""
    best: dict[str, CryptoDriver] = {}
    for driver in found:
        known = best.get(driver.algorithm)
        if not driver.internal and (known is None or driver.priority > known.priority):
            best[driver.algorithm] = driver
    return tuple((name, best[name].driver) for name in SHOWN if name in best)


def _numbers(text: str) -> list[int]:
    return [int(word) for word in text.split()[:10] if word.isdigit() and len(word) < 20]


def _waited(numbers: Sequence[int], measured: float) -> float | None:
    """Return the share of a program's time in which others of its machine had its processor.

    Args:
        numbers: Those of /proc/PID/schedstat: nanoseconds that it ran, and that it waited to run.
        measured: The seconds that it measured. A program that neither ran nor waited for most of
            them has another one do its work, and tells nothing of that one.
    """
    if len(numbers) < 2 or sum(numbers[:2]) <= AT_WORK * measured * 1e9:
        return None
    return round(numbers[1] / sum(numbers[:2]), 4)


def _samples(draft: _Draft, after: list[int]) -> list[Sample]:
    run = draft.run
    text = draft.text
    parsed = _PARSERS[run.tool](run, trimmed(text, run.block) if run.slice else text, draft.status)
    steal = stolen(draft.before, after)
    raw = printable(text.strip())[:RAW]
    found = []
    for sample in parsed:
        made = replace(sample, setting=run.setting, steal=steal, waited=draft.waited, raw=raw)
        if draft.late:
            note = f"not done within {run.seconds} s"
            made = replace(made, ended=Ended.LATE, rate=None, note=note)
        if run.tool is Tool.OPENSSL:
            made = replace(made, algorithm=run.algorithm, evp=True)
            if "-elapsed" in run.words:
                made = _undisturbed(made)
        found.append(made)
    return found


def _undisturbed(sample: Sample) -> Sample:
    """Return a sample whose rate is that of the time in which it had a processor.

    What other programs of the same machine took of its time says nothing of the CPU. What the host
    took (steal) stays in it: that is how fast the machine is.
    """
    if sample.rate is None or not sample.waited or sample.waited > MOST_WAITED:
        return sample
    return replace(sample, rate=sample.rate / (1 - sample.waited))


def stolen(before: Sequence[int], after: Sequence[int]) -> float | None:
    """Return the share of a processor's time that the host gave to others; None where not told.

    Args:
        before: The numbers of a line "cpu0" of /proc/stat.
        after: Those of the same line later.
    """
    if min(len(before), len(after)) <= _STEAL:
        return None
    # Guest time is part of user time and does not count twice.
    spent = [late - early for early, late in zip(before[:8], after[:8], strict=False)]
    total = sum(spent)
    if total < TICKS or spent[_STEAL] < 0:
        return None
    return round(spent[_STEAL] / total, 4)


def trimmed(text: str, block: int) -> str:
    """Return what `openssl speed -mr` printed, without the sizes that were not wanted.

    They were ended at once, and all of them before the time that "+DT" tells: neither is a
    measurement. Text that has not all lines of a run comes back as it is.
    """
    heading = re.search(r"^\+H((?::\d{1,9})+)$", text, re.MULTILINE)
    sizes = heading[1].strip(":").split(":") if heading else []
    result = re.search(r"^(\+F:\d{1,9}:[^:\n]{1,60})((?::[^:\n]{1,40})+)$", text, re.MULTILINE)
    rates = result[2].strip(":").split(":") if result else []
    if result is None or str(block) not in sizes or len(rates) != len(sizes):
        return text
    column = sizes.index(str(block))
    counts = re.findall(r"^\+R:[^\n]{1,200}$", text, re.MULTILINE)
    kept = [counts[column]] if len(counts) == len(sizes) else []
    return "\n".join([*kept, f"+H:{block}", f"{result[1]}:{rates[column]}", ""])


Parser = Callable[[Run, str, int | None], tuple[Sample, ...]]


def _files(run: Run, text: str, status: int | None) -> tuple[Sample, ...]:
    parse = fio.parse if _FIO.search(text) else dd.parse
    return parse(text, run.setting, status, run.algorithm, run.tool)


def _tls(run: Run, text: str, status: int | None) -> tuple[Sample, ...]:
    parse = apache_bench.parse if run.words[0] == "ab" else s_time.parse
    return parse(text, run.setting, status)


_PARSERS: dict[Tool, Parser] = {
    Tool.OPENSSL: lambda run, text, status: openssl_speed.parse(
        text, run.setting, status, run.algorithm
    ),
    Tool.CRYPTSETUP: lambda run, text, status: cryptsetup_benchmark.parse(
        text, run.setting, status, run.algorithm
    ),
    Tool.ZFS: _files,
    Tool.FILE: _files,
    Tool.TLS: _tls,
    Tool.NETWORK: lambda run, text, status: iperf3.parse(text, run.setting, status, run.algorithm),
}
