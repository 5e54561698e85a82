"""The configuration file: what it may say, and whose it may be."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from unmask.config.reference import Reference
from unmask.config.settings import LIMIT, Settings, Target, find, load
from unmask.errors import UsageError

GOOD = """
[targets.home]
address = "qemu:///system"
[targets.site]
address = "pve-copy"
accept = "accepted.toml"
"""
ME = os.geteuid()


def written(path: Path, text: str = GOOD) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o644)
    return path


def test_targets_are_read_in_their_order(tmp_path: Path) -> None:
    path = written(tmp_path / "unmask.toml")
    settings = load(path)
    assert settings == Settings(
        str(path),
        (
            Target("home", "qemu:///system"),
            Target("site", "pve-copy", str(tmp_path / "accepted.toml")),
        ),
    )
    assert settings.named("home") == Target("home", "qemu:///system")
    assert settings.named("elsewhere") is None


API = """
[targets.lab]
address = "pve://pve1.example"
token_id = "audit@pve!unmask"
token_file = "secrets/token"
ca_file = "/etc/ca.pem"
fingerprint = "AB"
nodes = ["pve2", "pve3:8443"]
insecure = true
"""


def test_how_to_get_in_is_named_by_reference(tmp_path: Path) -> None:
    (target,) = load(written(tmp_path / "unmask.toml", API)).targets
    assert target.reference == Reference(
        token_id="audit@pve!unmask",
        token_file=str(tmp_path / "secrets/token"),
        ca_file="/etc/ca.pem",
        fingerprint=("AB",),
        nodes=("pve2", "pve3:8443"),
        insecure=True,
    )


@pytest.mark.parametrize("key", ["token", "password"])
def test_a_secret_in_the_file_is_refused_and_not_repeated(tmp_path: Path, key: str) -> None:
    path = written(tmp_path / "unmask.toml", f'[targets.a]\naddress = "x"\n{key} = "hush"\n')
    with pytest.raises(UsageError, match=f"no secret may stand .* {key}_file, {key}_env") as caught:
        load(path)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('nodes = "pve2"', ""),
        ("nodes = [1]", "nodes must be a string or a list of strings"),
        ('fingerprint = ["a", ""]', "fingerprint must be a string or a list of strings"),
        ('insecure = "yes"', "insecure must be true or false"),
        ("token_file = 5", "token_file must be a string"),
    ],
)
def test_kinds_of_values(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path / "unmask.toml", f'[targets.a]\naddress = "x"\n{text}\n')
    if not message:
        assert load(path).targets[0].reference.nodes == ("pve2",)
        return
    with pytest.raises(UsageError, match=message):
        load(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("targets", "not a TOML file"),
        ("a = " + "[" * 100_000, "not a TOML file: it is nested too deeply"),
        ("a = " + "9" * 5000, "not a TOML file"),
        ("[targets.a]\n", 'targets.a needs address = "..."'),
        ("[targets.a]\naddress = 1\n", "targets.a.address must be a string"),
        ('[targets.a]\naddress = ""\n', "targets.a.address must be a string that is not empty"),
        ('[targets.a]\naddress = "x"\nadress = "y"\n', "targets.a: unknown key 'adress'"),
        ("targets = 1\n", "targets must be a table"),
        ("[targets]\na = 1\n", "targets.a must be a table"),
        ("[target.a]\n", "unknown key 'target'; the keys here are guests, targets"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_key(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path / "unmask.toml", text)
    with pytest.raises(UsageError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)


def test_files_that_are_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        load(tmp_path / "absent.toml")
    with pytest.raises(UsageError, match="cannot be read: Is a directory"):
        load(tmp_path)
    (tmp_path / "binary").write_bytes(b"\xff\x00")
    with pytest.raises(UsageError, match="not a TOML file"):
        load(tmp_path / "binary")
    (tmp_path / "huge").write_bytes(b"#" * (LIMIT + 1))
    with pytest.raises(UsageError, match="larger than"):
        load(tmp_path / "huge")


def test_the_directory_comes_before_the_home(tmp_path: Path) -> None:
    here, home, xdg = tmp_path / "here", tmp_path / "home", tmp_path / "xdg"
    here.mkdir()
    own = written(home / ".config/unmask/unmask.toml")
    other = written(xdg / "unmask/unmask.toml")
    environment = {"HOME": str(home)}
    assert find(here, {}, ME) == Settings()
    assert find(here, environment, ME).path == str(own)
    assert find(here, {**environment, "XDG_CONFIG_HOME": str(xdg)}, ME).path == str(other)
    assert find(here, {**environment, "XDG_CONFIG_HOME": "relative"}, ME).path == str(own)
    local = written(here / "unmask.toml")
    assert find(here, environment, ME).path == str(local)


def test_a_file_that_others_could_have_written_is_not_used(tmp_path: Path) -> None:
    path = written(tmp_path / "unmask.toml")
    path.chmod(0o666)
    with pytest.raises(UsageError, match=r"everybody can write to it; .* --config"):
        find(tmp_path, {}, ME)
    assert load(path).targets  # named by the caller, it is read


def test_a_file_of_another_user_is_not_used(tmp_path: Path) -> None:
    path = written(tmp_path / "unmask.toml")
    owner = path.stat().st_uid
    if owner == 0:
        if ME != 0:
            pytest.skip("cannot make a file of another user")
        os.chown(path, 12345, -1)
        owner = 12345
    with pytest.raises(UsageError, match="it belongs to another user"):
        find(tmp_path, {}, owner + 1)
    assert find(tmp_path, {}, owner).path == str(path)


def test_a_place_where_this_user_may_not_look_has_no_file(tmp_path: Path) -> None:
    closed = tmp_path / ("x" * 300)  # of which no system says that it is not there
    assert find(closed, {"HOME": str(closed)}, os.geteuid()) == Settings()
