"""Configuration files are read and written as Proxmox does it, to the byte."""

import hashlib

import pytest

from unmask.lab import guest_file
from unmask.lab.guest_file import digest, read, typed
from unmask.lab.site import packaged

CONFIGS = {
    path: text
    for path, text in packaged().files.items()
    if "/qemu-server/" in path and not path.endswith(("/121.conf", "/133.conf"))
}
TEXT = """\
#first line%3A with 100%25
#%C3%A4
cores: 2
cpu: host

[PENDING]
cpu: kvm64
delete: !numa,tablet

[before]
#kept
cpu: qemu64
snaptime: 1
"""


@pytest.mark.parametrize("path", CONFIGS)
def test_the_labs_own_files_are_as_proxmox_writes_them(path: str) -> None:
    assert read(CONFIGS[path], ("nas", "compat"), "9.2").text() == CONFIGS[path]


def test_a_file_comes_back_as_it_was() -> None:
    file = read(TEXT, (), "9.2")
    assert file.main["description"] == "first line: with 100%\nä"
    assert file.deletes() == {"numa": True, "tablet": False}
    assert file.snapshots["before"]["description"] == "kept"
    assert file.text() == TEXT


def test_what_the_next_start_uses() -> None:
    file = read(TEXT.replace("cores: 2", "cores: 2\nnuma: 1"), (), "9.2")
    assert file.upcoming()["cpu"] == "kvm64"
    assert "numa" not in file.upcoming()


def test_a_cpu_that_does_not_validate_is_gone_with_the_next_write() -> None:
    file = read("cores: 2\ncpu: custom-gone\n", (), "9.2")
    assert file.dropped == ("unable to parse value of 'cpu' - Custom cputype 'gone' not found",)
    assert file.text() == "cores: 2\n"


def test_the_digest_is_of_the_whole_text() -> None:
    assert digest(TEXT) == hashlib.sha1(TEXT.encode()).hexdigest()  # noqa: S324


def test_types() -> None:
    assert typed("cores", "2") == 2
    assert typed("kvm", "0") == 0
    assert typed("agent", "1") == "1"
    assert typed("memory", "64") == "64"
    assert typed("memory", "64", old_memory=True) == 64
    assert typed("memory", "current=64", old_memory=True) == "current=64"


def test_a_description_of_control_characters_is_encoded() -> None:
    file = guest_file.GuestFile(main={"description": "a\tb:c\x1bd", "name": "x"})
    assert file.text() == "#a%09b%3Ac%1Bd\nname: x\n"
