"""`unmask diff`: what it compares, how it ends, and what it refuses."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from support.golden import ROOT
from support.unmask_command import Answer

Command = Callable[..., Answer]
HOMELAB = ROOT / "examples" / "homelab"
SCHEMA = json.loads((ROOT / "docs/diff.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


@pytest.fixture
def later(tmp_path: Path) -> Path:
    """Return a copy of the example cluster some days later."""
    copy = tmp_path / "later" / "homelab"
    shutil.copytree(HOMELAB, copy)
    guests = copy / "nodes/alder/qemu-server"
    nas = guests / "101.conf"
    nas.write_text(nas.read_text().replace("cpu: x86-64-v2\n", "cpu: host\n"))
    (guests / "103.conf").rename(copy / "nodes/birch/qemu-server/103.conf")
    (copy / "nodes/birch/qemu-server/206.conf").unlink()
    mail = copy / "nodes/cedar/qemu-server/301.conf"
    (copy / "nodes/cedar/qemu-server/999.conf").write_text(mail.read_text())
    return copy


def report(command: Command, target: Path | str, name: str, *words: str) -> str:
    options = ("--format", "json", "--fail-on", "never", "--output", name)
    assert command("audit", str(target), *options, *words).code == 0
    return name


def saved(command: Command, target: Path | str, name: str) -> str:
    assert command("audit", str(target), "--save", name, "--fail-on", "never").code == 0
    return name


def test_reports_and_inventories_say_the_same(command: Command, later: Path) -> None:
    kinds = [report, saved]
    found = []
    for before in kinds:
        for after in kinds:
            old, new = before(command, HOMELAB, "old.json"), after(command, later, "new.json")
            body = command("diff", old, new, "--format", "json").report
            VALIDATOR.validate(body)
            for side in ("old", "new"):
                body[side].pop("started")
            found.append(body)
    assert all(body == found[0] for body in found)
    assert found[0]["counts"]["new"] == 3
    assert found[0]["complete"]


def test_new_findings_decide_how_it_ends(command: Command, later: Path) -> None:
    old, new = saved(command, HOMELAB, "old.json"), saved(command, later, "new.json")
    assert command("diff", old, new).code == 1
    assert command("diff", old, new, "--fail-on", "critical").code == 0
    assert command("diff", old, new, "--fail-on", "never").code == 0
    assert command("diff", old, old, "--fail-on", "info").code == 0
    assert command("diff", old, old, "--strict").code == 0


def test_the_table_has_what_changed(command: Command, later: Path) -> None:
    old, new = saved(command, HOMELAB, "old.json"), saved(command, later, "new.json")
    answer = command("diff", old, new)
    said = " ".join(answer.output.split())
    for part in (
        "From old.json (a saved inventory) to new.json (a saved inventory).",
        "New findings HIGH CPU005 homelab/999 mail: ",
        "Gone findings HIGH CPU008 homelab/206 ci-runner: ",
        "LOW CRY001 homelab/101 truenas: ZFS encryption",
        "guest came homelab/999 mail: is on cedar",
        "guest went homelab/206 ci-runner: was on birch",
        "guest moved homelab/103 nextcloud: from alder to birch",
        "guest homelab/101 truenas: x86-64-v2 to host; gained ",
        "homelab/101 truenas: zfs: software to hardware",
    ):
        assert part in said
    assert "Unchanged findings" not in answer.output
    assert max(map(len, answer.output.splitlines())) <= 100
    assert "Unchanged findings" in command("diff", old, new, "--all").output


def test_what_is_listed_is_what_is_counted(command: Command, later: Path) -> None:
    old, new = saved(command, HOMELAB, "old.json"), saved(command, later, "new.json")
    body = command("diff", old, new, "--format", "json", "--all").report
    VALIDATOR.validate(body)
    changes = [item["change"] for item in body["findings"]]
    assert {change: changes.count(change) for change in body["counts"]} == body["counts"]
    some = command("diff", old, new, "--format", "json").report
    assert some["counts"] == body["counts"]
    assert "unchanged" not in {item["change"] for item in some["findings"]}


def test_a_page_for_a_ticket(command: Command, later: Path, tmp_path: Path) -> None:
    old, new = saved(command, HOMELAB, "old.json"), saved(command, later, "new.json")
    command("diff", old, new, "--format", "markdown", "--output", "diff.md", "--fail-on", "never")
    page = (tmp_path / "diff.md").read_text()
    assert page.startswith("# unmask diff\n\nFrom `old.json` (a saved inventory) to `new.json`")
    assert "- **guest moved** `homelab/103 nextcloud`: from alder to birch\n" in page


def test_an_audit_without_all_rules_is_not_complete(command: Command) -> None:
    old = report(command, HOMELAB, "old.json")
    new = report(command, HOMELAB, "new.json", "--ignore", "CPU")
    answer = command("diff", old, new, "--format", "json", "--strict")
    assert answer.code == 3
    counts = answer.report["counts"]
    assert counts["gone"] == counts["new"] == 0
    assert counts["no-longer-checked"] > 20


def test_accepted_findings_are_left_out(command: Command, later: Path, tmp_path: Path) -> None:
    old, new = saved(command, HOMELAB, "old.json"), saved(command, later, "new.json")
    (tmp_path / "ok.toml").write_text(
        '[[accept]]\ncode = "CPU005"\nsubject = "homelab/999"\nreason = "a clone"\n'
    )
    assert command("diff", old, new, "--accept", "ok.toml").code == 0
    command("audit", str(later), "--accept", "ok.toml", "--format", "json", "--output", "new.json")
    assert command("diff", old, "new.json").code == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a JSON report of unmask audit"),
        ("<html>", "not a JSON report of unmask audit"),
        ('{"schema": "unmask.bench/1"}', '"schema" is not "unmask.audit/1"'),
        ('{"schema": "unmask.inventory/9"}', "this inventory has version '9'"),
        ('{"schema": "unmask.inventory/1", "guests": 1}', "guests: 1 is not a list"),
        ('{"schema": "unmask.audit/1", "run": 1}', "not a valid report: "),
        ('{"schema": "unmask.audit/1", "x": ' + "[" * 99999, "nested too deeply"),
    ],
)
def test_a_file_that_is_none_is_named(
    command: Command, tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "bad.json").write_text(text)
    good = saved(command, HOMELAB, "good.json")
    for words in (("bad.json", good), (good, "bad.json")):
        answer = command("diff", *words)
        assert answer.code == 2
        assert answer.output == ""
        (line,) = answer.errors.splitlines()
        assert line.startswith("unmask: bad.json: ")
        assert said in line
        assert line.endswith(
            "compare what unmask audit --format json, --save or unmask collect wrote"
        )


def test_a_file_that_is_not_there(command: Command) -> None:
    answer = command("diff", "old.json", "new.json")
    assert (answer.code, answer.output) == (2, "")
    assert "old.json: cannot be read: No such file or directory" in answer.errors


def test_bytes_that_are_no_text(command: Command, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_bytes(b"\xff\xfe\x00")
    answer = command("diff", "bad.json", "bad.json")
    assert answer.code == 2
    assert "bad.json: not UTF-8 text" in answer.errors


def test_no_file_is_written_where_the_input_is_wrong(command: Command, tmp_path: Path) -> None:
    (tmp_path / "out.md").write_text("earlier")
    assert command("diff", "a", "b", "--output", "out.md").code == 2
    assert (tmp_path / "out.md").read_text() == "earlier"


def test_two_runs_over_one_inventory_are_the_same_but_for_their_time(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = saved(command, HOMELAB, "old.json")
    texts = []
    for seconds in ("1", "2"):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", seconds)
        texts.append(command("audit", name, "--format", "json", "--fail-on", "never").output)
    assert texts[0] != texts[1]
    assert texts[0].replace("1970-01-01T00:00:01Z", "1970-01-01T00:00:02Z") == texts[1]
