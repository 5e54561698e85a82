"""The state directory: where it is, and whose it has to be."""

import os
from pathlib import Path

import pytest

from unmask.errors import UsageError
from unmask.fixes import _state
from unmask.fixes.journal import Journal
from unmask.model.run import RunKind


def written(book: Journal) -> str:
    with book.begin(RunKind.FIX) as writer:
        return writer.ident


def file_of(book: Journal, ident: str) -> Path:
    return book.folder / "runs" / f"{ident}.jsonl"


def test_files_are_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        book = Journal(tmp_path / "state" / "unmask")
        ident = written(book)
    finally:
        os.umask(before)
    modes = [
        path.stat().st_mode & 0o777
        for path in (book.folder, book.folder / "runs", file_of(book, ident))
    ]
    assert modes == [0o700, 0o700, 0o600]


def test_a_directory_open_to_others_is_refused(tmp_path: Path) -> None:
    book = Journal(tmp_path / "unmask")
    written(book)
    (book.folder / "runs").chmod(0o755)
    with pytest.raises(UsageError, match="chmod 700"):
        book.begin(RunKind.FIX)
    with pytest.raises(UsageError, match="chmod 700"):
        book.runs()


def test_a_directory_of_somebody_else_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = Journal(tmp_path / "unmask")
    written(book)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(UsageError, match="a directory of your own"):
        book.runs()


def test_a_place_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be kept there"):
        Journal(tmp_path / "file" / "unmask").begin(RunKind.FIX)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"XDG_STATE_HOME": "/var/state", "HOME": "/root"}, "/var/state/unmask"),
        ({"XDG_STATE_HOME": "relative", "HOME": "/root"}, "/root/.local/state/unmask"),
        ({"HOME": "/root"}, "/root/.local/state/unmask"),
    ],
)
def test_the_state_directory(environment: dict[str, str], expected: str) -> None:
    assert _state.folder(environment) == Path(expected)


def test_without_a_home_there_is_no_state_directory() -> None:
    with pytest.raises(UsageError, match="set XDG_STATE_HOME"):
        _state.folder({})
