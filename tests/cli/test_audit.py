"""`unmask audit` on saved inventories: options, exit codes, files, several targets."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.documents import HOSTILE, LAB, lab
from unmask.dialects.saved import dump, load
from unmask.model.inventory import Inventory

from .conftest import Command

TARGET = str(LAB)


def saved(path: Path, inventory: Inventory) -> str:
    path.write_text(dump(inventory))
    return str(path)


def whole() -> Inventory:
    """Return the part of the lab about which everything is known."""
    inventory = lab()
    return replace(
        inventory,
        hosts=(inventory.hosts[0],),
        guests=tuple(guest for guest in inventory.guests if guest.host == "lab/one"),
        gaps=(),
    )


def report(text: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(text)
    del value["run"]["started"]
    return value


def test_the_table_names_every_guest_and_its_findings(command: Command) -> None:
    answer = command("audit", TARGET)
    assert answer.code == 0
    assert answer.errors == ""
    for words in ("101 nas", "x86-64-v2-AES", "unmask explain CPU002", "10 guests on 3 hosts"):
        assert words in answer.output
    assert "\x1b" not in answer.output


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((), 0),
        (("--fail-on", "medium"), 1),
        (("--fail-on", "info"), 1),
        (("--fail-on", "critical"), 0),
        (("--fail-on", "never"), 0),
        (("--fail-on", "medium", "--ignore", "CPU004"), 0),
        (("--fail-on", "medium", "--select", "CLU,REQ"), 0),
    ],
)
def test_findings_decide_the_exit_code(
    command: Command, tmp_path: Path, words: tuple[str, ...], code: int
) -> None:
    assert command("audit", saved(tmp_path / "x.json", whole()), *words).code == code


def test_strict_wants_everything_read_and_checked(command: Command, tmp_path: Path) -> None:
    assert command("audit", TARGET).code == 0
    assert command("audit", TARGET, "--strict").code == 3
    complete = saved(tmp_path / "x.json", replace(whole(), clusters=()))
    answer = command("audit", complete, "--strict", "--format", "json")
    assert report(answer.output)["run"]["complete"] is True
    assert answer.code == 0


def test_selecting_and_ignoring_choose_rules(command: Command) -> None:
    def codes(*words: str) -> set[str]:
        text = command("audit", TARGET, "--format", "json", *words).output
        return {finding["code"] for finding in report(text)["findings"]}

    every = codes()
    assert {"CPU002", "CPU004"} <= every
    assert codes("--select", "CPU002") == {"CPU002"}
    assert codes("--ignore", "cpu") == {code for code in every if not code.startswith("CPU")}
    answer = command("audit", TARGET, "--select", "NOP001")
    assert answer.code == 2
    assert "there is no rule 'NOP001'" in answer.errors


def test_saving_and_auditing_that_gives_the_same(command: Command, tmp_path: Path) -> None:
    copy = tmp_path / "copy.json"
    first = report(command("audit", TARGET, "--format", "json", "--save", str(copy)).output)
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert load(copy.read_text()) == replace(lab(), targets=(TARGET,))
    again = report(command("audit", str(copy), "--format", "json").output)
    assert again.pop("run")["targets"] == [str(copy)]
    first.pop("run")
    assert again == first


def test_the_output_file_is_written_whole(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    answer = command("audit", TARGET, "--format", "json", "--output", str(path))
    assert (answer.code, answer.output, answer.errors) == (0, "", "")
    assert report(path.read_text())["schema"] == "unmask.audit/1"
    assert os.listdir(tmp_path) == ["report.json"]  # noqa: PTH208 - hidden files count


def test_an_output_that_cannot_be_written_is_one_error(command: Command, tmp_path: Path) -> None:
    answer = command("audit", TARGET, "--output", str(tmp_path / "absent/report"))
    assert answer.code == 2
    assert answer.errors.endswith(
        "cannot be written: its directory does not exist: make it first\n"
    )


def test_one_bad_target_does_not_stop_the_others(command: Command, tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text('{"schema": "unmask.inventory/1", "guests": [1]}')
    words = ("audit", str(bad), TARGET, "foo://x", str(tmp_path / "absent"), "--format", "json")
    answer = command(*words)
    assert answer.code == 3
    assert len(answer.errors.splitlines()) == 3
    assert f"unmask: {bad}: not a valid saved inventory: guests[0]: 1 is not an object" in (
        answer.errors
    )
    body = report(answer.output)
    assert len(body["guests"]) == 10
    assert {str(bad), "foo://x", str(tmp_path / "absent")} <= {
        gap["subject"] for gap in body["gaps"]
    }
    assert body["run"]["complete"] is False
    assert command(*words, "--fail-on", "info").code == 3


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("empty.json", b"", "not a saved inventory"),
        ("binary.json", bytes(range(256)), "not UTF-8 text"),
        ("binary", bytes(range(256)), "not a file that unmask reads"),
        ("cut.json", LAB.read_bytes()[:1000], "not a saved inventory"),
    ],
)
def test_a_bad_file_is_one_clear_error(
    command: Command, tmp_path: Path, name: str, data: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    answer = command("audit", str(path))
    assert answer.code == 3
    assert answer.output == ""
    assert len(answer.errors.splitlines()) == 1
    assert message in answer.errors


@pytest.mark.parametrize(
    ("target", "code", "message"),
    [
        ("foo://x", 2, "foo:// is not a kind of target; a target is a saved"),
        ("pve+none://node", 2, "a saved inventory"),
        ("absent", 3, "configured target; for a host write pve://HOST, pve+ssh://HOST"),
        (".", 3, "unmask: there is nothing in . that unmask can read"),
    ],
)
def test_a_target_that_is_none_is_one_clear_error(
    command: Command, target: str, code: int, message: str
) -> None:
    answer = command("audit", target)
    assert answer.code == code
    assert answer.output == ""
    assert len(answer.errors.splitlines()) == 1
    assert message in answer.errors


@pytest.mark.parametrize("option", ["--key", "--guest-key"])
@pytest.mark.parametrize("place", ["absent/key", "~nobody-of-that-name/key"])
def test_a_key_that_is_not_there_is_told_before_anything_is_read(
    command: Command, option: str, place: str
) -> None:
    answer = command("audit", option, place, "pve://node.invalid")
    assert (answer.code, answer.output) == (2, "")
    assert answer.errors.startswith(f"unmask: {option} {place}: ")
    assert answer.errors.endswith("; name the file of a private key\n")
    assert "node.invalid" not in answer.errors


def test_configured_targets_are_read_by_name_or_all(command: Command, tmp_path: Path) -> None:
    other = replace(whole(), hosts=(), clusters=(), guests=())
    (tmp_path / "unmask.toml").write_text(
        f'[targets.lab]\naddress = "{TARGET}"\naccept = "accepted.toml"\n'
        f'[targets.bare]\naddress = "{saved(tmp_path / "bare.json", other)}"\n'
    )
    (tmp_path / "accepted.toml").write_text('[[accept]]\ncode = "CPU004"\nreason = "a toy"\n')
    body = report(command("audit", "--format", "json").output)
    assert body["run"]["targets"] == [TARGET, str(tmp_path / "bare.json")]
    assert [item["finding"]["code"] for item in body["accepted"]] == ["CPU004"]
    assert report(command("audit", "bare", "--format", "json").output)["guests"] == []
    (tmp_path / "other.toml").write_text(f'[targets.x]\naddress = "{TARGET}"\n')
    words = ("audit", "x", "--config", str(tmp_path / "other.toml"), "--format", "json")
    assert len(report(command(*words).output)["guests"]) == 10


def test_accepted_findings_do_not_fail_the_run(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "accepted.toml"
    path.write_text(
        '[[accept]]\ncode = "CPU004"\nreason = "a toy"\n'
        '[[accept]]\ncode = "CPU001"\nsubject = "lab/999"\nreason = "gone"\n'
        '[[accept]]\ncode = "CPU002"\nreason = "old"\nexpires = 2020-01-01\n'
    )
    target = saved(tmp_path / "x.json", whole())
    assert command("audit", target, "--fail-on", "medium").code == 1
    answer = command("audit", target, "--fail-on", "medium", "--accept", str(path))
    assert answer.code == 0
    assert "CPU004 lab/106: a toy" in answer.output
    assert "CPU001 for lab/999 fits no finding" in answer.errors
    assert "CPU002 for * has expired" in answer.errors
    quiet = command("audit", target, "--accept", str(path), "--select", "CPU004")
    assert quiet.errors == ""  # of rules that did not run nothing can be said


@pytest.mark.parametrize(
    ("text", "message"),
    [(None, "cannot be read: No such file"), ("accept", "TOML"), ("[[accept]]\n", "code")],
)
def test_a_wrong_file_of_accepted_findings_is_a_usage_error(
    command: Command, tmp_path: Path, text: str | None, message: str
) -> None:
    path = tmp_path / "accepted.toml"
    if text is not None:
        path.write_text(text)
    answer = command("audit", TARGET, "--accept", str(path))
    assert answer.code == 2
    assert str(path) in answer.errors
    assert message in answer.errors


def test_two_views_of_one_subject_are_told_apart(command: Command, tmp_path: Path) -> None:
    changed = replace(whole(), guests=(replace(whole().guests[0], name="another"),))
    answer = command("audit", TARGET, saved(tmp_path / "b.json", changed), "--format", "json")
    assert "describes lab/100 differently" in answer.errors
    names = {guest["subject"]: guest["name"] for guest in report(answer.output)["guests"]}
    assert names["lab/100"] == "vpn-gateway"
    assert names[f"{tmp_path / 'b.json'}:lab/100"] == "another"


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "1e10"])
def test_a_timeout_that_cannot_be_waited_for_is_a_usage_error(
    command: Command, seconds: str
) -> None:
    for words in (("audit", TARGET), ("config", "check", TARGET)):
        answer = command(*words, "--timeout", seconds)
        assert (answer.code, answer.output) == (2, "")
        assert "--timeout" in answer.errors


def test_verbose_says_what_is_read(command: Command) -> None:
    assert command("audit", TARGET, "-v").errors == f"unmask: reading {TARGET} (saved)\n"


def test_a_hostile_guest_harms_neither_output_nor_errors(command: Command, tmp_path: Path) -> None:
    guest = replace(whole().guests[0], name=HOSTILE)
    inventory = replace(whole(), guests=(guest,))
    target = saved(tmp_path / "x.json", inventory)
    for form in ("table", "json"):
        answer = command("audit", target, "--format", form)
        assert "\x1b" not in answer.output
        assert "\u202e" not in answer.output
    copy = tmp_path / "cut.json"
    copy.write_text(dump(inventory).replace('"vm"', '"\\u001b]0;x\\u0007vm"'))
    answer = command("audit", str(copy))
    assert answer.code == 3
    assert "\x1b" not in answer.errors
    assert "\x1b" not in command("audit", "\x1b]0;x\x07").errors


def test_nothing_to_read_is_a_hint(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unmask.config.targets.local", lambda _: "")
    answer = command("audit")
    assert answer.code == 2
    assert "no target was named" in answer.errors
