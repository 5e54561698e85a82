"""The journal: what it keeps, what it forgives, and what it refuses."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from support.fake_target import place
from unmask.errors import UsageError
from unmask.fixes import _state
from unmask.fixes._lock import BusyError
from unmask.fixes.journal import Journal, JournalError, JournalWriteError
from unmask.model.change import Phase, Setting
from unmask.model.inventory import Platform
from unmask.model.run import Acknowledgement, GuestRun, Run, RunKind, Verdict

GUEST = GuestRun(
    place=place(),
    wish="host",
    before=Setting(None, "d1"),
    after=Setting("host"),
    gained=("aes", "pclmulqdq"),
    lost=("x",),
    custom_model="fast",
    acknowledgements=(
        Acknowledgement("MIG002", "cannot move", "root", "pve1", "2026-12-01T10:00:00Z", "asked"),
    ),
)


def written(book: Journal, *phases: Phase) -> str:
    with book.begin(RunKind.FIX, "faster") as writer:
        writer.plan(GUEST)
        for phase in phases:
            writer.event(GUEST.place, phase, "because")
        return writer.ident


def file_of(book: Journal, ident: str) -> Path:
    return book.folder / "runs" / f"{ident}.jsonl"


def test_what_was_written_is_read(tmp_path: Path) -> None:
    book = Journal(tmp_path / "unmask")
    ident = written(book, Phase.WRITING, Phase.WRITTEN, Phase.DONE)
    run = book.run(ident)
    assert (run.ident, run.kind, run.reason, run.live) == (ident, RunKind.FIX, "faster", False)
    (guest,) = run.guests
    assert replace(guest, events=()) == GUEST
    assert [event.phase for event in guest.events] == [
        Phase.PLANNED,
        Phase.ACKNOWLEDGED,
        Phase.WRITING,
        Phase.WRITTEN,
        Phase.DONE,
    ]
    assert guest.last.detail == "because"
    assert (guest.settled, guest.new, run.unsettled) == (True, True, ())


def test_each_line_is_on_the_disk_before_the_call_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = Journal(tmp_path / "unmask")
    synced: list[int] = []
    real = os.fsync

    def fsync(number: int) -> None:
        real(number)
        synced.append(os.fstat(number).st_size)

    with book.begin(RunKind.FIX) as writer:
        writer.plan(GUEST)
        monkeypatch.setattr(os, "fsync", fsync)
        writer.event(GUEST.place, Phase.WRITING)
        assert synced == [file_of(book, writer.ident).stat().st_size]


def test_the_directory_is_synced_when_a_run_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(_state, "sync", synced.append)
    Journal(tmp_path / "unmask").begin(RunKind.FIX).close()
    assert synced[-1] == tmp_path / "unmask" / "runs"


def test_a_journal_cut_anywhere_tells_of_whole_lines_only(tmp_path: Path) -> None:
    book = Journal(tmp_path / "unmask")
    ident = written(book, Phase.WRITING, Phase.WRITTEN)
    text = file_of(book, ident).read_bytes()
    seen = set()
    for length in range(len(text) + 1):
        file_of(book, ident).write_bytes(text[:length])
        run = book.load(ident)
        lines = text[:length].count(b"\n")
        assert (run is None) == (lines == 0)
        assert sum(len(guest.events) for guest in run.guests) == lines - 1 if run else True
        seen.add(lines)
    assert seen == set(range(6))


def test_a_torn_line_is_taken_away_before_more_is_written(tmp_path: Path) -> None:
    book = Journal(tmp_path / "unmask")
    ident = written(book, Phase.WRITING, Phase.WRITTEN)
    path = file_of(book, ident)
    path.write_bytes(path.read_bytes()[:-9])
    with book.reopen(ident) as writer:
        writer.event(GUEST.place, Phase.FAILED, "looked", Verdict.OTHER)
    (guest,) = book.run(ident).guests
    assert [event.phase for event in guest.events[-2:]] == [Phase.WRITING, Phase.FAILED]
    assert guest.settled


@pytest.mark.parametrize(
    "line",
    [
        b"{}",
        b"nonsense",
        b'{"guest":"lab/101"}',
        b'{"guest":"lab/101","time":"","phase":"unheard"}',
        b'{"guest":"lab/101","time":1,"phase":"done"}',
        b'{"guest":"102 new","time":"","phase":"done"}',
        b"[" * 100_000,
        b"\xff",
        b"",
    ],
)
def test_a_damaged_line_is_an_error_that_says_where(tmp_path: Path, line: bytes) -> None:
    book = Journal(tmp_path / "unmask")
    ident = written(book, Phase.WRITING)
    path = file_of(book, ident)
    path.write_bytes(path.read_bytes() + line + b"\n")
    with pytest.raises(JournalError, match=f"{ident}.jsonl: line 5 is damaged"):
        book.runs()


def test_a_journal_of_a_later_version_is_refused(tmp_path: Path) -> None:
    book = Journal(tmp_path / "unmask")
    ident = written(book)
    path = file_of(book, ident)
    first, rest = path.read_text().split("\n", 1)
    newer = {**json.loads(first), "schema": "unmask.run/2", "kind": "unheard of"}
    path.write_text(json.dumps(newer) + "\n" + rest)
    with pytest.raises(JournalError, match=r"later version.*update unmask"):
        book.runs()


def test_more_than_the_cpu_never_gets_into_it(tmp_path: Path) -> None:
    book = Journal(tmp_path / "unmask")
    domain = "<domain><cpu/><graphics passwd='hunter2'/></domain>"
    libvirt = replace(GUEST.place, platform=Platform.LIBVIRT)
    with book.begin(RunKind.FIX) as writer:
        with pytest.raises(ValueError, match="only a <cpu> element"):
            writer.plan(replace(GUEST, place=libvirt, before=Setting(domain)))
        with pytest.raises(ValueError, match="only the value"):
            writer.plan(replace(GUEST, after=Setting("host\ncipassword: hunter2")))
        cpu = Setting("<cpu mode='host-model'/>\n")
        writer.plan(replace(GUEST, place=libvirt, before=cpu, after=Setting(None)))
        text = file_of(book, writer.ident).read_text()
    assert "hunter2" not in text
    assert "host-model" in text


def test_a_run_is_live_while_its_process_holds_it(tmp_path: Path) -> None:
    book = Journal(tmp_path / "unmask")
    with book.begin(RunKind.FIX) as writer:
        writer.plan(GUEST)
        writer.event(GUEST.place, Phase.WRITING)
        run = book.run(writer.ident)
        assert (run.live, run.unsettled) == (True, ())
        with pytest.raises(BusyError, match="is going on in another process"):
            book.reopen(writer.ident)
    run = book.run(writer.ident)
    assert (run.live, len(run.unsettled)) == (False, 1)


def test_a_disk_that_is_full_stops_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = Journal(tmp_path / "unmask")
    real = os.write

    def half(number: int, data: bytes) -> int:
        if len(data) > 20:
            return real(number, data[:20])
        raise OSError(28, "No space left on device")

    with book.begin(RunKind.FIX) as writer:
        writer.plan(GUEST)
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", half)
            with pytest.raises(JournalWriteError, match="No space left"):
                writer.event(GUEST.place, Phase.WRITING)
        with pytest.raises(JournalWriteError, match="nothing more is done"):
            writer.event(GUEST.place, Phase.WRITTEN)
    assert book.run(writer.ident).guests[0].phase is Phase.ACKNOWLEDGED


def test_runs_that_cannot_be_listed_are_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = Journal(tmp_path / "unmask")
    written(book)

    def broken(_path: Path) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "iterdir", broken)
    with pytest.raises(JournalError, match="cannot be listed: Input/output error"):
        book.runs()


def test_runs_are_found_by_the_beginning_of_their_id(tmp_path: Path) -> None:
    times = iter(["2026-12-01T10:00:00Z", "2026-12-02T10:00:00Z"])
    book = Journal(tmp_path / "unmask", lambda: next(times))
    first, second = (book.begin(RunKind.FIX) for _ in range(2))
    first.close()
    second.close()
    (book.folder / "runs" / "notes.jsonl").write_text("not ours")
    assert book.idents() == [first.ident, second.ident]
    assert first.ident.startswith("20261201-100000-")
    assert book.run("20261202").ident == second.ident
    with pytest.raises(UsageError, match="beginning of 2 runs"):
        book.run("2026")
    for name in ("", "2025", "../../etc/passwd"):
        with pytest.raises(UsageError, match="there is no run"):
            book.run(name)


def test_no_directory_is_no_runs(tmp_path: Path) -> None:
    book = Journal(tmp_path / "unmask")
    assert book.runs() == ()
    assert not book.folder.exists()


def test_a_run_without_guests_is_a_run(tmp_path: Path) -> None:
    book = Journal(tmp_path / "unmask")
    book.begin(RunKind.UNDO, undoes="x").close()
    (run,) = book.runs()
    assert isinstance(run, Run)
    assert (run.kind, run.undoes, run.guests) == (RunKind.UNDO, "x", ())
