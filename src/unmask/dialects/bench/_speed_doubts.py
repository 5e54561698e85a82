"""Which figure of `openssl speed` is the bulk rate, and whether the figures can be true."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from unmask.dialects.bench._speed_lines import Timed

PREFERRED = (16384, 8192)
"""Blocks whose rate is the bulk rate. At 16 bytes a call the library's own overhead is measured."""
SMALLEST = 1024
"""Bytes of a block below which there is no figure."""
HIGHEST = 200e9
"""Bytes a second of one process; the fastest cores of 2026 do 25e9 with AES-GCM."""
FALLING = 0.8
"""Share of the smallest block's rate below which a bulk rate was disturbed, not measured."""
SHORT_BLOCK = 64
"""Bytes of a block up to which its rate is compared so."""
USER_SHARE = 0.1
"""Share of the asked time below which a program's own time measures nothing: the kernel did the
work, or others had the processor nearly always."""
ENGINE_SHARE = 0.8
"""The same where an engine is in use that hands its work to the kernel."""
ELAPSED_SHARE = (0.5, 2.0)
"""Shares of the asked time between which elapsed time is believed."""
GRACE = 1.0
"""Seconds by which a busy machine may be later than that."""
DISAGREEMENT = 0.05
"""Difference between the table and the counts beside it, apart from the counts' rounded time."""
ROUNDING = 0.006
"""Seconds by which a printed time may differ from the one that the table was computed with."""
CALL_COST = 2e-6
CALL_SHARE = 8.0
"""A call that costs this many seconds, and this many times what 16 bytes of bulk take, leaves the
program: an engine, a driver, AF_ALG."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A bulk rate, or why there is none."""

    rate: float | None = None
    """Bytes a second."""
    block: int | None = None
    wrong: str = ""
    """Why no figure may be taken, as a clause; "" where one may."""
    remarks: tuple[str, ...] = ()


def from_counts(lines: Sequence[Timed]) -> dict[int, float]:
    """Return bytes a second by block; infinite or NaN where the time makes it so."""
    rates: dict[int, float] = {}
    for line in lines:
        if line.count is not None and line.seconds is not None:
            work = float(line.count * line.block)
            if line.seconds:
                rates[line.block] = work / line.seconds
            else:
                rates[line.block] = math.inf if work else math.nan
    return rates


def judge(
    rates: Mapping[int, float],
    lines: Sequence[Timed] = (),
    *,
    elapsed: bool = False,
    handed_over: bool = False,
    processes: int = 1,
) -> Verdict:
    """Return the bulk rate of one algorithm, if the figures can be true.

    Args:
        rates: Bytes a second by block, as the table has them or `from_counts`.
        lines: The counts of the same algorithm in the same run, where they are printed.
        elapsed: Their times are a clock's, not the program's own.
        handed_over: An engine was used that may leave the work to the kernel.
        processes: That worked at once.
    """
    block = bulk_block(rates)
    wrong = (
        _clock(lines)
        or _impossible(rates, processes)
        or _no_bulk(rates, block)
        or _falling(rates, block)
        or _strange_time(
            lines, block, elapsed=elapsed, share=ENGINE_SHARE if handed_over else USER_SHARE
        )
        or _contradiction(rates, lines, block)
    )
    if wrong or block is None:
        return Verdict(wrong=wrong)
    return Verdict(rates[block], block, remarks=_remarks(rates, lines, block, elapsed=elapsed))


def bulk_block(rates: Mapping[int, float]) -> int | None:
    """Return the block whose rate counts: 16384, 8192, else the largest from `SMALLEST` on."""
    for block in PREFERRED:
        if block in rates:
            return block
    return max((block for block in rates if block >= SMALLEST), default=None)


def _clock(lines: Sequence[Timed]) -> str:
    for line in lines:
        if line.seconds is None:
            continue
        if not math.isfinite(line.seconds) or line.seconds < 0:
            return "its clock went backwards while it measured"
        if line.seconds == 0:
            return f"it counted {line.count} calls in no time at all"
    return ""


def _impossible(rates: Mapping[int, float], processes: int) -> str:
    for block, rate in sorted(rates.items()):
        if not math.isfinite(rate):
            return f"the figure for {block}-byte blocks is not a number"
        if rate <= 0:
            return f"the figure for {block}-byte blocks is {'zero' if rate == 0 else 'negative'}"
        if rate > HIGHEST * processes:
            return f"{rate / 1e9:.0f} GB/s at {block}-byte blocks is more than any processor does"
    return ""


def _no_bulk(rates: Mapping[int, float], block: int | None) -> str:
    if block is not None:
        return ""
    if not rates:
        return "it printed no whole figure"
    sizes = ", ".join(str(size) for size in sorted(rates))
    return f"only {sizes}-byte blocks were measured, which show the cost of a call, no bulk rate"


def _falling(rates: Mapping[int, float], block: int | None) -> str:
    smallest = min(rates, default=0)
    if block is None or smallest > SHORT_BLOCK or rates[block] >= FALLING * rates[smallest]:
        return ""
    return f"{block}-byte blocks came out slower than {smallest}-byte ones: it was disturbed"


def _strange_time(lines: Sequence[Timed], block: int | None, *, elapsed: bool, share: float) -> str:
    line = _line(lines, block)
    if line is None or not line.asked or line.seconds is None:
        return ""
    asked, took = line.asked, line.seconds
    if took > asked * ELAPSED_SHARE[1] + GRACE:
        return f"it measured {took:g} s instead of {asked:g}: the machine or its clock stood still"
    if elapsed and took < asked * ELAPSED_SHARE[0]:
        return f"it measured {took:g} s instead of {asked:g}: its clock was set meanwhile"
    if not elapsed and took < asked * share:
        return (
            f"it counted {took:g} s of its own time in {asked:g}: others had the processor, or the "
            "kernel did the work (measure again with -elapsed)"
        )
    return ""


def _contradiction(rates: Mapping[int, float], lines: Sequence[Timed], block: int | None) -> str:
    line = _line(lines, block)
    if block is None or line is None or not line.seconds or line.count is None:
        return ""
    counted = line.count * block / line.seconds
    allowed = DISAGREEMENT + ROUNDING / line.seconds
    if abs(counted - rates[block]) <= allowed * max(counted, rates[block]):
        return ""
    return f"the table and the counts beside it disagree ({counted / 1e6:.1f} MB/s)"


def _line(lines: Sequence[Timed], block: int | None) -> Timed | None:
    return next((line for line in lines if line.block == block), None)


def _remarks(
    rates: Mapping[int, float], lines: Sequence[Timed], block: int, *, elapsed: bool
) -> tuple[str, ...]:
    remarks = []
    if block < min(PREFERRED):
        remarks.append(f"measured with {block}-byte blocks only: the bulk rate is higher")
    cost = call_cost(rates, block)
    if cost is not None:
        remarks.append(
            f"each call costs {cost * 1e6:.0f} microseconds whatever its size: an engine or a "
            "driver did the work, not the library"
        )
    line = _line(lines, block)
    if line and line.asked and line.seconds and not elapsed and line.seconds < 0.8 * line.asked:
        remarks.append(f"it had a processor for {line.seconds:g} s of {line.asked:g}")
    return tuple(remarks)


def call_cost(rates: Mapping[int, float], block: int) -> float | None:
    """Return the seconds that a call costs whatever its size, where that is more than a library's.

    From the time of one call at the smallest and the bulk block; None where they do not tell.
    """
    smallest = min(rates)
    if smallest > SHORT_BLOCK or smallest == block:
        return None
    short, bulk = smallest / rates[smallest], block / rates[block]
    by_byte = (bulk - short) / (block - smallest)
    fixed = short - by_byte * smallest
    if by_byte <= 0 or fixed < CALL_COST or fixed < CALL_SHARE * 16 * by_byte:
        return None
    return fixed
