"""What is run in a guest changes nothing there, and does not cost it much.

Fakes of the programs write down how they were called, because the real ones would only show it in a
guest that they have changed.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from support import peers, probe_shell
from support.probe_shell import MARK
from unmask.model.inside import Inside
from unmask.probes import _reading
from unmask.probes._library import LIBRARY

LOADERS = ("ip", "setkey", "dmsetup")
"""They load a kernel module in order to say that there is nothing."""
LOADED = {
    "proc/misc": "236 device-mapper\n",
    "proc/net/netlink": (
        "sk               Eth Pid        Groups   Rmem\n"
        "0000000000000000 0   241        00000011 0\n"
        "0000000000000000 6   0          00000000 0\n"
    ),
    "proc/net/pfkey": "sk       RefCnt\n",
}


class Guest:
    """A root directory, and programs that write down how they are called."""

    def __init__(self, place: Path, shell: str) -> None:
        self.root = place / "root"
        self.root.mkdir()
        self.calls = place / "calls"
        self.calls.touch()
        self.argv, self.path = probe_shell.shell(shell, place / "bin")

    def has(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def runs(self, name: str, body: str = ":") -> None:
        program = Path(self.path) / name
        program.unlink(missing_ok=True)
        program.write_text(
            f'#!/bin/sh\necho "{name} $* [$PROC_ROOT]" >>{self.calls}\n{body}\n', encoding="utf-8"
        )
        program.chmod(0o755)

    def read(self, *names: str) -> Inside:
        probes = tuple(probe for probe in _reading.probes() if probe.name in names)
        output = probe_shell.run(probes, self.argv, self.path, root=str(self.root))
        return _reading.read(output, MARK, probes)

    def called(self, name: str) -> list[str]:
        lines = self.calls.read_text().splitlines()
        return [line.removeprefix(f"{name} ") for line in lines if line.startswith(f"{name} ")]


@pytest.fixture(params=probe_shell.SHELLS)
def guest(request: pytest.FixtureRequest, tmp_path: Path) -> Guest:
    return Guest(tmp_path, request.param)


def test_what_would_load_a_module_is_not_called(guest: Guest) -> None:
    for path, text in LOADED.items():
        guest.has(
            path, text.replace("device-mapper", "fuse").replace("\n0000000000000000 6", "\n0 9")
        )
    (guest.root / "proc/net/pfkey").unlink()
    for name in LOADERS:
        guest.runs(name)
    inside = guest.read("ipsec", "dm_crypt")
    assert guest.calls.read_text() == ""
    assert inside.ipsec.value.associations == ()
    assert inside.dm_crypt.value == ()


def test_it_is_called_where_the_module_is_loaded(guest: Guest) -> None:
    for path, text in LOADED.items():
        guest.has(path, text)
    for name in LOADERS:
        guest.runs(name)
    guest.read("ipsec", "dm_crypt")
    assert {name for name in LOADERS if guest.called(name)} == set(LOADERS)


def test_ss_is_told_to_read_proc(guest: Guest) -> None:
    guest.runs("ss", "echo 'tcp LISTEN 0 511 0.0.0.0:443 0.0.0.0:*'")
    inside = guest.read("listeners", "tls_processes")
    assert [listener.port for listener in inside.listeners.value] == [443]
    calls = guest.called("ss")
    assert calls
    assert [call for call in calls if not call.endswith("[/proc]")] == []


LUKS_ON_VDB = """/dev/vda: UUID="1" TYPE="ext4"
/dev/vdb: UUID="2" VERSION="2" TYPE="crypto_LUKS"
"""
HEADER = "Version: 2\n\tcipher: aes-xts-plain64\n"


def test_a_damaged_luks_header_is_not_mended(guest: Guest) -> None:
    """Without --disable-locks, cryptsetup 2 rewrites the copy of a header that is damaged."""
    guest.runs("blkid", f"printf '{LUKS_ON_VDB}'")
    guest.runs(
        "cryptsetup", 'case "$*" in *--help*) echo "  --disable-locks  Do";; *) exit 1;; esac'
    )
    guest.runs("id", "echo 0")
    guest.read("luks_headers")
    dumps = [call for call in guest.called("cryptsetup") if "luksDump" in call]
    assert dumps
    assert [call for call in dumps if not call.startswith("--disable-locks")] == []


def test_an_old_cryptsetup_is_asked_without_that_option(guest: Guest) -> None:
    guest.runs("blkid", f"printf '{LUKS_ON_VDB}'")
    guest.runs(
        "cryptsetup",
        f"case \"$*\" in *disable*) exit 1;; luksDump*) printf '{HEADER}';; esac",
    )
    guest.runs("id", "echo 0")
    (header,) = guest.read("luks_headers").luks_headers.value
    assert header.cipher == "aes-xts-plain64"


def packages(guest: Guest, manager: str) -> str:
    """Return what `packages` prints where this is the only package manager."""
    only = f'has() {{ [ "$1" = {manager} ]; }}\n'
    done = subprocess.run(
        [guest.argv[0], "-c", f"{LIBRARY}{only}packages restic rclone"],
        cwd=guest.root,
        env={"PATH": f"{guest.path}:{peers.SEARCH_PATH}"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout


def test_pkg_is_asked_whether_it_is_there_before_it_is_used(guest: Guest) -> None:
    """FreeBSD's pkg fetches itself where it is not installed, except with -N."""
    guest.runs("pkg", 'case "$*" in -N) exit 1;; esac')
    assert packages(guest, "pkg") == ""
    assert guest.called("pkg") == ["-N []"]
    guest.runs("pkg", 'case "$*" in -N) echo "pkg: 7 packages";; *) echo "restic 0.17.3";; esac')
    assert packages(guest, "pkg") == "restic 0.17.3\n"


def test_opkg_takes_no_lock_because_its_file_is_read(guest: Guest) -> None:
    guest.has(
        "usr/lib/opkg/status",
        "Package: rclone\nVersion: 1.62.2-2\nDepends: libc\n\n"
        "Package: rclone-config\nVersion: 9\n\nPackage: zlib\nVersion: 1.2.13-1\n",
    )
    guest.runs("opkg")
    assert packages(guest, "opkg").split() == ["rclone", "1.62.2-2"]
    assert guest.called("opkg") == []


def test_hundreds_of_units_cost_no_program_each(guest: Guest) -> None:
    for number in range(300):
        guest.has(f"etc/systemd/system/unit{number}.service", "# borg\nExecStart=/bin/true\n")
    guest.has("etc/systemd/system/a.service", "Environment=OPENSSL_ia32cap=~0x2\n")
    guest.has("etc/cron.d/backup", "1 1 * * * root /opt/restic-backup.sh && borg create\n#rclone\n")
    greps = shutil.which("grep", path=peers.SEARCH_PATH)
    guest.runs("grep", f'exec {greps} "$@"')
    inside = guest.read("backups", "openssl")
    assert [(tool.name, tool.schedules) for tool in inside.backups.value if tool.schedules] == [
        ("borg", ("/etc/cron.d/backup",)),
        ("restic", ("/etc/cron.d/backup",)),
    ]
    assert inside.openssl.value.masks == ("/etc/systemd/system/a.service",)
    assert len(guest.called("grep")) < 10


@pytest.mark.parametrize(
    ("modules", "available"),
    [
        ("kernel/arch/x86/crypto/aesni-intel.ko.xz: kernel/a.ko\n", True),
        ("kernel/crypto/xts.ko:\n", False),
    ],
)
def test_a_modprobe_that_might_load_is_not_called(
    guest: Guest,
    modules: str,
    available: bool,  # noqa: FBT001 - a value of the table
) -> None:
    """BusyBox's and OpenWrt's know neither -n nor --version; nobody knows what they would do."""
    guest.runs("uname", "echo 6.1.0")
    guest.runs("modprobe", "exit 1")
    guest.has("lib/modules/6.1.0/modules.dep", modules)
    assert guest.read("kernel_crypto").kernel_crypto.value.aesni_available is available
    assert guest.called("modprobe") == ["--version []"]


def test_the_modprobe_of_kmod_is_asked(guest: Guest) -> None:
    guest.runs("uname", "echo 6.1.0")
    guest.runs("modprobe", 'case "$*" in --version) echo "kmod version 30";; esac')
    guest.has("lib/modules/6.1.0/modules.dep", "")
    assert guest.read("kernel_crypto").kernel_crypto.value.aesni_available is True
    assert guest.called("modprobe") == ["--version []", "-n aesni_intel []"]


@pytest.mark.parametrize(
    ("blkid", "calls"),
    [
        (f"case \"$*\" in '-c /dev/null') printf '{LUKS_ON_VDB}';; esac", "-c /dev/null"),
        # It takes no options, and would take these two words for devices.
        (f"case \"$*\" in --help) echo BusyBox v1;; '') printf '{LUKS_ON_VDB}';; esac", ""),
    ],
)
def test_either_blkid_is_asked_in_its_own_way(guest: Guest, blkid: str, calls: str) -> None:
    guest.runs("blkid", blkid)
    guest.runs("id", "echo 0")
    guest.runs("cryptsetup", f"case \"$*\" in *luksDump*vdb) printf '{HEADER}';; esac")
    inside = guest.read("signatures", "luks_headers")
    assert [item.device for item in inside.signatures.value] == ["/dev/vda", "/dev/vdb"]
    assert [item.device for item in inside.luks_headers.value] == ["/dev/vdb"]
    assert {call.removesuffix(" []") for call in guest.called("blkid")} == {"--help", calls}
