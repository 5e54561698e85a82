"""Programs beside Python that some targets and commands start, and what is missing of them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

from unmask.checks._check import Check, Surroundings, every_target, note, ok, problem
from unmask.model.checkup import Remark
from unmask.sources import libvirt


def run(around: Surroundings) -> Iterator[Remark]:
    """Yield a remark for each program.

    SSH itself is spoken by unmask; only libvirt starts `ssh` for its own URIs.
    """
    path = around.environment.get("PATH", os.defpath)
    addresses = [item.address for item in every_target(around)]
    by_ssh = any("+ssh:" in item and libvirt.fits(item) for item in addresses)
    if shutil.which("ssh", path=path):
        yield ok("ssh", "is there, for libvirt targets by SSH (qemu+ssh://)")
    else:
        make = problem if by_ssh else note
        what = "is not installed; libvirt starts it for qemu+ssh://"
        yield make("ssh", what, "apt install openssh-client")
    found = [name for name in ("ab", "openssl") if shutil.which(name, path=path)]
    if found:
        yield ok("openssl, ab", f"{' and '.join(found)} can ask a server for unmask bench --tls")
    else:
        yield ok("openssl, ab", "neither is installed; unmask bench --tls asks servers by itself")


CHECK = Check(30, "Programs", run)
