"""Database servers: TLS, and encryption of what they store."""

from __future__ import annotations

from collections.abc import Callable

from unmask.model.inside_programs import Database
from unmask.probes._probe import Probe
from unmask.probes._section import Section
from unmask.probes._words import setting, switch, versions

# No server is started for its version: MongoDB 5 dies of SIGILL on a CPU without AVX.
COMMAND = r"""
b='^[[:space:]]*'
pick "${b}ssl[[:space:]]*=" etc/postgresql/*/*/postgresql.conf var/lib/pgsql/data/postgresql.conf \
    var/lib/pgsql/*/data/postgresql.conf var/lib/postgres/data/postgresql.conf \
    var/db/postgres/*/postgresql.conf
m='ssl([-_](ca|cert|cipher))?|require[-_]secure[-_]transport|default[-_]table[-_]encryption'
m="$m|innodb[-_]encrypt[-_]tables|skip[-_]ssl"
pick "$b($m)[[:space:]]*(=|\$)" \
    etc/my.cnf etc/my.cnf.d/*.cnf etc/mysql/my.cnf etc/mysql/*.d/*.cnf usr/local/etc/mysql/my.cnf |
    sed -E 's/^([[:space:]]*ssl[-_](ca|cert)).*/\1=set/'
pick "$b(mode:|enableEncryption:|sslMode|tlsMode)" etc/mongod.conf etc/mongodb.conf
pick "${b}tls-port[[:space:]]" etc/redis/redis.conf etc/redis.conf etc/valkey/valkey.conf
part packages
packages postgresql postgresql-server mariadb-server mysql-server mysql-community-server \
    mongodb-org-server mongodb-server redis-server redis valkey
"""

_PACKAGES = {
    "postgresql": "postgresql",
    "postgresql-server": "postgresql",
    "mariadb-server": "mariadb",
    "mysql-server": "mysql",
    "mysql-community-server": "mysql",
    "mongodb-org-server": "mongodb",
    "mongodb-server": "mongodb",
    "redis-server": "redis",
    "redis": "redis",
    "valkey": "redis",
}
_PLACES = (
    ("postgresql.conf", "postgresql"),
    ("mongod", "mongodb"),
    ("redis.conf", "redis"),
    ("valkey.conf", "redis"),
    (".cnf", "mysql"),
)
Verdict = tuple[bool | None, bool | None]


def parse(section: Section) -> tuple[Database, ...]:
    """Return the servers, sorted by name; MySQL's files are MariaDB's where that is there."""
    found = {
        _PACKAGES[name]: version for name, version in versions(section).items() if name in _PACKAGES
    }
    settings: dict[str, list[tuple[str, str]]] = {}
    for part in section.below("/"):
        name = next((name for end, name in _PLACES if end in part.rpartition("/")[2]), "")
        pairs = [setting(line) for line in section.lines(part)]
        settings.setdefault(name, []).extend(pair for pair in pairs if pair[0])
    if "mariadb" in found and "mysql" in settings:
        settings["mariadb"] = settings.pop("mysql")
    names = {name for name in found.keys() | settings.keys() if name in found or settings.get(name)}
    return tuple(_database(name, found, settings) for name in sorted(names - {""}))


def _database(
    name: str, found: dict[str, str], settings: dict[str, list[tuple[str, str]]]
) -> Database:
    tls, stored = _VERDICTS[name](dict(settings.get(name, [])))
    return Database(name, found.get(name, ""), tls, stored)


def _postgresql(values: dict[str, str]) -> Verdict:
    return switch(values.get("ssl", "").split("#")[0]), None


def _mysql(values: dict[str, str]) -> Verdict:
    named = {key.replace("-", "_"): value for key, value in values.items()}
    tls = switch(named.get("require_secure_transport", "")) or switch(named.get("ssl", ""))
    if named.keys() & {"ssl_ca", "ssl_cert"}:
        tls = True
    if "skip_ssl" in named:
        tls = False
    stored = [named.get("default_table_encryption", ""), named.get("innodb_encrypt_tables", "")]
    known = [True if word.upper() == "FORCE" else switch(word) for word in stored if word]
    return tls, any(known) if known else None


def _mongodb(values: dict[str, str]) -> Verdict:
    mode = values.get("mode") or values.get("tlsmode") or values.get("sslmode") or ""
    tls = None if not mode else mode.lower() not in ("disabled", "allowtls", "allowssl")
    return tls, switch(values.get("enableencryption", ""))


def _redis(values: dict[str, str]) -> Verdict:
    return (values["tls-port"] != "0") if values.get("tls-port") else None, None


_VERDICTS: dict[str, Callable[[dict[str, str]], Verdict]] = {
    "postgresql": _postgresql,
    "mysql": _mysql,
    "mariadb": _mysql,
    "mongodb": _mongodb,
    "redis": _redis,
}

PROBE = Probe("databases", COMMAND, parse, needs_root="configurations that only root may read")
