"""Several reports of one run: which goes where, and all or none."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from support.golden import FIXTURES
from support.unmask_command import UNMASK, Answer, unmask
from unmask import plugins
from unmask.cli import choices, reporting, terminal
from unmask.errors import UsageError
from unmask.model.report import Format

RICH = str(FIXTURES / "report" / "rich.json")
FORMATS = [form.name for form in plugins.load("unmask.report", "FORMAT", Format)]


def audit(*words: str, through: tuple[str, ...] = ()) -> Answer:
    return unmask("audit", RICH, "--fail-on", "never", *words, through=through)


def chosen(*named: str, output: str = "", ticket: bool = False) -> list[tuple[str, str]]:
    asked = reporting.wanted(named, Path(output) if output else None, ticket=ticket)
    return [(item.form.name, str(item.path or "-")) for item in asked]


def test_which_report_goes_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert chosen() == [("table", "-")]
    assert chosen("json") == [("json", "-")]
    assert chosen("json", "json") == [("json", "-")]
    assert chosen("json", output="x.txt") == [("json", "x.txt")]
    assert chosen("json=a.json") == [("json", "a.json")]
    assert chosen("json=a=b.json", "table") == [("table", "-"), ("json", "a=b.json")]
    assert chosen("csv=a", "json=b", output="c.txt") == [
        ("table", "c.txt"), ("csv", "a"), ("json", "b"),
    ]  # fmt: skip
    assert chosen(ticket=True) == [("ticket", "-")]
    assert chosen("table", ticket=True) == [("ticket", "-")]
    assert chosen("json=a", ticket=True, output="t") == [("ticket", "t"), ("json", "a")]


@pytest.mark.parametrize("suffix", sorted({*choices.SUFFIXES, ".txt", ".log", "", ".JSON"}))
def test_the_suffix_tells_the_format(suffix: str, tmp_path: Path) -> None:
    expected = choices.SUFFIXES.get(suffix.lower(), "table")
    path = str(tmp_path / f"report{suffix}")
    assert chosen(output=path) == [(expected, path)]


def test_every_suffix_leads_to_a_format_that_is_there() -> None:
    assert set(choices.SUFFIXES.values()) <= set(FORMATS)


@pytest.mark.parametrize(
    ("named", "said"),
    [
        (("json", "table"), "cannot both go to standard output: write --format table=FILE"),
        (("nope",), "there is no format 'nope': choose one of csv, "),
        (("nope=x",), "there is no format 'nope'"),
        (("=x",), "there is no format ''"),
        (("json=",), "the file is missing: write --format json=FILE"),
        (("json=a", "csv=./a"), r"a: two reports cannot be one file"),
        (("json=.",), "it is a directory"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    named: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=said):
        chosen(*named)


def test_two_reports_for_one_output_are_refused() -> None:
    with pytest.raises(UsageError, match="cannot both go to out"):
        chosen("json", "csv", output="out")
    with pytest.raises(UsageError, match="--ticket and --format json exclude each other"):
        chosen("json", ticket=True)


def test_every_format_in_one_run(tmp_path: Path) -> None:
    words = [word for name in FORMATS for word in ("--format", f"{name}={tmp_path / name}")]
    answer = audit(*words, "--format", "json")
    assert answer.code == 0
    assert {item.name for item in tmp_path.iterdir()} == set(FORMATS)
    assert all(item.stat().st_size for item in tmp_path.iterdir())
    assert json.loads((tmp_path / "json").read_text())["guests"] == answer.report["guests"]


def test_the_report_on_standard_output_does_not_come_where_a_file_fails(tmp_path: Path) -> None:
    answer = audit("--format", "json", "--format", f"csv={tmp_path / 'a'}", "--format",
                   "markdown=/dev/full")  # fmt: skip
    assert (answer.code, answer.output) == (2, "")
    assert answer.errors == "unmask: /dev/full: cannot be written: No space left on device\n"
    assert list(tmp_path.iterdir()) == []


def test_a_device_takes_a_report(tmp_path: Path) -> None:
    answer = audit("--format", "csv=/dev/stdout", "--format", f"json={tmp_path / 'a'}")
    assert answer.output.startswith('"') or answer.output.startswith("subject")
    assert (tmp_path / "a").stat().st_size


def test_a_hyphen_is_standard_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert chosen(output="-") == [("table", "-")]
    assert chosen("json=-", "csv=a") == [("json", "-"), ("csv", "a")]
    assert chosen("json=a", output="-") == [("table", "-"), ("json", "a")]
    assert chosen("csv", output="-") == chosen("csv", "csv=-") == [("csv", "-")]
    with pytest.raises(UsageError, match="cannot both go to standard output"):
        chosen("json=-", "csv")


def test_what_the_shell_has_opened_is_written_behind_what_is_there(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("precious\n")
    words = [UNMASK, "audit", RICH, "--fail-on", "never"]
    with log.open("a") as stream:
        for more in (["--output", "/dev/stdout"], ["--format", "csv", "--format", "csv=/dev/fd/1"]):
            subprocess.run([*words, *more], stdout=stream, timeout=120, check=True)
    first, table, *_ = text = log.read_text().splitlines()
    assert (first, table[:5]) == ("precious", "GUEST")
    assert len([line for line in text if line.startswith('"site","subject"')]) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--save", "-"), "--save -: the report goes to standard output too: add --output FILE"),
        (("--save", "a", "--format", "json=a"), "a: two reports cannot be one file"),
        (("--save", "no/a"), "no/a: cannot be written: its directory does not exist"),
        (("--save", "loop"), "loop: cannot be written: Too many levels of symbolic links"),
        (("--output", "loop"), "loop: cannot be written: Too many levels of symbolic links"),
    ],
)
def test_places_that_cannot_be_are_refused_before_anything_is_read(
    words: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    (tmp_path / "loop").symlink_to("loop")
    answer = unmask("audit", "/does/not/exist", *words, directory=tmp_path)
    assert (answer.code, answer.output) == (2, "")
    assert said in answer.errors
    assert "/does/not/exist" not in answer.errors


@pytest.mark.parametrize("command", ["baseline", "migrate-check", "bench"])
def test_other_commands_refuse_them_too(command: str, tmp_path: Path) -> None:
    answer = unmask(command, "/does/not/exist", "--save", "-", directory=tmp_path)
    assert "unmask: --save -: the report goes to standard output too" in answer.errors
    answer = unmask(command, "/does/not/exist", "--save", "a", "--output", "a", directory=tmp_path)
    assert (answer.code, answer.errors[:41]) == (2, "unmask: a: two reports cannot be one file")


def test_what_was_read_alone_goes_to_standard_output(tmp_path: Path) -> None:
    answer = unmask("audit", RICH, "--fail-on", "never", "--save", "-", "--output", "a",
                    directory=tmp_path)  # fmt: skip
    assert answer.report["schema"] == "unmask.inventory/1"
    assert [item.name for item in tmp_path.iterdir()] == ["a"]


def test_a_file_that_may_not_grow_so_large_leaves_all_as_they_were(tmp_path: Path) -> None:
    prlimit = shutil.which("prlimit")
    if not prlimit:
        pytest.skip("prlimit (util-linux) is not installed")
    (tmp_path / "a.csv").write_text("old")
    words = ("--format", f"csv={tmp_path / 'a.csv'}", "--format", f"json={tmp_path / 'b.json'}")
    answer = audit(*words, through=(prlimit, "--fsize=20000:20000"))
    assert (answer.code, answer.output) == (2, "")
    assert answer.errors.endswith("b.json: cannot be written: File too large\n")
    assert {item.name: item.read_text() for item in tmp_path.iterdir()} == {"a.csv": "old"}


def in_namespace(script: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Run a script that mounts something, or skip where this user may not."""
    unshare = shutil.which("unshare")
    if not unshare or subprocess.run([unshare, "-m", "true"], check=False).returncode:
        pytest.skip("this user may not make a mount namespace")
    command = [unshare, "-m", "sh", "-ec", script, UNMASK, RICH, str(tmp_path)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_a_full_disk_leaves_all_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    done = in_namespace(
        'mount -t tmpfs -o size=16k none "$2/full"; echo old > "$2/full/a.csv"\n'
        '"$0" audit "$1" --format csv="$2/full/a.csv" --format json="$2/full/b.json" || echo "$?"\n'
        'ls -A "$2/full"; cat "$2/full/a.csv"',
        tmp_path,
    )
    assert done.stdout.splitlines() == ["2", "a.csv", "old"]
    assert done.stderr.endswith("b.json: cannot be written: No space left on device\n")


def test_a_place_that_cannot_be_taken_puts_the_others_back(tmp_path: Path) -> None:
    for name in ("a.csv", "held.json"):
        (tmp_path / name).write_text("old\n")
    done = in_namespace(
        'mount --bind "$2/held.json" "$2/held.json"\n'
        '"$0" audit "$1" --format csv="$2/a.csv" --format json="$2/held.json" || echo "$?"\n'
        'ls -A "$2"; cat "$2/a.csv" "$2/held.json"',
        tmp_path,
    )
    assert done.stdout.splitlines() == ["2", "a.csv", "held.json", "old", "old"]
    assert done.stderr.endswith("held.json: cannot be written: Device or resource busy\n")


def test_two_runs_give_the_same_bytes(tmp_path: Path) -> None:
    """Of every format, whatever the order of sets, where SOURCE_DATE_EPOCH tells the time."""
    for seed in ("1", "2"):
        (tmp_path / seed).mkdir()
        words = [word for name in FORMATS for word in ("--format", f"{name}={seed}/{name}")]
        answer = unmask(
            "audit",
            *(RICH, str(FIXTURES / "report" / "lab.json")),
            *("--fail-on", "never"),
            *words,
            directory=tmp_path,
            SOURCE_DATE_EPOCH="1796112000",
            PYTHONHASHSEED=seed,
        )
        assert (answer.code, answer.output) == (0, "")
    for name in FORMATS:
        first, second = ((tmp_path / seed / name).read_bytes() for seed in ("1", "2"))
        assert first == second, name
    assert b"2026-12-01T08:00:00Z" in (tmp_path / "1" / "json").read_bytes()


@pytest.mark.parametrize("told", ["\u00b2", "9" * 5000, "1e3", "-5", "0", ""])
def test_columns_that_are_no_number_are_not_obeyed(
    told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = []
    for columns in (told, str(terminal.PLAIN_WIDTH)):
        monkeypatch.setenv("COLUMNS", columns)
        assert audit("--format", f"table={tmp_path / 'a.txt'}").code == 0
        texts.append((tmp_path / "a.txt").read_text())
    assert texts[0] == texts[1]


def test_a_time_that_is_none_is_refused(tmp_path: Path) -> None:
    answer = unmask("audit", RICH, "--output", str(tmp_path / "x"), SOURCE_DATE_EPOCH="now")
    assert (answer.code, answer.output) == (2, "")
    assert answer.errors.startswith("unmask: SOURCE_DATE_EPOCH=now: not a number of seconds")
    assert list(tmp_path.iterdir()) == []
