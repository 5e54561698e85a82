"""This machine by SSH as a guest sees it whose hypervisor hides CPU flags.

Its sshd lives in a mount namespace with a /proc/cpuinfo of its own, and gives every login the mask
that makes OpenSSL see the same. The silicon still executes what is hidden, as it does under KVM.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from support import peers, sshd
from support.cpuinfo_guest import flags
from support.sshd import Client, Sshd

BOTH = ("aes", "pclmulqdq", "vaes", "vpclmulqdq")
PCLMULQDQ = ("pclmulqdq", "vpclmulqdq")
_MASKS = {BOTH: "~0x200000200000000", PCLMULQDQ: "~0x200000000", (): ""}


@contextlib.contextmanager
def serving(place: Path, user: Client, hidden: tuple[str, ...] = ()) -> Iterator[Sshd]:
    """Serve this machine without these flags; the client knows its host key."""
    own = Path("/proc/cpuinfo").read_text()
    if not {"aes", "pclmulqdq"} <= flags(own):
        peers.missing("a processor with AES-NI and PCLMULQDQ")
    if os.geteuid() != 0:
        peers.missing("root, who alone can show a server another /proc/cpuinfo")
    place.mkdir(parents=True, exist_ok=True)
    shown = place / "cpuinfo"
    names = "|".join(hidden)
    shown.write_text(re.sub(rf" (?:{names})(?= |$)", "", own, flags=re.MULTILINE) if names else own)
    mask = _MASKS[hidden]
    settings = f"SetEnv OPENSSL_ia32cap={mask}" if mask else ""
    binds = {"/proc/cpuinfo": shown}
    with sshd.running(place / "sshd", user, settings=settings, binds=binds) as server:
        user.knows(server)
        yield server
