"""One run at a time for one guest, and a lock that dies with its process."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from support.fake_target import place
from unmask.errors import UsageError
from unmask.fixes._lock import BusyError, guest_lock, identity
from unmask.model.inventory import Platform

HOLD = """
import sys, time
from pathlib import Path
from support.fake_target import place
from unmask.fixes._lock import guest_lock
with guest_lock(Path(sys.argv[1]), place()):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_another_process_is_refused_and_the_dead_hold_nothing(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    ) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == b"held\n"
        with (
            pytest.raises(BusyError, match=r"another run .* is changing this guest"),
            guest_lock(tmp_path, place()),
        ):
            pytest.fail("two hold it")
        with guest_lock(tmp_path, place("102")):
            pass
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    with guest_lock(tmp_path, place()):
        pass


def test_the_same_thread_does_not_get_it_twice(tmp_path: Path) -> None:
    with guest_lock(tmp_path, place()), pytest.raises(BusyError), guest_lock(tmp_path, place()):
        pytest.fail("two hold it")
    with guest_lock(tmp_path, place()):
        pass


def test_a_guest_is_the_same_whichever_way_it_is_reached() -> None:
    proxmox = replace(place(), subject="lab/101")
    assert identity(replace(proxmox, target="pve+ssh://x", node="pve3")) == identity(proxmox)
    assert identity(replace(proxmox, subject="other/101")) != identity(proxmox)
    libvirt = replace(place("4b3c"), platform=Platform.LIBVIRT)
    assert identity(replace(libvirt, subject="other/web", name="www")) == identity(libvirt)
    assert identity(replace(libvirt, ident="77aa")) != identity(libvirt)


def test_locks_are_private(tmp_path: Path) -> None:
    with guest_lock(tmp_path, place()):
        (path,) = (tmp_path / "locks").iterdir()
        assert path.stat().st_mode & 0o777 == 0o600
    (tmp_path / "locks").chmod(0o777)
    with pytest.raises(UsageError, match="chmod 700"), guest_lock(tmp_path, place()):
        pytest.fail("anybody could hold it")
