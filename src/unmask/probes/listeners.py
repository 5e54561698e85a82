"""Listening sockets and who holds them: ss, netstat, sockstat."""

from __future__ import annotations

import re

from unmask.errors import InputError
from unmask.model.inside_tunnels import Listener
from unmask.probes._probe import Probe
from unmask.probes._section import Section
from unmask.probes._words import number, unique

# Told where /proc is, ss reads that, and does not load the kernel's modules for its own question.
COMMAND = """\
part sockets
if has ss; then
    export PROC_ROOT=/proc
    ss -H -lntup || ss -lntup
elif [ "$(uname -s)" = FreeBSD ] && has sockstat; then
    sockstat -46l
elif has netstat; then
    netstat -lntup || netstat -lntu || netstat -an
else
    exit 127
fi
"""

COUNT = 2000

_USERS = re.compile(r'\("((?:[^"\\]|\\.){1,60})",pid=(\d{1,10})')
_STATES = {"LISTEN": "tcp", "UNCONN": "udp"}
_PROTOCOL = re.compile(r"(tcp|udp)(?:4|6|46|64)?")
_HOLDER = re.compile(r"(\d{1,10})/(.{1,60})")


def parse(section: Section) -> tuple[Listener, ...]:
    """Return the sockets in the order of protocol, port and address.

    Raises:
        InputError: None of the three commands is in the guest.
    """
    if "sockets" not in section or section.status == 127:
        raise InputError("neither ss, netstat nor sockstat is installed in the guest")
    return parse_text(section.text("sockets"))


def parse_text(text: str) -> tuple[Listener, ...]:
    """Return the sockets of any of these commands' output, with or without heading."""
    found: dict[tuple[str, int, str], Listener] = {}
    for line in text.splitlines()[: 2 * COUNT]:
        listener = _listener(line)
        if listener:
            found.setdefault((listener.protocol, listener.port, listener.address), listener)
    return tuple(found[key] for key in sorted(found)[:COUNT])


def _listener(line: str) -> Listener | None:
    words = line.split()
    if len(words) < 5:
        return None
    if words[0] in _STATES or (len(words) > 5 and words[1] in _STATES):
        return _ss(words, line)
    protocol = _PROTOCOL.fullmatch(words[0])
    if protocol:
        return _netstat(protocol[1], words)
    protocol = _PROTOCOL.fullmatch(words[4])
    return _sockstat(protocol[1], words) if protocol and len(words) > 5 else None


def _ss(words: list[str], line: str) -> Listener | None:
    """Read `[Netid] State Recv-Q Send-Q Local Peer [users:(...)]`."""
    named = words[0] not in _STATES
    protocol = words[0] if named else _STATES[words[0]]
    holders = _USERS.findall(line)
    return _made(protocol, words[4 if named else 3], [(name, int(pid)) for name, pid in holders])


def _netstat(protocol: str, words: list[str]) -> Listener | None:
    """Read `Proto Recv-Q Send-Q Local Foreign [State] [PID/Program name]`."""
    if protocol == "tcp" and "LISTEN" not in words[5:6]:
        return None
    if protocol == "udp" and words[5:6] == ["ESTABLISHED"]:
        return None
    holder = _HOLDER.match(" ".join(words[6 if protocol == "tcp" else 5 :]))
    # A title like "nginx: master" is cut to what comes before the colon.
    holders = [(holder[2].partition(":")[0].strip(), int(holder[1]))] if holder else []
    return _made(protocol, words[3], holders)


def _sockstat(protocol: str, words: list[str]) -> Listener | None:
    """Read `USER COMMAND PID FD PROTO LOCAL FOREIGN`."""
    pid = number(words[2])
    return _made(protocol, words[5], [] if pid is None else [(words[1], pid)])


def _made(protocol: str, place: str, holders: list[tuple[str, int]]) -> Listener | None:
    address, _, port = place.rpartition(":")
    if not address and "." in place:
        address, _, port = place.rpartition(".")  # netstat of BSD
    count = number(port)
    if protocol not in ("tcp", "udp") or count is None or not 0 < count < 65536:
        return None
    return Listener(
        protocol=protocol,
        address=address[:80],
        port=count,
        processes=unique(name for name, _ in holders),
        pids=tuple(sorted({pid for _, pid in holders}))[:64],
    )


PROBE = Probe(
    "listeners",
    COMMAND,
    parse,
    needs_root="the names of programs that belong to other users",
    limit=256 * 1024,
)
