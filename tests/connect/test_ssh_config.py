"""~/.ssh/config: what is read of it, and what the options add."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest

from unmask.connect import ssh, ssh_config
from unmask.connect.ssh_address import Address
from unmask.connect.ssh_config import HostSettings
from unmask.errors import TargetError, UsageError
from unmask.model.ssh import SshOptions


def settings(tmp_path: Path, text: str, address: Address, **options: object) -> HostSettings:
    path = tmp_path / "config"
    path.write_text(text)
    values: dict[str, object] = {"config": str(path), **options}
    return ssh._settings(ssh._load(), address, SshOptions(**values))  # type: ignore[arg-type]


def test_nothing_configured(tmp_path: Path) -> None:
    found = settings(tmp_path, "", Address("pve1"))
    assert (found.host, found.port, found.user) == ("pve1", 22, "")
    assert (found.jump, found.command, found.alias, found.accept_new) == ("", "", "", False)
    assert found.keys[-1] == str(Path("~/.ssh/id_ed25519").expanduser())
    assert found.known_hosts[0] == str(Path("~/.ssh/known_hosts").expanduser())
    assert found.global_known_hosts[0] == "/etc/ssh/ssh_known_hosts"
    assert found.agent
    assert not found.named_keys


def test_everything_configured(tmp_path: Path) -> None:
    text = """
Host lab
    HostName 192.0.2.7
    User audit
    Port 2222
    IdentityFile ~/keys/lab
    IdentityFile /keys/second
    IdentitiesOnly yes
    IdentityAgent none
    ProxyJump gate@bastion:2200,inner
    UserKnownHostsFile ~/.ssh/lab_hosts /srv/hosts
    GlobalKnownHostsFile none
    HostKeyAlias lab-key
    StrictHostKeyChecking accept-new
"""
    found = settings(tmp_path, text, Address("lab"))
    assert (found.host, found.port, found.user) == ("192.0.2.7", 2222, "audit")
    assert found.keys == (str(Path("~/keys/lab").expanduser()), "/keys/second")
    assert found.named_keys
    assert found.only_keys
    assert not found.agent
    assert found.jump == "gate@bastion:2200,inner"
    assert found.known_hosts == (str(Path("~/.ssh/lab_hosts").expanduser()), "/srv/hosts")
    assert found.global_known_hosts == ()
    assert found.alias == "lab-key"
    assert found.accept_new


def test_address_and_options_beat_the_configuration(tmp_path: Path) -> None:
    text = "Host *\nUser fred\nPort 1\nIdentityFile /a\nProxyCommand nc %h %p\n"
    found = settings(tmp_path, text, Address("h", "root", 22), key="/k", jump="gate")
    assert (found.user, found.port) == ("root", 22)
    assert found.keys == ("/k", "/a")
    assert (found.jump, found.command) == ("gate", "")
    assert settings(tmp_path, text, Address("h"), jump="none").jump == ""


@pytest.mark.parametrize(
    ("text", "jump", "command"),
    [
        ("ProxyJump gate\nProxyCommand nc %h 22\n", "gate", ""),
        ("ProxyCommand nc %h 22\nProxyJump gate\n", "", "nc h 22"),
        ("ProxyJump none\nProxyCommand nc %h 22\n", "", ""),
        ("ProxyCommand none\n", "", ""),
    ],
)
def test_first_proxy_counts(tmp_path: Path, text: str, jump: str, command: str) -> None:
    found = settings(tmp_path, text, Address("h"))
    assert (found.jump, found.command) == (jump, command)


def test_strict_no_means_new_ones_only(tmp_path: Path) -> None:
    assert settings(tmp_path, "StrictHostKeyChecking no\n", Address("h")).accept_new
    assert not settings(tmp_path, "StrictHostKeyChecking yes\n", Address("h")).accept_new
    assert settings(tmp_path, "", Address("h"), accept_new_host_key=True).accept_new


def test_includes_are_read_where_they_stand(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more/10-first").write_text("Host lab\n  Port 2201\n")
    (tmp_path / "more/20-second").write_text("Host lab\n  Port 2202\n  User second\n")
    text = f"Host lab other\n  HostName 192.0.2.9\nInclude {tmp_path}/more/*\n  User third\n"
    found = settings(tmp_path, text, Address("lab"))
    assert (found.host, found.port, found.user) == ("192.0.2.9", 2201, "second")
    assert settings(tmp_path, text, Address("other")).user == "third"
    assert settings(tmp_path, text, Address("strange")).user == ""


def test_files_that_include_each_other_come_to_an_end(tmp_path: Path) -> None:
    text = f"Include {tmp_path}/config\nUser fred\n"
    assert settings(tmp_path, text, Address("h")).user == "fred"


def test_user_file_comes_before_the_machines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh/config").write_text("Host lab\nUser own\n")
    system = tmp_path / "system"
    system.write_text("User everybody\nPort 2222\n")
    monkeypatch.setattr(ssh_config, "SYSTEM", system)
    text = ssh_config.text(SshOptions())
    found = ssh._load().SSHConfig.from_file(StringIO(text)).lookup("lab")
    assert (found["user"], found["port"]) == ("own", "2222")
    assert ssh_config.text(SshOptions(config="none")) == ""


def test_configuration_that_makes_no_sense_is_named(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match=r"config: it cannot be made sense of"):
        settings(tmp_path, "Match nonsense\n", Address("h"))


def test_host_name_that_a_shell_would_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not the name or address"):
        settings(tmp_path, "HostName $(reboot)\nProxyCommand nc %h\n", Address("h"))
