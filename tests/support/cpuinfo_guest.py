"""A guest that tells its own /proc/cpuinfo: three seconds from power-on to power-off."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from support import peers
from support.guest_image import GuestImage

END = "END OF EVIDENCE"
BOOT_SECONDS = 120
AT_ONCE = 2
"""Guests booted side by side: each keeps one core busy."""


def boot(image: GuestImage, option: str, evidence: Path) -> str:
    """Boot the probe under TCG with `-cpu option` and return what it read in /proc/cpuinfo."""
    argv = [peers.program("qemu-system-x86_64"), "-machine", "pc", "-accel", "tcg", "-cpu", option]
    argv += ["-m", "192", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]
    argv += ["-kernel", str(image.kernel), "-initrd", str(image.probe)]
    argv += ["-append", "console=ttyS0 quiet panic=-1"]
    argv += ["-serial", f"file:{evidence}.console", "-serial", f"file:{evidence}"]
    peers.run(argv, timeout=BOOT_SECONDS)
    return finished(evidence) or pytest.fail(
        f"the guest with -cpu {option} did not come up:\n{Path(f'{evidence}.console').read_text()}"
    )


def finished(evidence: Path) -> str:
    """Return what a probe has written, or "" as long as it is not all there."""
    text = evidence.read_text(errors="replace") if evidence.exists() else ""
    return text.partition(END)[0] if END in text else ""


def wait_for(evidence: Path, seconds: float = BOOT_SECONDS) -> str:
    """Return what a probe writes, once it is all there."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if text := finished(evidence):
            return text
        time.sleep(0.1)
    pytest.fail(f"no evidence in {evidence} after {seconds} s")


def flags(cpuinfo: str) -> frozenset[str]:
    """Return the words of the first `flags` line, read apart from the code under test."""
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "flags":
            return frozenset(value.split())
    raise AssertionError(f"no flags in {cpuinfo!r}")


class Cpuinfos:
    """The /proc/cpuinfo of many guests, each booted once a session and two at a time."""

    def __init__(self, image: GuestImage, directory: Path, pool: ThreadPoolExecutor) -> None:
        self._image = image
        self._directory = directory
        self._pool = pool
        self._booted: dict[str, Future[str]] = {}

    def start(self, options: Mapping[str, str]) -> None:
        """Begin to boot a guest for each `-cpu` string (by a name for its files)."""
        for name, option in options.items():
            if option not in self._booted:
                task = self._pool.submit(boot, self._image, option, self._directory / name)
                self._booted[option] = task

    def __getitem__(self, option: str) -> str:
        return self._booted[option].result()


@pytest.fixture(scope="session")
def cpuinfos(
    guest_image: GuestImage, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cpuinfos]:
    """Boots guests by their `-cpu` string and hands out their /proc/cpuinfo."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield Cpuinfos(guest_image, tmp_path_factory.mktemp("cpuinfo"), pool)
        pool.shutdown(cancel_futures=True)
