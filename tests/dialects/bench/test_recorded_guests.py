"""Outputs recorded in booted guests and on a real processor, where they are here."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from unmask.dialects.bench import (
    cryptsetup_benchmark,
    dd,
    fio,
    openssl_speed,
    openssl_version,
)
from unmask.model.bench import Ended, Sample

FOLDER = Path(__file__).parents[4] / "shared" / "guests"
GUEST_COLUMNS = ("plain", "masked", "pclmasked", "forced", "chacha20")
NATIVE_COLUMNS = ("plain", "masked", "pclmasked", "forced", "novaes")


def folder() -> Path:
    if not FOLDER.is_dir():
        pytest.skip("the recordings of guests are not here")
    return FOLDER


def run(path: Path) -> tuple[str, int]:
    """Return what a recorded run printed, and its status."""
    error, status = path.with_suffix(".err"), path.with_suffix(".status")
    text = path.read_text(encoding="utf-8", errors="replace")
    if error.exists():
        text += error.read_text(encoding="utf-8", errors="replace")
    return text, int(status.read_text()) if status.exists() else 0


def speed(path: Path) -> Sample:
    text, status = run(path)
    (sample,) = openssl_speed.parse(text, status=status)
    return sample


def table(heading: str) -> Iterator[list[str]]:
    """Yield the cells of each row of the summary whose heading begins so."""
    lines = iter((folder() / "README.md").read_text(encoding="utf-8").splitlines())
    for line in lines:
        if line.startswith(heading):
            break
    next(lines)
    for line in lines:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip("| ").split("|")]


def says(sample: Sample, cell: str) -> bool:
    """Return whether a sample is what a cell of the summary says."""
    if "SIGILL" in cell:
        return sample.ended is Ended.ILLEGAL and sample.rate is None
    return sample.rate == pytest.approx(float(cell.removesuffix("k")) * 1000)


def test_every_figure_of_the_guests_summary() -> None:
    seen = 0
    for cells in table("| os | cpu |"):
        if len(cells) < 13 or cells[-1] == "-":
            continue
        for column, cell in zip(GUEST_COLUMNS, cells[-5:], strict=True):
            sample = speed(folder() / cells[0] / cells[1] / f"openssl_speed_{column}.txt")
            assert says(sample, cell), (cells[:2], column)
            seen += 1
    assert seen == 80


def test_every_figure_of_the_real_processors_summary() -> None:
    seen = 0
    for cells in table("| where |"):
        names = [
            f"openssl_speed_{prefix}{name}" for prefix in ("", "256_") for name in NATIVE_COLUMNS
        ]
        for name, cell in zip(names, cells[1:], strict=True):
            assert says(speed(folder() / cells[0] / f"{name}.txt"), cell), (cells[0], name)
            seen += 1
    assert seen == 20


def test_every_run_of_openssl_is_read() -> None:
    paths = sorted(folder().rglob("openssl_speed_*.txt"))
    assert len(paths) > 150
    for path in paths:
        sample = speed(path)
        killed = path.with_suffix(".status").exists()
        assert (sample.ended is Ended.ILLEGAL) is killed, path
        assert (sample.rate is None) is killed, path
        assert sample.block == (None if killed else 8192)
        assert sample.algorithm


def test_runs_through_the_guest_agent() -> None:
    replies = sorted(folder().rglob("qga_exec_openssl_*_status.json"))
    assert replies
    for path in replies:
        reply = json.loads(path.read_text(encoding="utf-8"))["return"]
        text = "".join(
            base64.b64decode(reply.get(stream, "")).decode() for stream in ("out-data", "err-data")
        )
        status = -reply["signal"] if "signal" in reply else reply["exitcode"]
        (sample,) = openssl_speed.parse(text, status=status)
        assert sample.algorithm == "aes-128-gcm"
        assert (sample.ended is Ended.ILLEGAL) is ("signal" in reply)
        assert (sample.rate is None) is ("signal" in reply)


def test_every_version_and_its_capabilities() -> None:
    paths = sorted(folder().rglob("openssl_version_a.txt"))
    assert paths
    for path in paths:
        found = openssl_version.version(path.read_text(encoding="utf-8"))
        assert found.version.startswith("OpenSSL 3.")
        short = path.with_name("openssl_version_c.txt").read_text(encoding="utf-8")
        assert openssl_version.version(short).capabilities == found.capabilities != ""
        masked = path.with_name("openssl_version_c_masked.txt")
        if masked.exists():
            build = openssl_version.build(masked.read_text(encoding="utf-8"))
            assert build.mask == "~0x200000200000000"


def test_every_run_of_cryptsetup() -> None:
    paths = sorted(folder().rglob("cryptsetup_benchmark_*.txt"))
    assert paths
    for path in paths:
        text, status = run(path)
        samples = cryptsetup_benchmark.parse(text, status=status)
        bits = path.stem.removeprefix("cryptsetup_benchmark_xts")
        assert [item.algorithm for item in samples] == [
            f"aes-xts-{bits}-encrypt",
            f"aes-xts-{bits}-decrypt",
        ]
        expected = Ended.UNSUPPORTED if status else Ended.WELL
        assert {item.ended for item in samples} == {expected}, path


def test_every_write_to_a_disk() -> None:
    for path in sorted(folder().rglob("dd_*.err")):
        text = path.read_text(encoding="utf-8")
        (sample,) = dd.parse(text, status=0)
        printed = text.split()[-2:]
        if printed[1] != "MB/s":
            assert sample.rate is None
            continue
        assert (sample.rate or 0) / 1e6 == pytest.approx(float(printed[0]), rel=0.02)
    for path in sorted(folder().rglob("fio_luks.json")):
        (sample,) = fio.parse(path.read_text(encoding="utf-8"), status=0)
        assert (sample.algorithm, sample.block) == ("write", 131072)
        assert sample.ended is Ended.WELL
