"""Diagnoses of what real and emulated machines have printed, where the recordings are present."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from unmask.dialects import cpuinfo
from unmask.dialects.bench import cryptsetup_benchmark, openssl_speed, openssl_version
from unmask.measure.diagnosis import diagnose
from unmask.model.bench import (
    FORCED,
    MASKED,
    PLAIN,
    WITHOUT_PCLMULQDQ,
    BenchResult,
    Cause,
    Environment,
    Sample,
)
from unmask.model.inside import Virtualisation
from unmask.model.reading import Known

SHARED = Path(__file__).parents[3] / "shared"
SETTINGS = {
    "plain": PLAIN, "masked": MASKED, "pclmasked": WITHOUT_PCLMULQDQ, "forced": FORCED,
    "256_plain": PLAIN, "256_masked": MASKED, "256_pclmasked": WITHOUT_PCLMULQDQ,
    "256_forced": FORCED, "chacha20": PLAIN, "aes128ctr": PLAIN, "aes128ctr_masked": MASKED,
}  # fmt: skip
EMULATED = [
    f"{system}/{cpu}"
    for system in ("bookworm", "trixie")
    for cpu in ("qemu64", "max", "x86-64-v2-AES.kvmlike")
] + [f"bookworm/{cpu}" for cpu in ("EPYC", "Haswell-noTSX", "Nehalem", "Westmere", "kvm64",
     "x86-64-v2", "x86-64-v2-AES", "x86-64-v3+xsaveopt", "masked.kvmlike")]  # fmt: skip


def recorded(name: str) -> Iterator[Sample]:
    """Yield the samples of one recorded machine."""
    folder = SHARED / "guests" / name
    if not folder.is_dir():
        pytest.skip("the recordings of booted guests are not here")
    for part, setting in SETTINGS.items():
        path = folder / f"openssl_speed_{part}.txt"
        if path.exists():
            texts = [one.read_text() for one in (path.with_suffix(".err"), path) if one.exists()]
            status = path.with_suffix(".status")
            ended = int(status.read_text()) if status.exists() else 0
            yield from openssl_speed.parse("".join(texts), setting, ended)


def environment(name: str) -> Environment:
    """Return where one recorded machine was measured."""
    folder = SHARED / "guests" / name
    detected = folder / "systemd_detect_virt.txt"
    virtual = detected.read_text().strip() if detected.exists() else "kvm"
    return Environment(
        cpu=Known(cpuinfo.parse((folder / "cpuinfo.txt").read_text())),
        virtualisation=Known(Virtualisation(virtual, hypervisor_flag=True)),
        openssl=Known(openssl_version.version((folder / "openssl_version_a.txt").read_text())),
    )


@pytest.mark.parametrize(
    ("name", "cause"), [("native", Cause.ACTIVE), ("masked-sshd", Cause.HIDDEN)]
)
def test_real_silicon(name: str, cause: Cause) -> None:
    runs = tuple(recorded(name))
    assert diagnose(BenchResult(name, environment=environment(name), samples=runs)).cause is cause


def test_the_masked_output_alone_names_its_variable() -> None:
    found = diagnose(BenchResult("pasted", samples=tuple(recorded("masked-sshd"))))
    assert found.cause is Cause.SLOW
    assert "~0x200000200000000" in found.sentence


@pytest.mark.parametrize("name", EMULATED)
def test_emulated_guests(name: str) -> None:
    runs = tuple(recorded(name))
    found = diagnose(BenchResult(name, environment=environment(name), samples=runs))
    assert found.cause is Cause.EMULATED
    pasted = diagnose(BenchResult(name, samples=runs))
    assert pasted.cause in (Cause.EMULATED, Cause.ABSENT)
    assert "emulated" in pasted.sentence


CORPUS = {
    "ssl-001-0.9.8k-cookbook": (Cause.INCONCLUSIVE, "0.9.8k has no code for AES-NI"),
    "ssl-002-0.9.8zc-macos-sha": (Cause.INCONCLUSIVE, "no figure for AES"),
    "ssl-003-1.0.1e-fips-i686": (Cause.INCONCLUSIVE, "without -evp"),
    "ssl-006-1.1.1f-noevp-issue13516": (Cause.INCONCLUSIVE, "without -evp"),
    "ssl-008-1.1.1-vs-aead-gcm": (Cause.ACTIVE, "AES instructions are in use"),
    "ssl-009-zfs15245-1.1.1-gcm-doing-only": (Cause.ACTIVE, "AES instructions are in use"),
    "ssl-012-illegal-instruction-aix": (Cause.INCONCLUSIVE, "SIGILL"),
    "ssl-013-vmware-guest-illegal-instruction": (Cause.INCONCLUSIVE, "49.3 MB/s was done in soft"),
    "ssl-014-3.0.0-openvms": (Cause.INCONCLUSIVE, "does not tell"),
    "ssl-015-1.0.2g-armv7-old-format": (Cause.SOFTWARE_PATH, "in software"),
    "ssl-017-3.0.2-kvm-guest-arm": (Cause.ACTIVE, "AES instructions are in use"),
    "ssl-018-3.0.2-celeron-5205u": (Cause.ACTIVE, "AES instructions are in use"),
    "ssl-019-3.3.1-meteor-lake": (Cause.ACTIVE, "AES instructions are in use"),
    "ssl-020-3.2.4": (Cause.ACTIVE, "AES instructions are in use"),
    "ssl-021-mips-afalg-warning-lines": (Cause.INCONCLUSIVE, "engine"),
    "csb-001-rpi4-na-rows": (Cause.SOFTWARE_PATH, "in software"),
    "csb-002-heads-all-na": (Cause.SOFTWARE_PATH, "or on an emulated CPU"),
    "csb-004-fedora28-laptop": (Cause.ACTIVE, "The kernel uses AES instructions"),
    "csb-006-m1-single-row": (Cause.ACTIVE, "The kernel uses AES instructions"),
    "csb-007-linaro-testcase-form": (Cause.INCONCLUSIVE, "no figure"),
}
"""What the right answer is, for output that people have published."""


@pytest.mark.parametrize("name", CORPUS)
def test_published_output(name: str) -> None:
    path = SHARED / "corpus" / f"{name}.txt"
    if not path.exists():
        pytest.skip("the collection of published output is not here")
    text = path.read_text(encoding="utf-8", errors="replace")
    parse = cryptsetup_benchmark.parse if name.startswith("csb") else openssl_speed.parse
    where = Environment(openssl=Known(openssl_version.version(text)))
    found = diagnose(BenchResult(name, method="pasted", environment=where, samples=parse(text)))
    cause, words = CORPUS[name]
    assert found.cause is cause
    assert words in found.sentence
