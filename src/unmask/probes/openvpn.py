"""OpenVPN: its version, and mode, ciphers and offload of each configuration."""

from __future__ import annotations

import re

from unmask.model.inside_tunnels import OpenVpn
from unmask.probes._probe import Probe
from unmask.probes._section import Section
from unmask.probes._words import cipher, ciphers, number

# Only these options leave the guest: no key, no password, no address (of a proxy or another).
COMMAND = r"""
part version
if has openvpn; then
    openvpn --version | head -n 4
fi
o='dev|dev-type|proto|port|lport|server|server-bridge|client|mode|tls-client|tls-server|cipher'
o="$o|data-ciphers|data-ciphers-fallback|ncp-ciphers|ncp-disable|disable-dco|fragment|compress"
o="$o|comp-lzo|topology|http-proxy|socks-proxy"
pick "^[[:space:]]*(($o)([[:space:]]|\$)|secret[[:space:]]|<secret>)" \
    etc/openvpn/*.conf etc/openvpn/*/*.conf etc/openvpn/*.ovpn var/etc/openvpn/*.conf \
    var/etc/openvpn/*/*.ovpn var/etc/openvpn/*/*.conf usr/local/etc/openvpn/*.conf \
    usr/local/etc/openvpn/*/*.conf var/etc/openvpn-*.conf |
    sed -E 's/^([[:space:]]*(secret|http-proxy|socks-proxy))[[:space:]].*/\1/'
"""

_VERSION = re.compile(r"^OpenVPN (\d[\w.]*) .*$", re.MULTILINE)
_LIBRARY = re.compile(r"library versions: ((?:OpenSSL|LibreSSL|mbed TLS|wolfSSL) \d[\w.]*)")
_NO_OFFLOAD = frozenset(
    {"disable-dco", "fragment", "compress", "comp-lzo", "secret", "http-proxy", "socks-proxy"}
)
"""Options with which OpenVPN 2.6 does not use the kernel (src/openvpn/dco.c)."""
_OFFLOADED = frozenset(
    {"AES-128-GCM", "AES-192-GCM", "AES-256-GCM", "CHACHA20-POLY1305", "DEFAULT"}
)
"""What the kernel can encrypt with; one other cipher in the list, and it is left out altogether."""


def parse(section: Section) -> tuple[OpenVpn, ...]:
    """Return the configurations that were found; none where there is none or no OpenVPN."""
    banner = section.text("version")
    version = _VERSION.search(banner)
    library = _LIBRARY.search(banner)
    built = "[DCO]" in version[0] if version else None
    return tuple(
        _config(
            part,
            section.lines(part),
            version=version[1] if version else "",
            library=library[1] if library else "",
            built=built,
        )
        for part in section.parts
        if part.startswith("/") and section.first(part)
    )


def _config(
    path: str, lines: list[str], *, version: str, library: str, built: bool | None
) -> OpenVpn:
    options: dict[str, str] = {}
    for line in lines:
        name, _, value = line.strip().partition(" ")
        options.setdefault(name.strip("<>"), value.split("#")[0].strip())
    listed = options.get("data-ciphers") or options.get("ncp-ciphers") or ""
    mode = _mode(options)
    fixed = options.get("cipher", "")
    outranked = "" if listed or not _negotiates(options, mode, version) else fixed
    return OpenVpn(
        config=path,
        mode=mode,
        port=number(options.get("port") or options.get("lport", "")),
        transport=cipher(options.get("proto", "")),
        device=cipher(options.get("dev", "")),
        ciphers=ciphers(listed or ("" if outranked else fixed)),
        offload=_offload(options, mode, version, built=built),
        version=version,
        library=library,
        outranked=cipher(outranked),
    )


def _negotiates(options: dict[str, str], mode: str, version: str) -> bool:
    """Return whether both ends agree on a cipher, by a list that `cipher` is last on or not at all.

    They do with TLS since 2.4, which can turn it off; 2.6 no longer looks at `cipher` for it
    (doc/man-sections/cipher-negotiation.rst).
    """
    old = re.match(r"2\.[0-3](?:\D|$)", version) is not None
    return mode in ("server", "client") and "ncp-disable" not in options and not old


def _mode(options: dict[str, str]) -> str:
    if options.keys() & {"server", "server-bridge"} or options.get("mode") == "server":
        return "server"
    if options.keys() & {"client", "tls-client"}:
        return "client"
    if "secret" in options:
        return "peer"
    return "server" if "tls-server" in options else ""


def _offload(
    options: dict[str, str], mode: str, version: str, *, built: bool | None
) -> bool | None:
    """Return False where the kernel cannot do it; that it does takes the module as well."""
    if built is False or options.keys() & _NO_OFFLOAD:
        return False
    if options.get("dev", "").startswith("tap") or options.get("dev-type") == "tap":
        return False
    named = (options.get(key, "") for key in ("data-ciphers", "ncp-ciphers"))
    wanted = {name.upper() for text in named for name in ciphers(text.replace("?", ""))}
    wanted |= {name.upper() for name in ciphers(options.get("data-ciphers-fallback", ""))}
    if wanted - _OFFLOADED:
        return False
    # A server's default until 2.6 is net30, from 2.7 on subnet (Changes.rst).
    default = "net30" if re.match(r"2\.[0-6](?:\D|$)", version) else "subnet"
    if mode == "server" and options.get("topology", default) != "subnet":
        return False
    return None


PROBE = Probe("openvpn", COMMAND, parse, needs_root="configurations that only root may read")
