"""IPsec: the algorithms of associations in the kernel, and the daemon's proposals, without keys."""

from __future__ import annotations

import re

from unmask.model.inside_tunnels import IpSec, SecurityAssociation
from unmask.probes._probe import Probe
from unmask.probes._section import Section
from unmask.probes._words import cipher, ciphers, number, unique

# The kernel prints keys: awk puts their length in their place before anything leaves the guest.
COMMAND = r"""
part xfrm
# Asking for associations would load the module that has none: protocol 6 is NETLINK_XFRM.
if has ip && awk '$2 == 6 { found = 1 } END { exit !found }' proc/net/netlink; then
    ip xfrm state | awk '{
        for (i = 1; i <= NF; i++)
            if ($i ~ /^0x[0-9A-Fa-f]+$/ && length($i) >= 18) $i = "bits:" (length($i) - 2) * 4
        print
    }'
fi
part setkey
if has setkey && { [ "$(uname -s)" != Linux ] || [ -e proc/net/pfkey ]; }; then
    setkey -D | sed -n -E 's/^[[:space:]]*([EA]):[[:space:]]*([a-z0-9-]+).*/\1 \2/p'
fi
part version
if has ipsec; then
    ipsec --version | head -n 1
elif has swanctl; then
    swanctl --version | head -n 1
fi
part stats
if has swanctl; then
    swanctl --stats | grep -E '^ *loaded plugins'
    part connections
    swanctl --list-conns | grep -E '^[^ ].*: '
    part negotiated
    swanctl --list-sas | grep -E -o '(AES|CHACHA|CAMELLIA|3DES)[A-Z0-9_]*(-[0-9]+)?'
elif has ipsec; then
    ipsec statusall | grep -E '^ *loaded plugins|IKE proposal|AES|CHACHA' | hide
fi
pick '^[[:space:]]*(proposals|esp_proposals|ah_proposals|ike|esp|phase2alg|ah)[[:space:]]*=' \
    etc/ipsec.conf etc/ipsec.d/*.conf etc/swanctl/swanctl.conf etc/swanctl/conf.d/*.conf \
    usr/local/etc/swanctl/swanctl.conf usr/local/etc/swanctl/conf.d/*.conf \
    var/etc/ipsec/*.conf var/etc/ipsec/conf.d/*.conf
"""

_KEYED = re.compile(
    r"^\s*(?P<what>aead|enc|auth|auth-trunc)\s+(?P<name>\S{1,80})(?:\s+(?P<key>0x[0-9a-fA-F]*|bits:\d+))?"
)
_PROTOCOL = re.compile(r"^\s*proto (esp|ah)\b")
_DAEMON = re.compile(r"(strongSwan|Libreswan|Openswan)", re.IGNORECASE)
_CONNECTION = re.compile(r"(\S{1,100}): IKEv")
_NEGOTIATED = re.compile(r"\b(?:AES|CHACHA20|CAMELLIA|3DES)[A-Z0-9_]{0,40}(?:[-/=]\d{1,4})?")
_PROPOSAL = re.compile(r"(?:aes|chacha20|camellia|3des|null)[a-z0-9_-]{0,100}", re.IGNORECASE)
_OF_TUNNELS = ("esp", "esp_proposals", "phase2alg")
_SIGNS = str.maketrans("!;", "  ")
_SALTED = re.compile(r"rfc4106|rfc4309|rfc4543|rfc7539|gcm|ccm|chacha", re.IGNORECASE)


def parse(section: Section) -> IpSec:
    """Return what there is; without root neither associations nor most configurations."""
    daemon = _DAEMON.search(section.text("version"))
    names = {"strongswan": "strongSwan", "libreswan": "Libreswan", "openswan": "Openswan"}
    stats = section.text("stats")
    plugins = re.search(r"loaded plugins: ([a-z0-9 -]{1,2000})", stats)
    names_of = (_CONNECTION.match(line) for line in section.lines("connections"))
    return IpSec(
        associations=_associations(section),
        daemon=names[daemon[1].lower()] if daemon else "",
        plugins=tuple(plugins[1].split()) if plugins else (),
        connections=unique(match[1] for match in names_of if match),
        proposals=_proposals(section),
    )


def _proposals(section: Section) -> tuple[str, ...]:
    """Return what tunnels may be encrypted with, in order, and then what the key exchange may."""
    tunnels: list[str] = []
    exchange: list[str] = []
    for line in (*section.lines("negotiated"), *section.lines("stats")):
        found = exchange if "IKE proposal" in line else tunnels
        found.extend(_NEGOTIATED.findall(line))
    for part in section.below("/"):
        for line in section.lines(part):
            name, _, value = line.partition("=")
            found = tunnels if name.strip().lower() in _OF_TUNNELS else exchange
            words = ciphers(value.translate(_SIGNS))
            found.extend(word for word in words if _PROPOSAL.fullmatch(word))
    return tuple(dict.fromkeys((*tunnels, *exchange)))


def _associations(section: Section) -> tuple[SecurityAssociation, ...]:
    found = [*parse_xfrm(section.text("xfrm")), *_setkey(section.lines("setkey"))]
    return tuple(dict.fromkeys(found))


def parse_xfrm(text: str) -> list[SecurityAssociation]:
    """Return the associations of `ip xfrm state`, their keys dropped and only counted."""
    found = []
    for block in re.split(r"^(?=src )", text, flags=re.MULTILINE):
        protocol, made, integrity = "", None, ""
        for line in block.splitlines():
            if match := _PROTOCOL.match(line):
                protocol = match[1]
            match = _KEYED.match(line)
            if match and match["what"].startswith("auth"):
                integrity = cipher(match["name"])
            elif match:
                made = (cipher(match["name"]), _bits(match["key"] or "", match["name"]))
        if made or integrity:
            name, bits = made or ("", None)
            found.append(SecurityAssociation(name, integrity, bits, protocol))
    return found


def _bits(key: str, algorithm: str) -> int | None:
    count = number(key.removeprefix("bits:")) if key.startswith("bits:") else (len(key) - 2) * 4
    if count is None or count < 64:
        return None
    salt = 32 if _SALTED.search(algorithm) else 0  # RFC 4106 and its like put a salt behind the key
    if "ccm" in algorithm.lower() or "rfc4309" in algorithm:
        salt = 24
    return count - salt


def _setkey(lines: list[str]) -> list[SecurityAssociation]:
    """Return the associations of `setkey -D` (FreeBSD), as "E name" and "A name"."""
    found: list[SecurityAssociation] = []
    for line in lines:
        what, _, name = line.partition(" ")
        if what == "E":
            found.append(SecurityAssociation(cipher(name), protocol="esp"))
        elif what == "A" and found and not found[-1].integrity:
            last = found[-1]
            found[-1] = SecurityAssociation(last.algorithm, cipher(name), None, last.protocol)
    return found


PROBE = Probe("ipsec", COMMAND, parse, needs_root="associations in the kernel and configurations")
