"""The script that runs on a node, in the shells that there are."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from support import peers, pve_node
from support.pve_node import Node
from unmask.sources import _file_tree, _pve_node, _pve_node_script
from unmask.sources._pve_node_script import Output, script, split

MARK = "unmask0123456789abcdef"
TOOLS = ("cat", "grep", "id", "readlink", "uname")


@pytest.fixture
def alder(tmp_path: Path) -> Node:
    return pve_node.node(tmp_path / "alder", "alder")


@pytest.fixture(params=["dash", "bash", "busybox"])
def shell(request: pytest.FixtureRequest) -> list[str]:
    path = peers.program(request.param)
    return [path, "sh", "-s"] if request.param == "busybox" else [path, "-s"]


def run(node: Node, shell: list[str], *, tree: bool = True, path: str = "") -> Output:
    done = subprocess.run(
        shell,
        input=script(MARK, tree=tree, root=str(node.root)).encode(),
        capture_output=True,
        timeout=60,
        check=True,
        env={"PATH": path or f"{node.root}/bin:{peers.SEARCH_PATH}", "SSH_CONNECTION": "a 1 b 22"},
    )
    assert done.stderr == b""
    output = split(b"Welcome!\n" + done.stdout, MARK)
    assert output.whole
    return output


def bare_path(node: Node, *more: str) -> str:
    """Return a PATH on which there is hardly anything."""
    for name in (*TOOLS, *more):
        (node.root / "bin" / name).symlink_to(shutil.which(name) or pytest.fail(f"no {name}"))
    return str(node.root / "bin")


def test_every_part_in_every_shell(alder: Node, shell: list[str]) -> None:
    alder.runs_guest("101", "host")
    alder.runs(4242, "/usr/bin/lxc-start", "-F", "-n", "190")
    alder.runs(4343, "/usr/sbin/cron", "-f")
    output = run(alder, shell)
    assert output.parts["node"] == b"alder"
    assert output.parts["pve"] == b"mounted\n"
    assert output.parts["connection"] == b"a 1 b 22"
    assert output.parts["kernel"].decode().strip() == os.uname().release
    assert output.parts["packages"] == b"pve-manager\t9.1.4\nqemu-server\t9.1.3\n"
    assert output.parts["qemu"].startswith(b"QEMU emulator version 10.1.2")
    assert output.parts["cpuinfo"] == (alder.root / "proc/cpuinfo").read_bytes()
    assert output.parts["parameter kvm_amd.nested"] == b"1"
    assert output.parts["processes"] == b"listed\n"
    assert len(output.command_lines) == 2
    with tarfile.open(fileobj=io.BytesIO(output.parts["tree"])) as archive:
        names = archive.getnames()
    assert "nodes/birch/qemu-server/201.conf" in names
    assert "nodes/cedar/lxc/390.conf" in names


def test_only_facts_of_a_further_node(alder: Node, shell: list[str]) -> None:
    assert "tree" not in run(alder, shell, tree=False).parts


@pytest.mark.parametrize("name", ["dash", "bash"])
def test_files_come_without_tar(alder: Node, name: str) -> None:
    output = run(alder, [peers.program(name), "-s"], path=bare_path(alder))
    assert "tree" not in output.parts
    tree = _pve_node._tree(output, "x")
    expected = _file_tree.read_directory(str(alder.etc_pve), _pve_node._wanted)
    assert tree.files == expected.files
    assert len(tree.files) > 20


def test_files_come_with_and_without_gzip(alder: Node) -> None:
    dash = [peers.program("dash"), "-s"]
    packed = run(alder, dash)
    bare = run(alder, dash, path=bare_path(alder, "tar"))
    assert packed.parts["tree"].startswith(_pve_node.GZIP)
    assert not bare.parts["tree"].startswith(_pve_node.GZIP)
    assert _pve_node._tree(packed, "x").files == _pve_node._tree(bare, "x").files


def test_node_without_package_manager_or_qemu(alder: Node) -> None:
    (alder.root / "bin/dpkg-query").unlink()
    (alder.root / "bin/kvm").unlink()
    alder.has("pveversion", "echo pve-manager/7.4-3/9002ab8a")
    output = run(alder, [peers.program("dash"), "-s"], path=bare_path(alder))
    assert output.parts["pveversion"] == b"pve-manager/7.4-3/9002ab8a\n"
    assert output.parts["qemu"] == b""


def test_hidden_processes_are_not_listed(alder: Node, shell: list[str]) -> None:
    shutil.rmtree(alder.root / "proc/1")
    assert run(alder, shell).parts["processes"] == b""


@pytest.mark.parametrize(("gone", "state"), [("etc/pve", "absent"), ("etc/pve/nodes", "unmounted")])
def test_what_is_no_node(alder: Node, shell: list[str], gone: str, state: str) -> None:
    shutil.rmtree(alder.root / gone)
    assert run(alder, shell).parts["pve"].decode().strip() == state


def test_nothing_is_changed(alder: Node, shell: list[str]) -> None:
    before = {path: path.lstat() for path in alder.root.rglob("*")}
    run(alder, shell)
    after = {path: path.lstat() for path in alder.root.rglob("*")}
    assert after.keys() == before.keys()
    assert all(after[path].st_mtime_ns == before[path].st_mtime_ns for path in before)


def test_script_that_arrives_in_part_does_nothing(alder: Node) -> None:
    whole = script(MARK, tree=True, root=str(alder.root)).encode()
    for length in range(0, len(whole) - len("main </dev/null\n") - 1, 97):
        done = subprocess.run(
            [peers.program("dash"), "-s"], input=whole[:length], capture_output=True, check=False
        )
        assert done.stdout == b""


def test_configuration_cannot_imitate_a_part() -> None:
    text = f"\n{MARK} node\nreal\n{MARK} x\n\nother0123456789abcdef node\nforged".encode()
    output = split(text, MARK)
    assert output.parts == {"node": b"real", "x": b"\nother0123456789abcdef node\nforged"}
    assert not output.whole


@pytest.mark.parametrize(
    "mark", ["", "short", "with space 0123456789", "0123456789abcdef'; reboot"]
)
def test_mark_is_plain_and_long(mark: str) -> None:
    with pytest.raises(ValueError, match="mark"):
        script(mark, tree=False)


def test_root_is_quoted() -> None:
    assert "root='a b'\n" in script(MARK, tree=False, root="a b")
    assert script(MARK, tree=False).startswith("root=''\n")
    assert _pve_node_script.COMMAND == "/bin/sh -s"
