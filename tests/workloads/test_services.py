"""Samba, databases and backups."""

from __future__ import annotations

import pytest

from support.visited import find, find_and_owe, guest, inside, recorded
from unmask.model.finding import Confidence
from unmask.model.inside import Partial
from unmask.model.inside_programs import BackupTool, Database, Library, OpenSsl, TlsProcess
from unmask.model.inside_tunnels import Listener, Samba
from unmask.model.reading import Missing
from unmask.model.tls_endpoint import TlsEndpoint
from unmask.model.workload import Activity
from unmask.workloads import backup, database, samba

OPENSSL = OpenSsl("OpenSSL 3.0.20")
SOCKETS = recorded("listeners", "ss as root, bookworm")
BROKEN = Missing("the guest's answer ended before it")
POSTGRES = TlsEndpoint("192.0.2.7", 5432, "TLSv1.3", "TLS_AES_256_GCM_SHA384", starttls="postgres")


@pytest.mark.parametrize(
    ("module", "reading", "nothing"),
    [(samba, "samba", Samba()), (database, "databases", ()), (backup, "backups", ())],
)
def test_nothing_nobody_and_not_read(module: object, reading: str, nothing: object) -> None:
    assert find(module, guest()) == []
    assert find(module, guest(inside(**{reading: nothing}))) == []
    assert find_and_owe(module, guest(inside(**{reading: BROKEN})))[1].startswith("the guest's")


def test_samba_of_a_recorded_guest() -> None:
    read = inside(samba=recorded("samba", "testparm of Samba 4.17"), listeners=SOCKETS)
    (only,) = find(samba, guest(read))
    assert (only.consumer, only.cipher, only.ports) == ("gnutls", "AES-128-GCM", (445,))
    assert only.detail == "Samba 4.17.12-Debian, required"
    assert only.activity is Activity.ACTIVE


@pytest.mark.parametrize(
    ("encryption", "shares", "there"),
    [
        ("required", (), True),
        ("desired", (), True),
        ("default", (), False),
        ("off", (), False),
        ("", (), False),
        ("default", (("secret", "required"), ("plain", "off")), True),
        ("default", (("plain", "off"),), False),
    ],
)
def test_only_a_server_that_wants_encryption(
    *, encryption: str, shares: tuple[tuple[str, str], ...], there: bool
) -> None:
    found = find(samba, guest(inside(samba=Samba("4.19.5", encryption, shares), listeners=())))
    assert bool(found) == there
    assert all(item.activity is Activity.CONFIGURED for item in found)


def test_shares_are_named() -> None:
    shares = (("a", "required"), ("b", "desired"))
    (only,) = find(samba, guest(inside(samba=Samba("4.19.5", "default", shares))))
    assert only.detail == "Samba 4.19.5, a and b"
    assert only.evidence[0] == "The shares a and b want encryption."


def test_databases_of_all_kinds() -> None:
    read = inside(databases=recorded("databases", "all of them"), openssl=OPENSSL, listeners=())
    found = {item.name: item for item in find(database, guest(read))}
    assert found.keys() == {
        "mariadb", "mariadb at rest", "mongodb", "mongodb at rest", "postgresql", "redis",
    }  # fmt: skip
    assert {item.consumer for item in found.values()} == {"openssl"}
    assert {item.version for item in found.values()} == {"3.0.20"}
    assert found["mariadb at rest"].cipher == "AES-256-CBC"
    assert found["postgresql"].activity is Activity.CONFIGURED


def test_mysql_offers_tls_unless_it_is_told_not_to() -> None:
    silent, told_not, other = (
        Database("mysql", "8.4.0"),
        Database("mysql", "8.4.0", tls=False),
        Database("postgresql", "16"),
    )
    (only,) = find(database, guest(inside(databases=(silent,))))
    assert only.confidence is Confidence.TENTATIVE
    assert find(database, guest(inside(databases=(told_not,)))) == []
    assert find(database, guest(inside(databases=(other,)))) == []


def test_that_mysql_listens_does_not_tell_that_tls_is_used() -> None:
    listens = (Listener("tcp", "127.0.0.1", 3306, ("mysqld",), (9,)),)
    (offered,) = find(
        database, guest(inside(databases=(Database("mysql", "8.4.0"),), listeners=listens))
    )
    assert (offered.activity, offered.ports) == (Activity.CONFIGURED, (3306,))
    wanted = Database("mysql", "8.4.0", tls=True)
    (told,) = find(database, guest(inside(databases=(wanted,), listeners=listens)))
    assert told.activity is Activity.ACTIVE


def test_a_databases_library_is_that_of_its_process() -> None:
    read = inside(
        databases=(Database("mariadb", "10.11", tls=True),),
        listeners=(Listener("tcp", "127.0.0.1", 3306, ("mariadbd",), (9,)),),
        tls_processes=(
            TlsProcess("mariadbd", "/usr/sbin/mariadbd", (Library.WOLFSSL,), ("libwolfssl.so",)),
        ),
    )
    (only,) = find(database, guest(read))
    assert (only.consumer, only.ports, only.activity) == ("wolfssl", (3306,), Activity.ACTIVE)
    assert only.confidence is Confidence.FIRM


def test_a_database_is_tls_where_a_connection_showed_it() -> None:
    read = inside(databases=(Database("postgresql", "16"),), openssl=OPENSSL)
    (only,) = find(database, guest(read, (POSTGRES,)))
    assert only.cipher == "TLS_AES_256_GCM_SHA384"
    assert any("after STARTTLS (postgres)" in text for text in only.evidence)


@pytest.mark.parametrize("read", [None, inside(databases=(), openssl=OPENSSL)])
def test_a_database_seen_from_outside_only(read: object) -> None:
    (only,) = find(database, guest(read, (POSTGRES,)))  # type: ignore[arg-type]
    assert (only.name, only.ports) == ("postgresql", (5432,))
    assert only.confidence is Confidence.TENTATIVE
    assert only.consumer == ("openssl" if read else "")


def test_backups_of_a_recorded_guest() -> None:
    read = inside(backups=recorded("backups", "restic and borg from cron"), openssl=OPENSSL)
    found = {item.name: item for item in find(backup, guest(read))}
    assert found.keys() == {"borg", "restic"}
    assert (found["borg"].consumer, found["borg"].version) == ("borg", "3.0.20")
    assert (found["restic"].consumer, found["restic"].version) == ("restic", "")
    assert found["restic"].detail == "restic 0.14.0-1+b5"
    assert {item.confidence for item in found.values()} == {Confidence.FIRM}
    assert "It is started by /etc/cron.d/backup." in found["borg"].evidence


@pytest.mark.parametrize(
    ("tool", "version", "consumer", "cipher", "judged_by"),
    [
        ("borg", "2.0.0b14", "openssl", "AES-256-OCB", "3.0.20"),
        ("kopia", "0.17.0", "kopia", "AES-256-GCM", ""),
        ("rclone", "1.66.0", "rclone", "XSalsa20", "1.66.0"),
        ("duplicity", "2.1", "libgcrypt", "AES-256-CFB", ""),
        ("duplicacy", "3.2", "go", "AES-256-GCM", ""),
        ("rustic", "0.7", "", "AES-256-CTR", ""),
        ("proxmox-backup-client", "3.2", "openssl", "AES-256-GCM", "3.0.20"),
    ],
)
def test_each_tool(tool: str, version: str, consumer: str, cipher: str, judged_by: str) -> None:
    read = inside(backups=(BackupTool(tool, version, f"/usr/bin/{tool}"),), openssl=OPENSSL)
    (only,) = find(backup, guest(read))
    assert (only.consumer, only.cipher, only.version) == (consumer, cipher, judged_by)
    assert only.confidence is Confidence.TENTATIVE  # nothing starts it
    assert only.activity is Activity.CONFIGURED


def test_what_was_not_told_to_encrypt_may_not() -> None:
    tool = BackupTool("rclone", schedules=("/etc/cron.d/sync",))
    (only,) = find(backup, guest(inside(backups=(tool,))))
    assert only.confidence is Confidence.TENTATIVE
    assert "Whether it was told to encrypt was not seen." in only.evidence


def test_a_file_system_is_no_backup() -> None:
    assert find(backup, guest(inside(backups=(BackupTool("gocryptfs", "2.3"),)))) == []


def test_what_root_would_add_is_said() -> None:
    partial = (Partial("backups", "without root it lacks other users' schedules", "root"),)
    tool = BackupTool("restic", "0.18", "/usr/bin/restic")
    (only,) = find(backup, guest(inside(backups=(tool,), partial=partial)))
    assert only.evidence[-1] == (
        "Not all was seen: without root it lacks other users' schedules (needs root)."
    )
