"""Benchmarks made up for tests: rates in MB/s, as people write them down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from unmask.model.bench import (
    PLAIN,
    BenchResult,
    Ended,
    Environment,
    Sample,
    Tool,
)
from unmask.model.cpu import HostCpu
from unmask.model.inside import Resources, System, Virtualisation
from unmask.model.inside_programs import OpenSsl
from unmask.model.reading import Known

MB = 1e6
ILLEGAL = "illegal"
"""In place of rates: the run died of an illegal instruction."""
Rates = Mapping[str, Any]
"""By algorithm and setting: one rate, or a list of one for each run."""


def samples(rates: Rates, tool: Tool = Tool.OPENSSL, block: int = 16384) -> tuple[Sample, ...]:
    """Return a sample for each rate."""
    return tuple(
        _sample(tool, algorithm, setting, rate, block)
        for algorithm, settings in rates.items()
        for setting, told in settings.items()
        for rate in ([told] if isinstance(told, (int, float, str)) else told)
    )


def _sample(tool: Tool, algorithm: str, setting: str, rate: float | str, block: int) -> Sample:
    if isinstance(rate, str):
        return Sample(tool, algorithm, setting, Ended.ILLEGAL)
    evp = True if tool is Tool.OPENSSL else None
    return Sample(tool, algorithm, setting, rate=rate * MB, block=block, seconds=1.0, evp=evp)


def environment(
    flags: str | None = None,
    *,
    arch: str = "x86_64",
    model_name: str = "",
    detected: str = "kvm",
    version: str = "OpenSSL 3.0.20",
    capabilities: str = "",
) -> Environment:
    """Return where it was measured; `flags` None for a CPU that nobody has looked at."""
    seen = frozenset((flags or "").split())
    plain = Environment(
        system=Known(System("Linux", "6.1.0-50-amd64", "x86_64", "debian")),
        virtualisation=Known(Virtualisation(detected, hypervisor_flag=detected != "none")),
        resources=Known(Resources(2, 2_000_000, 1_500_000, "0.10 0.10 0.10")),
        openssl=Known(OpenSsl(version, capabilities)),
    )
    if flags is None:
        return plain
    return replace(plain, cpu=Known(HostCpu(arch, seen, model_name=model_name)))


def result(
    rates: Rates,
    where: Environment | None = None,
    *,
    subject: str = "guest",
    more: tuple[Sample, ...] = (),
) -> BenchResult:
    """Return a benchmark; without `where` one of output that was pasted."""
    return BenchResult(
        subject,
        method="quick" if where else "pasted",
        environment=where or Environment(),
        samples=(*samples(rates), *more),
    )


def plain(**rates: float) -> Rates:
    """Return rates without any mask, by names as Python takes them: `aes_256_gcm=450`."""
    return {name.replace("_", "-"): {PLAIN: rate} for name, rate in rates.items()}
