"""WireGuard interfaces: /sys (any user), wg (root), and programs that do it outside the kernel."""

from __future__ import annotations

import re
from dataclasses import replace

from unmask.model.inside_tunnels import WireGuard
from unmask.probes._probe import Probe
from unmask.probes._section import Section
from unmask.probes._words import number

# Never `wg show all dump` or `wg showconf`: they print private keys. Of peers only their number.
COMMAND = """\
part interfaces
for file in sys/class/net/*/uevent; do
    if grep -q '^DEVTYPE=wireguard' "$file"; then
        file=${file%/uevent}
        printf '%s\\n' "${file##*/}"
    fi
done
if [ "$(uname -s)" = FreeBSD ]; then
    ifconfig -g wg
fi
part sockets
for file in var/run/wireguard/*.sock; do
    if [ -e "$file" ]; then
        file=${file%.sock}
        printf '%s\\n' "${file##*/}"
    fi
done
if has wg; then
    part ports
    wg show all listen-port
    part peers
    wg show all peers | cut -f 1
fi
"""

_NAME = re.compile(r"[A-Za-z0-9_.=+-]{1,15}")


def parse(section: Section) -> tuple[WireGuard, ...]:
    """Return the interfaces, sorted by name."""
    found: dict[str, WireGuard] = {}
    for part, userspace in (("interfaces", False), ("sockets", True)):
        for line in section.lines(part):
            for name in line.split():
                if _NAME.fullmatch(name):
                    found.setdefault(name, WireGuard(name, userspace=userspace))
    for line in section.lines("ports"):
        fields = line.split("\t")
        if len(fields) == 2 and _NAME.fullmatch(fields[0]):
            known = found.get(fields[0], WireGuard(fields[0]))
            found[fields[0]] = replace(known, port=number(fields[1]) or None, peers=0)
    for name in section.lines("peers"):
        if name in found:
            found[name] = replace(found[name], peers=(found[name].peers or 0) + 1)
    return tuple(found[name] for name in sorted(found))


PROBE = Probe("wireguard", COMMAND, parse, needs_root="ports and the number of peers")
