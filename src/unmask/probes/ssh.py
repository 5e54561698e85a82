"""The SSH server and its order of ciphers."""

from __future__ import annotations

import re

from unmask.model.inside_tunnels import SshServer
from unmask.probes._probe import Probe
from unmask.probes._section import Section
from unmask.probes._words import ciphers

COMMAND = """\
part version
if has sshd; then
    ssh -V 2>&1
    part effective
    sshd -T | grep -i '^ciphers '
elif has dropbear; then
    dropbear -V 2>&1
fi
pick '^[[:space:]]*ciphers[[:space:]=]' etc/ssh/sshd_config etc/ssh/sshd_config.d/*.conf \\
    etc/crypto-policies/back-ends/opensshserver.config
"""

_VERSION = re.compile(r"(OpenSSH_[\w.]{1,20}|Dropbear v?[\w.]{1,20})")
_CIPHERS = re.compile(r"\s*ciphers[\s=]+([+^-]?)(\S+)", re.IGNORECASE)


def parse(section: Section) -> SshServer:
    """Return what there is; the built-in order of ciphers takes root's `sshd -T`."""
    version = _VERSION.search(section.text("version"))
    written = [_written(section.lines(part)) for part in section.below("/")]
    whole = [ciphers(names) for sign, names in written if names and not sign]
    own = [_written(section.lines(part)) for part in section.below("/etc/ssh/")]
    return SshServer(
        version=version[1] if version else "",
        ciphers=ciphers(_written(section.lines("effective"))[1]) or next(iter(whole), ()),
        configured=any(names for _, names in own),
    )


def _written(lines: list[str]) -> tuple[str, str]:
    """Return the sign before the list ("+" adds to the built-in one) and the list."""
    matches = (_CIPHERS.match(line) for line in lines)
    return next(((match[1], match[2]) for match in matches if match), ("", ""))


PROBE = Probe("ssh", COMMAND, parse, needs_root="the built-in order of ciphers")
