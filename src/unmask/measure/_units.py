"""Services that use OpenSSL, and what their units are called."""

from __future__ import annotations

from unmask.model.inside import System

_OTHER_NAMES = {
    "apache2": "apache", "httpd": "apache", "stunnel4": "stunnel", "master": "postfix",
    "mysqld": "mysql", "mariadbd": "mariadb", "postgres": "postgresql", "sshd": "ssh",
    "openvpn-server": "openvpn",
}  # fmt: skip
_DEBIAN = {
    "nginx": "nginx", "apache": "apache2", "haproxy": "haproxy", "postfix": "postfix@-",
    "dovecot": "dovecot", "stunnel": "stunnel4", "openvpn": "openvpn-server@",
    "mysql": "mysql", "mariadb": "mariadb", "postgresql": "postgresql@", "redis": "redis-server",
    "lighttpd": "lighttpd", "mosquitto": "mosquitto",
}  # fmt: skip
_RED_HAT = {
    "apache": "httpd", "postfix": "postfix", "stunnel": "stunnel@", "mysql": "mysqld",
    "postgresql": "postgresql", "redis": "redis",
}  # fmt: skip
_FREEBSD = {"apache": "apache24", "mysql": "mysql", "postgresql": "postgresql", "redis": "redis"}
_UNREACHED = {
    "caddy": "it is written in Go",
    "traefik": "it is written in Go",
    "minio": "it is written in Go",
    "vault": "it is written in Go",
    "tomcat": "it is Java's",
    "java": "it has its own code",
    "exim4": "Debian builds it with GnuTLS",
    "ssh": "left out, since a guest that has moved would then let nobody in",
}
_OF_DEBIAN = frozenset({"debian", "ubuntu", "raspbian", "devuan", "linuxmint"})


def canonical(name: str) -> str:
    """Return a service's one name: "apache" for "apache2" and "httpd"."""
    name = name.strip().lower().removesuffix(".service")
    return _OTHER_NAMES.get(name, name)


def debian(system: System) -> bool:
    """Return whether a system is Debian's or made from it; taken to be where nothing is told."""
    families = {system.ident, *system.like} - {""}
    return not families or bool(families & _OF_DEBIAN)


def unit(name: str, system: System) -> str:
    """Return the unit (rc's name on FreeBSD) of a service that uses OpenSSL; "" for others."""
    if name not in _DEBIAN:
        return ""
    if system.kernel_name == "FreeBSD":
        return _FREEBSD.get(name, name)
    if debian(system):
        return _DEBIAN[name]
    return _RED_HAT.get(name, _DEBIAN[name])


def unreached(name: str) -> str:
    """Return why a variable for OpenSSL is nothing for a service, as half a sentence; "" else."""
    return _UNREACHED.get(name, "")
