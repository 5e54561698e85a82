"""How `openssl speed` is asked, which differs from version to version.

What it knows is told by its own source: -mr and -elapsed since 0.9.7, GCM and CTR by -evp since
1.0.1, ChaCha20-Poly1305 and the size of 16 KiB since 1.1.0, -seconds and -bytes since 1.1.1
(apps/speed.c). LibreSSL left before all of the later ones.

`-seconds` takes whole seconds, and older versions always measure three for each of five or six
sizes. All of them end a measurement at SIGALRM, take the time that has really passed, and go on:
the program that runs them sends that signal early (`Run.slice`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from unmask.benches._plan import Run
from unmask.crypto import ia32cap, versions
from unmask.model.bench import FORCED, MASKED, PADLOCK, PLAIN, WITHOUT_PCLMULQDQ, Tool
from unmask.model.cpu import HostCpu

ALGORITHMS = ("aes-128-gcm", "aes-256-gcm", "aes-256-ctr", "chacha20-poly1305")
OLD_ALGORITHMS = ("aes-128-cbc", "aes-256-cbc")
"""What OpenSSL before 1.0.1 has of AES, and what VIA's PadLock speeds up."""
NONE: Mapping[str, str] = MappingProxyType({})
SKIPPED = 0.05
"""Seconds for each size that is not wanted, where a version measures all sizes."""
START = 10
"""Seconds for it to start and to end on a very slow machine."""
CENTAUR = ("CentaurHauls", "VIA VIA VIA ", "  Shanghai  ")


def openssl(version: str) -> tuple[int, ...]:
    """Return the numbers of a version of OpenSSL; () for anything else, and what is not known."""
    return versions.parse(version) if version.startswith("OpenSSL ") else ()


def block(version: str) -> int:
    """Return the largest size that a version measures, in bytes."""
    return 16384 if openssl(version) >= (1, 1) else 8192


def known(version: str, wanted: Sequence[str]) -> tuple[str, ...]:
    """Return the algorithms to measure: those wanted, or what an old version has in their place."""
    old = (0,) < openssl(version) < (1, 0, 1)
    return OLD_ALGORITHMS if old and tuple(wanted) == ALGORITHMS else tuple(wanted)


def variables(version: str, cpu: HostCpu | None) -> Mapping[str, tuple[str, str]]:
    """Return the variable and its value for each setting beside the plain one."""
    if cpu is None or not openssl(version):
        return {}
    if cpu.arch in ("x86_64", "i386"):
        values = ia32cap.settings(version)
        return {name: ("OPENSSL_ia32cap", value) for name, value in values.items() if value}
    if cpu.arch in ("aarch64", "arm"):
        masked = ia32cap.armcap(cpu.flags)
        forced = ia32cap.armcap(cpu.flags | {"asimd", "aes", "pmull"}, ())
        return {MASKED: ("OPENSSL_armcap", masked), FORCED: ("OPENSSL_armcap", forced)}
    return {}


def settings(algorithm: str, known_ones: Mapping[str, object]) -> tuple[str, ...]:
    """Return the settings that tell something of an algorithm.

    Only AES uses AES-NI, and only GCM uses PCLMULQDQ beside it.
    """
    if not algorithm.startswith("aes"):
        return (PLAIN,)
    wanted = [PLAIN, MASKED, FORCED]
    if "gcm" in algorithm:
        wanted.insert(2, WITHOUT_PCLMULQDQ)
    return tuple(name for name in wanted if name == PLAIN or name in known_ones)


def runs(
    version: str, cpu: HostCpu | None, algorithms: Sequence[str], measured: float
) -> Iterator[Run]:
    """Yield one round: each algorithm under each setting.

    Args:
        version: What `openssl version` prints.
        cpu: The machine's, as its kernel shows it.
        algorithms: Names as `-evp` takes them.
        measured: Seconds that each run measures.
    """
    values = variables(version, cpu)
    for algorithm in known(version, algorithms):
        for setting in settings(algorithm, values):
            given = (values[setting],) if setting in values else ()
            yield run(version, algorithm, measured, setting, given)
    if cpu is not None and padlock(cpu):
        for algorithm in OLD_ALGORITHMS:
            if algorithm not in known(version, algorithms):
                yield run(version, algorithm, measured)
            yield run(version, algorithm, measured, PADLOCK, engine=("-engine", "padlock"))


def padlock(cpu: HostCpu) -> bool:
    """Return whether a CPU is one that may have VIA's PadLock."""
    return cpu.vendor in CENTAUR or bool({"ace", "ace_en"} & cpu.flags)


def run(
    version: str,
    algorithm: str,
    measured: float,
    setting: str = PLAIN,
    given: tuple[tuple[str, str], ...] = (),
    engine: tuple[str, ...] = (),
    *,
    elapsed: bool = True,
) -> Run:
    """Return one run of `openssl speed`.

    `elapsed` counts all time that passes, as whoever waits for it does; without it only the time
    counts that the program has a processor.
    """
    words = ["openssl", "speed", *(["-elapsed"] if elapsed else []), "-mr", *engine]
    longest = 3 * 6
    if openssl(version) >= (1, 1, 1):
        longest = math.ceil(measured)
        words += ["-seconds", str(longest), "-bytes", str(block(version))]
    return Run(
        Tool.OPENSSL,
        algorithm,
        (*words, "-evp", algorithm),
        setting,
        tuple((name, value) for name, value in given if value),
        seconds=longest + START,
        slice=measured,
        block=block(version),
    )
