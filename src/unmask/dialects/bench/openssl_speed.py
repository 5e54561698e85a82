"""`openssl speed` of any version: OpenSSL 0.9.8 to 3.x, LibreSSL, tables, `-mr`, counts alone.

Of each algorithm the bulk rate is taken: from the table, or computed from the counts ("Doing ...")
where the table is missing. A run that an illegal instruction ended is a result. Figures that cannot
be true, and output without a bulk rate, give a sample without rate.
"""

from __future__ import annotations

from collections.abc import Sequence

from unmask.dialects.bench import _screen, _speed_doubts, _speed_run, openssl_version
from unmask.dialects.bench._ending import by_status
from unmask.dialects.bench._output import SAMPLES
from unmask.dialects.bench._speed_lines import Row, Timed
from unmask.dialects.bench._speed_names import algorithm as spelled
from unmask.dialects.bench._speed_names import interface, is_aes
from unmask.dialects.bench._speed_run import Run
from unmask.model.bench import PADLOCK, PLAIN, Ended, Sample, Tool

AES_NI = (1, 0, 1)
"""The first OpenSSL with AES-NI code (CHANGES, "Add support for AES-NI")."""
EVP_ONLY = (3,)
"""The first OpenSSL whose `speed` measures nothing but the EVP interface."""


def parse(
    text: str, setting: str = PLAIN, status: int | None = None, algorithm: str = ""
) -> tuple[Sample, ...]:
    """Return a sample for each algorithm of each run in `text`, in order; never none at all.

    Two rows of one name are two samples: some collections print one for each core.

    Args:
        text: Standard output and error output, in either order; a whole terminal where it was
            pasted. Several runs are told apart by their command lines or headings.
        setting: The setting of every sample, but for runs whose output names the PadLock engine.
        status: How the (last) run ended, see `by_status`; None where that is not known.
        algorithm: What was asked for, ours: for runs that die or fail before they name it.
    """
    whole = _screen.readable(text)
    runs = _speed_run.split(whole)
    statuses = [None] * (len(runs) - 1) + [status]
    samples: list[Sample] = []
    for run, ended in zip(runs, statuses, strict=True):
        if len(samples) < SAMPLES:
            samples += _samples(run, setting, ended, spelled(algorithm))
    return tuple(samples[:SAMPLES])


def _samples(run: Run, setting: str, status: int | None, asked: str) -> list[Sample]:
    """Return the samples of one run."""
    if run.engine == PADLOCK and setting == PLAIN:
        setting = PADLOCK
    if setting == PADLOCK and PADLOCK in run.refused_engines:
        note = "this openssl has no padlock engine: what it measured is its own code"
        return [_without(run, setting, asked, Ended.UNSUPPORTED, note)]
    ended, note = _ending(run, status)
    samples = [_from_row(run, row, setting) for row in run.rows]
    if samples:  # what happens after the table takes nothing from it
        return samples
    names = dict.fromkeys(spelled(line.name) for line in run.timed)
    last = next(reversed(names), "")
    for name in names:
        if name == last and ended is not Ended.WELL:
            samples.append(_without(run, setting, name, ended, note))
        else:
            samples.append(_from_counts(run, name, setting))
    return samples or [_nothing(run, setting, asked, ended, note)]


def _ending(run: Run, status: int | None) -> tuple[Ended, str]:
    """Return how a run ended: what was seen of its death, else its status."""
    ended, note = by_status(status)
    if run.died is not Ended.WELL and ended in (Ended.WELL, Ended.FAILED):
        return run.died, run.death
    if ended is Ended.FAILED:
        return run.refusal or (ended, note)
    return ended, note


def _nothing(run: Run, setting: str, asked: str, ended: Ended, note: str) -> Sample:
    """Return the sample of a run that measured nothing."""
    if ended in (Ended.WELL, Ended.FAILED) and run.refusal:
        ended, note = run.refusal
    if ended is Ended.WELL and not run.text.strip():
        ended, note = Ended.FAILED, "it printed nothing"
    elif ended is Ended.WELL:
        ended, note = Ended.INVALID, "this is not what `openssl speed` prints"
    return _without(run, setting, run.refused or asked, ended, note)


def _without(run: Run, setting: str, name: str, ended: Ended, note: str) -> Sample:
    return Sample(
        tool=Tool.OPENSSL,
        algorithm=name,
        setting=setting,
        ended=ended,
        note=note,
        raw=_screen.quoted(run.text),
        engine=run.engine,
        processes=run.processes,
    )


def _from_row(run: Run, row: Row, setting: str) -> Sample:
    name = spelled(row.name)
    lines = [line for line in run.timed if spelled(line.name) == name]
    if run.processes > 1 or sum(spelled(other.name) == name for other in run.rows) > 1:
        lines = []  # the counts are those of one child, or of one of several rows
    remarks = [row.remark] if row.remark else []
    if row.assumed:
        remarks.append(f"its heading is missing: taken for the usual {len(row.rates)} blocks")
    return _judged(run, setting, row.name, dict(row.rates), lines, remarks)


def _from_counts(run: Run, name: str, setting: str) -> Sample:
    lines = [line for line in run.timed if spelled(line.name) == name]
    if run.processes > 1:
        note = "the table of all processes is missing, and one alone is not the machine"
        return _without(run, setting, name, Ended.INVALID, note)
    remarks = ["computed from its counts, since the table is missing"]
    return _judged(run, setting, lines[0].name, _speed_doubts.from_counts(lines), lines, remarks)


def _judged(
    run: Run,
    setting: str,
    printed: str,
    rates: dict[int, float],
    lines: Sequence[Timed],
    remarks: Sequence[str],
) -> Sample:
    """Return the sample of one algorithm whose figures are `rates`."""
    verdict = _speed_doubts.judge(
        rates,
        lines,
        elapsed=run.elapsed,
        handed_over=run.engine not in ("", PADLOCK),  # PadLock's are instructions of the CPU
        processes=run.processes,
    )
    wrong = run.broken or verdict.wrong
    release = openssl_version.release(run.version)
    evp = interface(printed, release)
    notes = [wrong] if wrong else [*remarks, *verdict.remarks, *_of_library(run, printed, evp=evp)]
    return Sample(
        tool=Tool.OPENSSL,
        algorithm=spelled(printed),
        setting=setting,
        ended=Ended.INVALID if wrong else Ended.WELL,
        rate=None if wrong else verdict.rate,
        block=None if wrong else verdict.block,
        seconds=next((line.seconds for line in lines if line.block == verdict.block), None),
        note="; ".join(notes),
        raw=_screen.quoted(run.text),
        engine=run.engine,
        evp=evp,
        processes=run.processes,
    )


def _of_library(run: Run, printed: str, *, evp: bool | None) -> list[str]:
    """Return what has to be known before the figure is held against a processor."""
    release = openssl_version.release(run.version)
    notes = [f"with the engine {run.engine}"] if run.engine else []
    notes += [f"the engine {name} could not be loaded" for name in run.refused_engines]
    if run.processes > 1:
        notes.append(f"{run.processes} processes together")
    if not is_aes(spelled(printed)):
        return notes
    if release and release < AES_NI:
        notes.append(f"{run.version} has no AES-NI code: this says nothing about the processor")
    elif evp is False and not release >= EVP_ONLY:
        notes.append("without -evp, so not with AES-NI: this says nothing about the processor")
    return notes
