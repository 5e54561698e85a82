"""Which targets are read, and by which source."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from unmask.config import targets
from unmask.config.settings import Settings, Target
from unmask.config.targets import choose, local, source_for
from unmask.errors import InputError, TargetError, UnmaskError, UsageError
from unmask.model.inventory import Inventory
from unmask.model.source import CollectOptions, Source

SETTINGS = Settings("unmask.toml", (Target("home", "qemu:///system"), Target("site", "copy")))


def collect(target: str, options: CollectOptions) -> Inventory:
    raise AssertionError(f"{target} is not to be read with {options}")


def source(name: str, *targets: str, order: int = 50) -> Source:
    return Source(name, f"{name} things", lambda target: target in targets, collect, order)


def test_named_targets_are_configured_ones_or_addresses(tmp_path: Path) -> None:
    assert choose(["home", "/etc/pve"], SETTINGS, tmp_path) == (
        Target("home", "qemu:///system"),
        Target("", "/etc/pve"),
    )


def test_an_address_that_one_target_has_finds_its_login(tmp_path: Path) -> None:
    assert choose(["qemu:///system"], SETTINGS, tmp_path) == SETTINGS.targets[:1]
    twice = Settings("unmask.toml", (*SETTINGS.targets, Target("other", "qemu:///system")))
    assert choose(["qemu:///system"], twice, tmp_path) == (
        Target("", "qemu:///system", beside=("home", "other")),
    )
    assert choose(["other"], twice, tmp_path) == (Target("other", "qemu:///system"),)


def test_without_a_name_the_configured_ones_are_read(tmp_path: Path) -> None:
    assert choose([], SETTINGS, tmp_path) == SETTINGS.targets


def test_without_configuration_this_machine_is_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no target was named"):
        choose([], Settings(), tmp_path)
    socket = tmp_path / "var/run/libvirt/libvirt-sock-ro"
    socket.parent.mkdir(parents=True)
    socket.touch()
    assert choose([], Settings(), tmp_path) == (Target("", "qemu:///system"),)
    (tmp_path / "etc/pve/nodes").mkdir(parents=True)
    assert local(tmp_path) == str(tmp_path / "etc/pve")


def test_an_empty_etc_pve_is_no_node(tmp_path: Path) -> None:
    (tmp_path / "etc/pve").mkdir(parents=True)
    assert local(tmp_path) == ""


def test_sources_are_asked_in_their_order() -> None:
    sources = [source("b", "x"), source("a", "x", "y"), source("first", "x", order=1)]
    assert source_for("x", sources).name == "first"
    assert source_for("y", sources).name == "a"
    assert source_for("x", sources[:2]).name == "a"


def refusal(target: str) -> UnmaskError:
    with pytest.raises(UnmaskError) as caught:
        source_for(target, [source("virtual"), source("copied")])
    return caught.value


def test_an_unknown_scheme_is_a_usage_error_that_names_what_there_is() -> None:
    error = refusal("pve://node:8006")
    assert isinstance(error, UsageError)
    assert str(error) == (f"pve:// is not a kind of target; {targets.KINDS}")


def test_what_a_browser_shows_is_told_apart() -> None:
    assert "(write pve://HOST[:PORT] for the API of Proxmox VE)" in str(
        refusal("https://node:8006")
    )


def test_paths_without_anything_to_read_say_so(tmp_path: Path) -> None:
    assert isinstance(refusal(str(tmp_path)), InputError)
    assert "an empty directory" in str(refusal(str(tmp_path)))
    (tmp_path / "binary").write_bytes(b"\x00\x01")
    assert "a directory with nothing that unmask reads" in str(refusal(str(tmp_path)))
    assert "not a file that unmask reads" in str(refusal(str(tmp_path / "binary")))
    absent = refusal(str(tmp_path / "absent"))
    assert isinstance(absent, TargetError)
    assert "no such file" in str(absent)
    assert "cannot be read" in str(refusal("nul\0byte"))
    assert "cannot be read: File name too long" in str(refusal("x" * 5000))


def test_a_pipe_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    assert "not a regular file but a pipe" in str(refusal(str(tmp_path / "pipe.json")))
    assert "a pipe, socket or device" in str(refusal("/dev/zero"))


@pytest.mark.parametrize("argument", ["", "  "])
def test_an_empty_target_is_not_the_current_directory(argument: str) -> None:
    with pytest.raises(UsageError, match="name of a target is empty"):
        choose(["qemu:///system", argument], Settings(), Path("/"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_path_that_may_not_be_read_says_so(tmp_path: Path) -> None:
    (tmp_path / "secret").touch(0o000)
    assert "Permission denied" in str(refusal(str(tmp_path / "secret")))


def test_a_source_that_may_not_look_is_an_error_of_ours(tmp_path: Path) -> None:
    def fits(target: str) -> bool:
        raise PermissionError(13, "Permission denied", target)

    with pytest.raises(TargetError, match="cannot be read: Permission denied"):
        source_for(str(tmp_path), [Source("x", "x", fits, collect)])


def test_a_hypervisor_that_this_user_may_not_look_at_is_one(tmp_path: Path) -> None:
    closed = tmp_path / ("x" * 300)  # of which no system says that it is not there
    assert local(closed) == str(closed / "etc/pve")
