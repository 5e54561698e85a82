"""The disks of booted guests, as the probes read them: fixtures/workloads/OS-CPU.json.

The recordings themselves lie beside the project; where they do, `read` makes an `Inside` of one
again, and `UNMASK_GOLDEN=write pytest tests/workloads` writes the fixtures anew. Of the kernel's
drivers, those of AES are kept.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.golden import ROOT
from support.visited import LINUX, parsed
from unmask.dialects.records import codec
from unmask.errors import InputError
from unmask.model.inside import CryptoDriver, Inside
from unmask.model.reading import Known, Missing, Reading

FOLDER = ROOT / "fixtures" / "workloads"
RECORDINGS = ROOT.parent / "shared" / "guests"
NAMES = (
    "bookworm-max",
    "bookworm-qemu64",
    "bookworm-Westmere",
    "bookworm-masked.kvmlike",
    "bookworm-x86-64-v2-AES",
    "bookworm-x86-64-v2-AES.kvmlike",
    "trixie-max",
    "trixie-x86-64-v2-AES.kvmlike",
)


def load(name: str) -> Inside:
    """Return the guest of a fixture."""
    text = (FOLDER / f"{name}.json").read_text(encoding="utf-8")
    found: Inside = codec(Inside).load(json.loads(text))
    return found


def check(name: str) -> None:
    """Hold a fixture against its recording, or write it."""
    found = codec(Inside).dump(read(name))
    path = FOLDER / f"{name}.json"
    if os.environ.get("UNMASK_GOLDEN") == "write":
        path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    assert json.loads(path.read_text(encoding="utf-8")) == found


def read(name: str) -> Inside:
    """Return what the probes make of a recording."""
    system, _, cpu = name.partition("-")
    folder = RECORDINGS / system / cpu
    if not folder.is_dir():
        pytest.skip("the recordings of guests are not here")
    return _inside(_Files(folder))


class _Files:
    """The files of one recording."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def text(self, name: str) -> str:
        """Return a file's text, "" where it is not there or its command failed."""
        path = self.folder / name
        failed = path.with_suffix(".status").is_file()
        return "" if failed or not path.is_file() else path.read_text(encoding="utf-8")

    def lines(self, name: str) -> list[list[str]]:
        """Return the words of a table's lines, without its heading."""
        return [line.split() for line in self.text(name).splitlines()[1:] if line.strip()]


def _inside(files: _Files) -> Inside:
    return Inside(
        root=True,
        system=Known(replace(LINUX, kernel=files.text("uname_a.txt").split()[2])),
        virtualisation=_probe("virtualisation", vm=files.text("systemd_detect_virt.txt")),
        cpu=_probe("cpu", cpuinfo=files.text("cpuinfo.txt"), machine="x86_64\n"),
        crypto_drivers=_drivers(files),
        kernel_crypto=_kernel_crypto(files),
        block_devices=_probe("block_devices", json=files.text("lsblk_J.json")),
        signatures=_probe("signatures", blkid=files.text("blkid.txt")),
        dm_crypt=_dm_crypt(files),
        luks_headers=_headers(files),
        crypttab=_probe("crypttab", **{"/etc/crypttab": files.text("crypttab.txt")}),
        zfs=_zfs(files),
        geli=_probe("geli"),
        file_encryption=_probe("file_encryption", mounts=_encrypted(files)),
    )


def _probe(module: str, **parts: str) -> Reading[Any]:
    try:
        return Known(parsed(module, **parts))
    except InputError as error:
        return Missing(str(error))


def _drivers(files: _Files) -> Reading[tuple[CryptoDriver, ...]]:
    text = files.text("proc_crypto_instantiated.txt") or files.text("proc_crypto_after.txt")
    found: tuple[CryptoDriver, ...] = _probe("crypto_drivers", **{"/proc/crypto": text}).value
    return Known(tuple(item for item in found if "aes" in item.algorithm and not item.internal))


def _kernel_crypto(files: _Files) -> Reading[Any]:
    words = "\n".join(files.text("proc_cmdline.txt").split())
    modules = "\n".join(line[0] for line in files.lines("lsmod.txt"))
    return _probe("kernel_crypto", modules=modules, **{"/proc/cmdline": words})


def _dm_crypt(files: _Files) -> Reading[Any]:
    info = "\n".join(f"{row[-1]} {row[0]}" for row in files.lines("dmsetup_info_c.txt"))
    return _probe("dm_crypt", uuids="", table=files.text("dmsetup_table.txt"), info=info)


def _headers(files: _Files) -> Reading[Any]:
    return _probe(
        "luks_headers",
        devices="",
        **{
            "luks /dev/loop0": files.text("luksdump_luks1.txt"),
            "luks /dev/vdb": files.text("luksdump_luks2.txt"),
        },
    )


def _zfs(files: _Files) -> Reading[Any]:
    pools = [row for row in files.lines("zpool_list.txt") if len(row) == 11]
    parameters = "/sys/module/icp/parameters/icp"
    return _probe(
        "zfs",
        pools="\n".join(f"{row[0]}\t{row[-2]}" for row in pools),
        datasets=files.text("zfs_get_encryption.txt"),
        **{
            "/sys/module/zfs/version": files.text("sys_module_zfs_version.txt"),
            f"{parameters}_aes_impl": files.text("icp_aes_impl.txt"),
            f"{parameters}_gcm_impl": files.text("icp_gcm_impl.txt"),
        },
    )


def _encrypted(files: _Files) -> str:
    lines = files.text("proc_mounts.txt").splitlines()
    return "\n".join(line for line in lines if " fuse." in line)
