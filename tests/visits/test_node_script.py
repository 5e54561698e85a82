"""The programs that read disks on a node, in the shells that may run them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from support import peers
from unmask.model.disk import HostEncryption
from unmask.visits import _node_script
from unmask.visits._node_script import Run

MARK = "m" * 32
SHELLS = (("dash",), ("bash", "--posix"), ("bash",), ("busybox", "sh"))
NAMES = ("plain.raw", "with blank.raw", "q'uote\".raw", "$(touch x)`touch y`;touch z.raw", "-f")


def run(shell: tuple[str, ...], script: str, directory: Path) -> bytes:
    program = peers.program(shell[0])
    done = subprocess.run(
        [program, *shell[1:], "-s"],
        input=script.encode(),
        capture_output=True,
        cwd=directory,
        env=peers.environment(),
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    return done.stdout


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_files_and_pages(shell: tuple[str, ...], tmp_path: Path) -> None:
    paths = [tmp_path / name for name in NAMES]
    for number, path in enumerate(paths):
        path.write_bytes(bytes([number + 65]) * 4096 + f"\n{MARK[:31]} x\n\0\r\xff".encode())
    named = list(enumerate(str(path) for path in paths))
    output = run(shell, _node_script.locate(MARK, named, ()), tmp_path)
    said = _node_script.told(output, MARK)
    for number, name in named:
        assert said[number]["path"] == [name]
        assert said[number]["size"] == [str(Path(name).stat().st_size)]
    runs = [Run(number, 0, 2, path, 8192) for number, path in named]
    runs += [Run(number, 1, 1, path, 4096) for number, path in named]
    output = run(shell, _node_script.pages(MARK, runs), tmp_path)
    found = list(_node_script.read_pages(output, MARK, runs))
    assert [each for each, _ in found] == runs
    for each, data in found:
        assert data == Path(each.path).read_bytes()[each.first * 4096 :]
    assert sorted(tmp_path.iterdir()) == sorted(paths)


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_what_is_no_file(shell: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    named = [(0, str(tmp_path / "folder")), (1, str(tmp_path / "gone")), (2, "relative")]
    said = _node_script.told(run(shell, _node_script.locate(MARK, (), named), tmp_path), MARK)
    assert "neither a file nor a block device" in said[0]["problem"][0]
    assert "absent" in said[1]
    assert "absent" in said[2]


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_a_program_that_arrives_in_part_does_nothing(
    shell: tuple[str, ...], tmp_path: Path
) -> None:
    script = _node_script.locate(MARK, ((0, str(tmp_path)),), ())
    whole = run(shell, script, tmp_path)
    assert whole
    for end in range(0, len(script) - len("main </dev/null\n"), 97):
        program = peers.program(shell[0])
        done = subprocess.run(
            [program, *shell[1:], "-s"],
            input=script[:end].encode(),
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert done.stdout == b""


def test_layers_are_told_once_and_nonsense_not_at_all() -> None:
    said = {
        "zfs": ["aes-256-gcm tank/a b", "off tank", "- tank", " tank", "x"],
        "crypt": ["luks aes-xts-plain64", "luks aes-xts-plain64", "luks ", "two words aes"],
    }
    assert _node_script.encryption(said, "oak") == (
        HostEncryption("zfs", "aes-256-gcm", "the dataset tank/a b on oak"),
        HostEncryption("luks", "aes-xts-plain64", "dm-crypt luks on oak"),
        HostEncryption("luks", "", "dm-crypt luks on oak"),
    )


def test_text_of_qemu_io_is_bytes_again() -> None:
    text = (
        b"00000000:  45 46 49 20 50 41 52 54 00 00 01 00 5c 00 00 00  EFI.PART........\n"
        b"00000010:  01 02 0a                                         ...\n"
        b"read 19/19 bytes at offset 0\n19 bytes, 1 ops\n"
    )
    run_ = Run(0, 0, 1, "rbd:p/a", 19)
    output = b"\n" + MARK.encode() + b" data 0 0 1\n" + text
    ((found, data),) = _node_script.read_pages(output, MARK, [run_])
    assert found == run_
    assert data == b"EFI PART\0\0\x01\0\x5c\0\0\0\x01\x02\x0a"
