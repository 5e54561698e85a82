"""What this machine encrypts below a path, told by its own programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import peers
from unmask.model.disk import HostEncryption
from unmask.visits import _local_below


def has(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path}:{peers.SEARCH_PATH}")
    for name in ("findmnt", "lsblk", "dmsetup", "zfs", "zpool"):
        has(tmp_path, name, "exit 1")
    return tmp_path


def test_nothing_is_told(programs: Path) -> None:
    assert programs.is_dir()
    assert _local_below.encryption(["/a", "", "/dev/sda"], "vm", 20) == ((), (), ())


def test_each_path_has_its_own(programs: Path) -> None:
    has(programs, "zfs", 'test "$6" = tank/vm-1 && echo aes-256-gcm || echo off')
    has(programs, "lsblk", 'test "$6" = /dev/vg/a && echo "crypt luks-vg"')
    paths = ["/dev/zvol/tank/vm-1", "/dev/zvol/tank/vm-2", "/dev/vg/a"]
    zfs, plain, luks = _local_below.encryption(paths, "vm", 20)
    assert zfs == (HostEncryption("zfs", "aes-256-gcm", "the dataset tank/vm-1 on vm"),)
    assert plain == ()
    # dmsetup is root's: that there is dm-crypt is known without its cipher.
    assert luks == (HostEncryption("luks", "", "dm-crypt luks-vg on vm"),)


def test_keys_are_not_taken(programs: Path) -> None:
    key = "5ec12e7" * 8
    has(programs, "lsblk", "echo 'crypt luks-vg'")
    has(programs, "dmsetup", f"echo '0 9 crypt aes-xts-plain64 {key} 0 8:2 0'")
    assert key not in str(_local_below.encryption(["/dev/vg/a"], "vm", 20))


def test_programs_that_hang_cost_their_time_only(programs: Path) -> None:
    has(programs, "lsblk", "exec sleep 5")
    assert _local_below.encryption(["/dev/vg/a"], "vm", 0.5) == ((),)
