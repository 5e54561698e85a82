"""Servers whose configuration turns TLS on, their ports, and their order of ciphers."""

from __future__ import annotations

import re
from collections.abc import Callable

from unmask.model.inside_programs import TlsService
from unmask.probes._probe import Probe
from unmask.probes._section import Section
from unmask.probes._words import number, setting, switch

# Only the lines that are asked for leave the guest: no certificate, no password, no host name.
COMMAND = r"""
b='^[[:space:]]*'
for d in etc/nginx usr/local/etc/nginx etc/openresty; do
    pick "$b(listen[[:space:]].*ssl|ssl_ciphers|ssl_prefer_server_ciphers|ssl_conf_command)" \
        $d/nginx.conf $d/conf.d/*.conf $d/sites-enabled/* $d/http.d/*.conf
done
pick "$b(SSLEngine|SSLCipherSuite|SSLHonorCipherOrder|<VirtualHost[[:space:]]|Listen[[:space:]])" \
    etc/apache2/ports.conf etc/apache2/sites-enabled/* etc/apache2/mods-enabled/ssl.conf \
    etc/httpd/conf/httpd.conf etc/httpd/conf.d/*.conf usr/local/etc/apache24/extra/*.conf
pick "$b(bind[[:space:]].*[[:space:]]ssl|ssl-default-bind-(ciphers|ciphersuites|options))" \
    etc/haproxy/haproxy.cfg etc/haproxy/conf.d/*.cfg usr/local/etc/haproxy.conf
pick "$b(smtpd_tls_(security_level|mandatory_ciphers)|tls_preempt_cipherlist|tls_high_cipherlist)" \
    etc/postfix/main.cf
pick "$b(ssl|ssl_cipher_list|ssl_prefer_server_ciphers)[[:space:]]*=" \
    etc/dovecot/dovecot.conf etc/dovecot/conf.d/10-ssl.conf
pick "$b(accept|ciphers|ciphersuites)[[:space:]]*=" etc/stunnel/*.conf usr/local/etc/stunnel/*.conf
pick "$b(ssl\.engine|ssl\.cipher-list|ssl\.honor-cipher-order|server\.port)" \
    etc/lighttpd/lighttpd.conf etc/lighttpd/conf-enabled/*.conf
"""

_SERVERS = {
    "nginx": "nginx",
    "openresty": "nginx",
    "apache2": "apache",
    "apache24": "apache",
    "httpd": "apache",
    "haproxy": "haproxy",
    "haproxy.conf": "haproxy",
    "postfix": "postfix",
    "dovecot": "dovecot",
    "stunnel": "stunnel",
    "lighttpd": "lighttpd",
}
_CIPHERS = frozenset(
    {
        "ssl_ciphers",
        "sslciphersuite",
        "ssl-default-bind-ciphers",
        "ssl-default-bind-ciphersuites",
        "tls_high_cipherlist",
        "ssl_cipher_list",
        "ciphers",
        "ciphersuites",
        "ssl.cipher-list",
    }
)
_ORDERS = frozenset(
    {
        "ssl_prefer_server_ciphers",
        "sslhonorcipherorder",
        "tls_preempt_cipherlist",
        "ssl.honor-cipher-order",
    }
)
_LINE_LIMIT = 1000
"""Characters of a line that are looked at: longer ones would take the patterns long."""
_LIST = re.compile(r"[A-Za-z0-9_+!:@=., -]{1,1000}")


def parse(section: Section) -> tuple[TlsService, ...]:
    """Return the servers, sorted by name, each with all of its files together."""
    lines: dict[str, list[str]] = {}
    for part in section.parts:
        server = next((_SERVERS[word] for word in part.split("/") if word in _SERVERS), "")
        if server:
            lines.setdefault(server, []).extend(section.lines(part))
    services = (_service(name, lines[name]) for name in sorted(lines))
    return tuple(service for service in services if service)


def _service(name: str, lines: list[str]) -> TlsService | None:
    ports: set[int] = set()
    ciphers: list[str] = []
    order: bool | None = None
    enabled = name == "stunnel" and bool(lines)
    for line in (line[:_LINE_LIMIT] for line in lines):
        key, value = setting(line)
        port = _port(name, line)
        if port:
            ports.add(port)
        if key in _CIPHERS and _LIST.fullmatch(value):
            ciphers.append(value)
        if key in _ORDERS:
            order = switch(value)
        enabled = enabled or _ENABLED.get(name, _never)(line.strip().lower(), key, value)
    if not enabled:
        return None
    return TlsService(name, tuple(sorted(ports)), tuple(dict.fromkeys(ciphers)), order)


def _never(_line: str, _key: str, _value: str) -> bool:
    return False


_ENABLED: dict[str, Callable[[str, str, str], bool]] = {
    "nginx": lambda line, _key, _value: re.match(r"listen\s.*\bssl\b", line) is not None,
    "haproxy": lambda line, _key, _value: re.match(r"bind\s.*\sssl\b", line) is not None,
    "apache": lambda _line, key, value: key == "sslengine" and switch(value) is True,
    "postfix": lambda _line, key, value: (
        key == "smtpd_tls_security_level" and value in ("may", "encrypt")
    ),
    "dovecot": lambda _line, key, value: key == "ssl" and value in ("yes", "required"),
    "lighttpd": lambda line, _key, _value: (
        re.match(r'ssl\.engine\s*=\s*"enable"', line) is not None
    ),
}
_PORTS = {
    "nginx": re.compile(r"^\s*listen\s+(?:\S*:)?(\d{1,5})\b.*\bssl\b"),
    "haproxy": re.compile(r"^\s*bind\s+\S*?:(\d{1,5})\b.*\sssl\b"),
    "apache": re.compile(
        r"^\s*(?:<virtualhost\s+\S*:|listen\s+(?:\S*:)?)(443|\d*443)\b", re.IGNORECASE
    ),
    "stunnel": re.compile(r"^\s*accept\s*=\s*(?:\S*:)?(\d{1,5})\s*$"),
    "lighttpd": re.compile(r"^\s*server\.port\s*=\s*(\d{1,5})"),
}


def _port(name: str, line: str) -> int | None:
    pattern = _PORTS.get(name)
    match = pattern.match(line) if pattern else None
    count = number(match[1]) if match else None
    return count if count is not None and 0 < count < 65536 else None


PROBE = Probe(
    "tls_services",
    COMMAND,
    parse,
    needs_root="configurations that only root may read",
    limit=256 * 1024,
)
