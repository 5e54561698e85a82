"""Results of benchmarks that look like those of real machines."""

from __future__ import annotations

from collections.abc import Mapping

from unmask.model.bench import (
    FORCED,
    MASKED,
    PLAIN,
    WITHOUT_PCLMULQDQ,
    BenchResult,
    Ended,
    Environment,
    Sample,
    Tool,
)
from unmask.model.cpu import Accelerator, HostCpu
from unmask.model.inside import Resources, System, Virtualisation
from unmask.model.inside_programs import OpenSsl
from unmask.model.reading import Known

GUEST = Virtualisation("kvm", hypervisor_flag=True)
HIDDEN = {
    "aes-256-gcm": {PLAIN: 187, MASKED: 186, WITHOUT_PCLMULQDQ: 187, FORCED: 2430},
    "aes-256-ctr": {PLAIN: 250, MASKED: 251, FORCED: 4100},
    "chacha20-poly1305": {PLAIN: 880},
}
"""MB/s of a guest whose hypervisor hides AES-NI."""
NODE = {
    "aes-256-gcm": {PLAIN: 3205, MASKED: 187, WITHOUT_PCLMULQDQ: 381, FORCED: 2430},
    "aes-256-ctr": {PLAIN: 6211, MASKED: 360, FORCED: 6100},
    "chacha20-poly1305": {PLAIN: 3391},
}


def samples(rates: Mapping[str, Mapping[str, float]], runs: int = 3) -> tuple[Sample, ...]:
    """Return so many runs of each, a per cent apart."""
    return tuple(
        Sample(
            Tool.OPENSSL,
            algorithm,
            setting,
            rate=rate * 1e6 * (1 + number / 100),
            block=16384,
            steal=0.0,
            raw=f"+F:25:{algorithm}",
            evp=True,
        )
        for number in range(runs)
        for algorithm, settings in rates.items()
        for setting, rate in settings.items()
    )


def result(
    rates: Mapping[str, Mapping[str, float]] = HIDDEN,
    *,
    subject: str = "lab/101",
    name: str = "web",
    host: str = "lab/pve1",
    flags: frozenset[str] = frozenset({"ssse3", "sse4_1"}),
    more: tuple[Sample, ...] = (),
    around: Virtualisation = GUEST,
    **fields: object,
) -> BenchResult:
    values: dict[str, object] = {
        "started": "2026-12-01T10:00:00Z",
        "method": "quick",
        "way": "ssh root@10.0.0.7",
        **fields,
    }
    place = Environment(
        cpu=Known(HostCpu("x86_64", flags, "GenuineIntel", "Common KVM processor")),
        system=Known(System("Linux", "6.12.0", "x86_64", "debian", version="13")),
        virtualisation=Known(around),
        resources=Known(Resources(4, 4_000_000, load="0.10 0.22 0.31")),
        openssl=Known(OpenSsl("OpenSSL 3.5.9")),
        accelerator=Accelerator.KVM if around.hypervisor_flag else Accelerator.UNKNOWN,
        pinned=True,
        load=0.1,
    )
    return BenchResult(
        subject,
        name,
        host,
        environment=place,
        samples=(*samples(rates), *more),
        **values,  # type: ignore[arg-type]
    )


ILLEGAL = Sample(Tool.OPENSSL, "aes-256-gcm", FORCED, Ended.ILLEGAL, note="SIGILL")


def node() -> BenchResult:
    """Return the result of the node that `result` runs on."""
    flags = frozenset({"ssse3", "sse4_1", "aes", "pclmulqdq", "avx", "avx2"})
    return result(
        NODE,
        subject="lab/pve1",
        name="pve1",
        flags=flags,
        around=Virtualisation(),
        way="ssh root@pve1",
    )
