"""Lines for the configuration of TLS servers and of OpenSSL itself."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.measure import _units
from unmask.model.inside import System

SUITES = "TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384"
"""TLS 1.3: the three suites that OpenSSL has on, ChaCha20 first."""
CIPHERS = ":".join(
    f"ECDHE-{key}-{cipher}"
    for cipher in ("CHACHA20-POLY1305", "AES128-GCM-SHA256", "AES256-GCM-SHA384")
    for key in ("ECDSA", "RSA")
)
"""TLS 1.2: with forward secrecy and AEAD, ChaCha20 first."""
PADLOCK = """\
# These lines at the very top of the file, before any section:
openssl_conf = openssl_init

[openssl_init]
engines = engine_section

[engine_section]
padlock = padlock_section

[padlock_section]
engine_id = padlock
default_algorithms = CIPHERS
init = 1
"""


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines for one file."""

    path: str
    text: str
    warning: str = ""


def lines(server: str, system: System) -> Lines | None:
    """Return what makes a server prefer ChaCha20-Poly1305; None for one without such a form."""
    free = system.kernel_name == "FreeBSD"
    if server == "nginx":
        text = (
            "ssl_prefer_server_ciphers on;\n"
            f"ssl_ciphers {CIPHERS};\n"
            f"ssl_conf_command Ciphersuites {SUITES};\n"
        )
        path = "/usr/local/etc/nginx/nginx.conf" if free else "/etc/nginx/nginx.conf"
        return Lines(path, text, "In the block http; ssl_conf_command takes nginx 1.19.4 or newer.")
    if server == "apache":
        text = (
            f"SSLHonorCipherOrder on\nSSLCipherSuite {CIPHERS}\nSSLCipherSuite TLSv1.3 {SUITES}\n"
        )
        return Lines(apache_path(system), text, "The last line takes Apache 2.4.36 or newer.")
    if server == "haproxy":
        text = f"ssl-default-bind-ciphers {CIPHERS}\nssl-default-bind-ciphersuites {SUITES}\n"
        path = "/usr/local/etc/haproxy.conf" if free else "/etc/haproxy/haproxy.cfg"
        return Lines(
            path, text, "In the section global; prefer-client-ciphers must not be set anywhere."
        )
    return None


def apache_path(system: System) -> str:
    """Return where Apache's TLS configuration is."""
    if system.kernel_name == "FreeBSD":
        return "/usr/local/etc/apache24/extra/httpd-ssl.conf"
    if _units.debian(system):
        return "/etc/apache2/mods-available/ssl.conf"
    return "/etc/httpd/conf.d/ssl.conf"


def openssl_cnf(system: System) -> str:
    """Return where OpenSSL's own configuration is."""
    if system.kernel_name == "FreeBSD" or _units.debian(system):
        return "/etc/ssl/openssl.cnf"
    return "/etc/pki/tls/openssl.cnf"
