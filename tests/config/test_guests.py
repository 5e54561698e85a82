"""What the configuration says of guests, and what the command line says over it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from support.documents import lab
from unmask.config import guests
from unmask.config.credentials import Surroundings
from unmask.config.guests import Entries, Overrides
from unmask.config.settings import Settings, load
from unmask.errors import UsageError
from unmask.model.entry import EVERY_WAY, GuestEntry
from unmask.model.inventory import Guest
from unmask.model.ssh import SshOptions
from unmask.model.visit import Declaration, Way

NOTHING = Overrides()
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJqRmm+7Q0BAFnkBcNqGS0lAJ0dS2LqXFVZC5gv5XbBl"


def settings(place: Path, text: str) -> Settings:
    path = place / "unmask.toml"
    path.write_text(text)
    return load(path)


def guest(ident: str = "101", name: str = "db1") -> Guest:
    return replace(lab().guests[0], subject=f"home/{ident}", ident=ident, name=name)


def entry(place: Path, text: str, of: Guest | None = None, over: Overrides = NOTHING) -> GuestEntry:
    return guests.entry(settings(place, text), of or guest(), over)


EVERYTHING = f"""
[guests."101"]
address = "10.0.0.7"
port = 2222
user = "auditor"
key = "keys/guest"
jump = "root@gate:2200,10.0.0.1"
host_key = ["{KEY} db1", "SHA256:{"a" * 43}"]
via = ["ssh", "net"]
sudo = true
workloads = ["luks", "tls(go)", "no zfs"]
"""


def test_everything_that_can_be_said(tmp_path: Path) -> None:
    assert entry(tmp_path, EVERYTHING) == GuestEntry(
        address="10.0.0.7",
        port=2222,
        user="auditor",
        ssh=SshOptions(
            key=str(tmp_path / "keys/guest"),
            jump="root@gate:2200,10.0.0.1",
            host_keys=(f"{KEY} db1", "SHA256:" + "a" * 43),
        ),
        ways=(Way.SSH, Way.NET),
        told=True,
        sudo=True,
    )
    assert guests.declared(settings(tmp_path, EVERYTHING), guest()) == (
        Declaration("luks", present=True, where="unmask.toml"),
        Declaration("tls", present=True, where="unmask.toml", detail="go"),
        Declaration("zfs", present=False, where="unmask.toml"),
    )


def test_nothing_is_said_of_other_guests(tmp_path: Path) -> None:
    other = guest("102", "web")
    assert entry(tmp_path, EVERYTHING, other) == GuestEntry(ways=EVERY_WAY)
    assert guests.declared(settings(tmp_path, EVERYTHING), other) == ()


@pytest.mark.parametrize(
    "name", ["home/101", "101", "db1", "home/*", "10?", "db[0-9]", "*"], ids=repr
)
def test_a_table_can_name_a_guest_in_any_way(tmp_path: Path, name: str) -> None:
    assert entry(tmp_path, f'[guests."{name}"]\nuser = "me"\n').user == "me"


@pytest.mark.parametrize("name", ["home", "1", "DB1", "db1 ", "home/10", "*2", "[!d]*1"])
def test_a_table_names_nobody_else(tmp_path: Path, name: str) -> None:
    assert entry(tmp_path, f'[guests."{name}"]\nuser = "me"\n', guest("x", "db1")).user == ""


LAYERS = """
[guests."*"]
user = "everybody"
port = 1
sudo = true
via = ["agent"]
workloads = ["luks"]
[guests."db*"]
user = "databases"
port = 2
[guests.db1]
user = "db1"
[guests."101"]
via = []
sudo = false
workloads = ["no luks"]
"""


def test_the_closest_table_counts_key_by_key(tmp_path: Path) -> None:
    found = entry(tmp_path, LAYERS)
    assert (found.user, found.port, found.sudo, found.ways) == ("db1", 2, False, ())
    told = guests.declared(settings(tmp_path, LAYERS), guest())
    assert [item.present for item in told] == [True, False], "the closest comes last"


def test_the_command_line_counts_most(tmp_path: Path) -> None:
    over = Overrides(user="root", key="/k", accept_new_host_key=True, ssh_config="none")
    found = entry(tmp_path, EVERYTHING, over=over)
    assert (found.user, found.ssh.key, found.port) == ("root", "/k", 2222)
    assert found.ssh.accept_new_host_key
    assert found.ssh.config == "none"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('user = "me"', True),
        ('key = "k"', True),
        ('via = ["agent", "ssh"]', True),
        ('address = "10.0.0.7"\nport = 22\njump = "gate"\nsudo = true', False),
        ('via = ["agent"]', False),
        ("", False),
    ],
)
def test_ssh_is_tried_where_a_login_is_told(tmp_path: Path, text: str, *, told: bool) -> None:
    assert entry(tmp_path, f'[guests."101"]\n{text}\n').told is told
    assert entry(tmp_path, "", over=Overrides(user="root")).told
    assert entry(tmp_path, "", over=Overrides(key="/k")).told


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('password = "hush"', "no secret may stand in this file.*password_file, password_env"),
        ("users = 1", "unknown key 'users'; the keys here are address, host_key"),
        ("port = 0", "port: 0 is not a port"),
        ('port = "22"', "port must be a whole number"),
        ("port = true", "port must be a whole number"),
        ('user = ""', "user must be a string that is not empty"),
        ('user = "a b"', "'a b' is not the name of a user"),
        ('address = "-x"', "'-x' is not the name or address of a host"),
        ('jump = "a,-b"', "'-b' is not the name or address of a host"),
        ('address = "root:hush@vps"', "a password in an address can be seen by others"),
        ('jump = "a,root:hush@vps"', "a password in an address can be seen by others"),
        ('host_key = "-----BEGIN OPENSSH PRIVATE KEY-----hush"', "this is no host key"),
        ('host_key = "AA:BB"', "'AA:BB' is no host key; it is written as in known_hosts"),
        ('via = ["agent", "telnet"]', "no way 'telnet'; choose from agent, ssh, disk, net"),
        ("sudo = 1", "sudo must be true or false"),
        ('workloads = ["lux"]', "'lux' is no workload; write one of zfs, luks"),
        ('workloads = ["no"]', "'no' is no workload"),
        ("workloads = [1]", "workloads must be a string or a list of strings"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_key(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        settings(tmp_path, f'[guests."101"]\n{text}\n')
    assert str(caught.value).startswith(f'{tmp_path / "unmask.toml"}: guests."101"')
    assert "hush" not in str(caught.value)


def test_guests_are_tables(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="guests must be a table"):
        settings(tmp_path, "guests = 1\n")
    with pytest.raises(UsageError, match=r'guests\."a" must be a table'):
        settings(tmp_path, "[guests]\na = 1\n")


# --- Passwords ------------------------------------------------------------------------------------


def entries(place: Path, text: str, said: list[str], **environment: str) -> Entries:
    around = Surroundings(
        environment, said.append, keyring=lambda service, user: f"{service}{user}"
    )
    return Entries(settings(place, text), NOTHING, around)


def revealed(found: GuestEntry) -> str:
    assert found.ssh.password is not None
    return found.ssh.password.reveal()


def test_a_password_comes_from_where_it_is_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "pw").write_text("from-file\n")
    (tmp_path / "pw").chmod(0o600)
    for text, password in (
        ('password_file = "pw"', "from-file"),
        ('password_env = "DB_PASSWORD"', "from-variable"),
        ('keyring = "guests"\nuser = "me"', "guestsme"),
        ('keyring = "guests"', "guestsroot"),
    ):
        found = entries(tmp_path, f'[guests."101"]\n{text}\n', [], DB_PASSWORD="from-variable")(
            guest()
        )
        assert revealed(found) == password
        assert found.told
        assert password not in repr(found)


def test_a_password_that_is_gone_is_a_reason_and_no_failure(tmp_path: Path) -> None:
    made = entries(tmp_path, '[guests."101"]\npassword_env = "GONE"\n', [])
    found = made(guest())
    assert found.fault == "the environment variable GONE is not set or empty"
    assert found.told
    assert made(guest("102", "x")).fault == ""


def test_a_file_is_read_and_warned_of_once(tmp_path: Path) -> None:
    (tmp_path / "pw").write_text("open\n")
    (tmp_path / "pw").chmod(0o644)
    said: list[str] = []
    made = entries(tmp_path, '[guests."*"]\npassword_file = "pw"\n', said)
    assert {revealed(made(guest(str(ident)))) for ident in range(100, 120)} == {"open"}
    assert len(said) == 1
    assert "chmod 600" in said[0]


def test_the_password_of_the_hypervisor_is_not_given_to_guests(tmp_path: Path) -> None:
    made = entries(tmp_path, '[guests."101"]\nuser = "me"\n', [], UNMASK_SSH_PASSWORD="nodes")
    assert made(guest()).ssh.password is None
