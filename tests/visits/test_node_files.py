"""Reading files of a node in rounds: what is asked for together, and where it ends."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from unmask.dialects.disk.medium import PAGE
from unmask.errors import InputError, TargetError, UnreadError
from unmask.visits import _node_files
from unmask.visits._node_files import NodeFiles


@dataclass
class Node:
    """A node that is this machine, and the scripts that it ran."""

    scripts: list[str] = field(default_factory=list)
    most: int | None = None
    """Bytes of an output that arrive; None for all."""

    def ask(self, script: str) -> bytes:
        self.scripts.append(script)
        done = subprocess.run(["/bin/sh"], input=script.encode(), capture_output=True, check=True)
        return done.stdout[: self.most]


def written(path: Path, pages: int) -> str:
    path.write_bytes(b"".join(bytes([65 + number % 26]) * PAGE for number in range(pages)))
    return str(path)


def test_what_is_needed_at_once_is_asked_for_at_once(tmp_path: Path) -> None:
    node = Node()
    files = NodeFiles(node.ask, "oak")
    names = [written(tmp_path / f"{number}", 8) for number in range(5)]

    def read() -> list[bytes]:
        sources = [files.volume(name) for name in names]
        heads = [source.read(10, 2) for source in sources]
        if any(head != b"AA" for head in heads):
            raise InputError("not there yet")
        return heads + [source.read(7 * PAGE, 2) for source in sources]

    assert files.told(read) == [b"AA"] * 5 + [b"HH"] * 5
    assert len(node.scripts) == 3


def test_pages_are_asked_for_once(tmp_path: Path) -> None:
    node = Node()
    files = NodeFiles(node.ask, "oak")
    name = written(tmp_path / "a", 8)
    for _ in range(3):
        assert files.told(lambda: files.volume(name).read(PAGE - 1, 2)) == b"AB"
    assert len(node.scripts) == 2


def test_an_error_that_zeros_have_caused_is_none(tmp_path: Path) -> None:
    files = NodeFiles(Node().ask, "oak")
    name = written(tmp_path / "a", 1)

    def read() -> bytes:
        found = files.volume(name).read(0, 4)
        if found != b"AAAA":
            raise InputError("zeros")
        return found

    assert files.told(read) == b"AAAA"


def test_an_error_of_its_own_is_raised(tmp_path: Path) -> None:
    files = NodeFiles(Node().ask, "oak")
    name = written(tmp_path / "a", 1)

    def read() -> bytes:
        files.volume(name).read(0, 4)
        raise InputError("damaged")

    with pytest.raises(InputError, match="damaged"):
        files.told(read)


def test_pages_that_do_not_arrive_are_not_zeros(tmp_path: Path) -> None:
    node = Node()
    files = NodeFiles(node.ask, "oak")
    name = written(tmp_path / "a", 8)
    files.told(lambda: files.volume(name).read(0, 1))
    node.most = 3000
    with pytest.raises(UnreadError, match="cannot be read on the node"):
        files.told(lambda: files.volume(name).read(PAGE, 1))
    assert files.told(lambda: files.volume(name).read(0, 1)) == b"A"


def test_a_file_that_shrinks_is_not_zeros(tmp_path: Path) -> None:
    files = NodeFiles(Node().ask, "oak")
    name = written(tmp_path / "a", 8)
    files.told(lambda: files.volume(name).read(0, 1))
    written(tmp_path / "a", 2)
    with pytest.raises(UnreadError, match="cannot be read on the node"):
        files.told(lambda: files.volume(name).read(3 * PAGE, 1))


def test_rounds_have_an_end(tmp_path: Path) -> None:
    node = Node()
    files = NodeFiles(node.ask, "oak")
    name = written(tmp_path / "a", 200)
    asked = iter(range(1000))
    with pytest.raises(UnreadError, match="commands"):
        files.told(lambda: files.volume(name).read(next(asked) * PAGE, 1))
    assert len(node.scripts) <= _node_files.ROUNDS * 2


def test_files_have_an_end(tmp_path: Path) -> None:
    files = NodeFiles(Node().ask, "oak")

    def read() -> None:
        for number in range(1000):
            files.backing(f"{tmp_path}/{number}").read(0, 1)

    with pytest.raises(UnreadError, match=r"not active|too many files"):
        files.told(read)


def test_what_the_node_says_in_place_of_a_size(tmp_path: Path) -> None:
    files = NodeFiles(lambda _: b"command not found\n", "oak")
    with pytest.raises(UnreadError, match="the node does not tell"):
        files.told(lambda: files.volume(str(tmp_path)).read(0, 1))


def test_a_node_that_does_not_answer(tmp_path: Path) -> None:
    def silent(_script: str) -> bytes:
        raise TargetError("oak: a command did not end within 5 s")

    files = NodeFiles(silent, "oak")
    with pytest.raises(TargetError, match="did not end"):
        files.told(lambda: files.volume(str(tmp_path)).read(0, 1))
