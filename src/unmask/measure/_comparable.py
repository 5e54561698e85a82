"""Whether two benchmarks measured the same thing, and whether the CPU has changed between them."""

from __future__ import annotations

from unmask.measure import _place
from unmask.measure.statistics import Series
from unmask.model.bench import BenchResult, Tool
from unmask.model.cpu import Accelerator
from unmask.model.inside import Resources, System
from unmask.model.reading import Known

_BY_KERNEL = frozenset({Tool.CRYPTSETUP, Tool.ZFS})
_BY_PROCESSORS = frozenset({Tool.ZFS, Tool.TLS, Tool.FILE})
_BY_MEMORY = frozenset({Tool.ZFS, Tool.FILE})
_MEMORY = 0.05
"""Share by which memory may differ: a kernel keeps more or less for itself."""
_WORTH = ("aes", "pclmulqdq", "ssse3", "avx", "avx2", "vaes", "vpclmulqdq", "avx512f", "sha_ni")


def whole(before: BenchResult, after: BenchResult) -> str:
    """Return why nothing of two benchmarks can be compared; "" where it can.

    What one of them does not tell is taken to be equal.
    """
    pairs = (
        ("the machine", before.subject, after.subject),
        ("the method", before.method, after.method),
        ("the node", before.host, after.host),
        ("the architecture", _place.arch(before.environment), _place.arch(after.environment)),
        ("what runs it", _runner(before), _runner(after)),
    )
    for what, old, new in pairs:
        if old and new and old != new and not _pasted(what, before, after):
            return f"{what} differs ({old} before, {new} after)"
    if before.environment.override != after.environment.override:
        return "a variable that changes what OpenSSL sees was set in one of them only"
    if before.environment.pinned != after.environment.pinned:
        return "one was kept on one processor and the other was not"
    return ""


def one(before: BenchResult, after: BenchResult, old: Series, new: Series) -> str:
    """Return why one figure cannot be compared; "" where it can."""
    if old.block != new.block and old.block and new.block:
        return f"blocks of {old.block} bytes before and {new.block} after"
    for what in ("engine", "evp", "processes"):
        told = {getattr(sample, what) for sample in (*old.samples, *new.samples) if sample.rate}
        if len(told - {None}) > 1:
            return f"{_NAMES[what]} differs"
    if old.tool is Tool.OPENSSL:
        return _two("OpenSSL's version", _library(before), _library(after))
    if old.tool is Tool.TLS and before.way != after.way:
        return f"what asked differs ({before.way} before, {after.way} after)"
    if old.tool in _BY_KERNEL:
        kernels = _two("the kernel", _system(before).kernel, _system(after).kernel)
        if kernels:
            return kernels
    return _by_resources(old.tool, _resources(before), _resources(after))


def _by_resources(tool: Tool, here: Resources, there: Resources) -> str:
    if tool in _BY_PROCESSORS:
        processors = _two("the number of processors", here.processors, there.processors)
        if processors:
            return processors
    if tool not in _BY_MEMORY or not here.memory or not there.memory:
        return ""
    if abs(here.memory - there.memory) <= _MEMORY * max(here.memory, there.memory):
        return ""
    return "the memory, and with it the cache, differs"


_NAMES = {"engine": "the engine", "evp": "OpenSSL's interface", "processes": "how many ran at once"}


def cpu_changed(before: BenchResult, after: BenchResult) -> bool | None:
    """Return whether the CPU shows other flags that encryption uses; None where it is not told."""
    told = [(_place.shows(before, flag), _place.shows(after, flag)) for flag in _WORTH]
    known = [(old, new) for old, new in told if old is not None and new is not None]
    if not known:
        return None
    return any(old != new for old, new in known)


def _pasted(what: str, before: BenchResult, after: BenchResult) -> bool:
    """Pasted output is named after its file, which says nothing of the machine."""
    return what == "the machine" and "pasted" in (before.method, after.method)


def _two(what: str, old: object, new: object) -> str:
    if old in (None, "") or new in (None, "") or old == new:
        return ""
    return f"{what} differs ({old} before, {new} after)"


def _runner(result: BenchResult) -> str:
    told = result.environment.accelerator
    return "" if told is Accelerator.UNKNOWN else told.value


def _library(result: BenchResult) -> str:
    return _place.library(result.environment).version


def _system(result: BenchResult) -> System:
    found = result.environment.system
    return found.value if isinstance(found, Known) else System("")


def _resources(result: BenchResult) -> Resources:
    found = result.environment.resources
    return found.value if isinstance(found, Known) else Resources()
