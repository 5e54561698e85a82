"""`unmask migrate-check` against the lab: every reason there is, tables, JSON, exit codes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from support import golden, move_case
from support.lab_target import read
from support.unmask_command import Answer
from unmask import plugins
from unmask.dialects import saved
from unmask.lab.lab import Lab
from unmask.model.finding import About, Rule

from .conftest import Command

SCHEMA = json.loads((golden.ROOT / "docs/migrate.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(
    SCHEMA, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give what an audit may read of the lab, saved."""
    with Lab() as made:
        text = saved.dump(read(made))
    path = tmp_path_factory.mktemp("lab") / "lab.json"
    # The address of the lab, which changes, is in what was read.
    path.write_text(re.sub(r"127\.0\.0\.1:\d+", "pve1.example", text), encoding="utf-8")
    return path


def check(command: Command, lab: Path, *words: str) -> Answer:
    return command("migrate-check", str(lab), *words)


def told(command: Command, lab: Path, *words: str) -> dict[str, Any]:
    answer = check(command, lab, "--format", "json", *words)
    found: dict[str, Any] = json.loads(answer.output)
    VALIDATOR.validate(found)
    return found


def move(found: dict[str, Any], guest: str, target: str) -> dict[str, Any]:
    (one,) = (
        item
        for item in found["moves"]
        if (item["guest"], item["to"]) == (f"homelab/{guest}", f"homelab/{target}")
    )
    assert isinstance(one, dict)
    return one


def answers(found: dict[str, Any], guest: str, target: str) -> tuple[str, str]:
    one = move(found, guest, target)
    return one["live"], one["cold"]


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_schema_refuses_what_is_wrong(command: Command, lab: Path) -> None:
    found = told(command, lab, "--vm", "101")
    spoils: tuple[dict[str, Any], ...] = (
        {"schema": "unmask.migrate/2"},
        {"moves": [{**found["moves"][0], "live": "maybe"}]},
        {"moves": [{**found["moves"][0], "more": 1}]},
        {"plan": {}},
    )
    for spoil in spoils:
        assert list(VALIDATOR.iter_errors({**found, **spoil}))


def test_the_lab_has_every_kind_of_reason(command: Command, lab: Path) -> None:
    found = told(command, lab)
    codes = {reason["code"] for item in found["moves"] for reason in item["reasons"]}
    rules = plugins.load("unmask.rules", "RULE", Rule)
    assert codes == {rule.code for rule in rules if rule.about is About.MOVE}
    nodes = 4
    guests = {item["guest"] for item in found["moves"]}
    assert len(found["moves"]) == len(guests) * (nodes - 1)


def test_the_lab_has_every_reason_that_holds_a_guest(command: Command, lab: Path) -> None:
    messages = " | ".join(
        reason["message"] for item in told(command, lab)["moves"] for reason in item["reasons"]
    )
    for words in (
        "a device of this host", "copies scsi0", "replication to", "storage that is not there",
        "a local file", "hugepages", "binds the guest's memory", "pinned processors",
        "a resource of this host", "locked (backup)", "keeps the guest on", "wakes up",
        "with memory keeps the CPU", "nothing stops the move", "Nothing stops this move",
        "goes on running on", "(PKRU)",
    ):  # fmt: skip
        assert words in messages, words


def test_answers_hold_for_one_direction(command: Command, lab: Path) -> None:
    found = told(command, lab)
    assert answers(found, "125", "pve2") == ("possible", "possible")
    assert answers(found, "125", "pve1") == ("blocked", "blocked")
    assert answers(found, "102", "pve2") == ("possible", "possible")
    assert answers(found, "110", "pve1")[0] == "blocked"


def test_enforced_and_unguarded_guests_are_told_apart(command: Command, lab: Path) -> None:
    found = told(command, lab)
    enforced = move(found, "125", "pve1")["reasons"][0]
    assert (enforced["code"], enforced["blocks"]) == ("MIG001", ["live", "cold"])
    assert "avx2" in enforced["features"]
    unguarded = move(found, "126", "pve1")
    assert unguarded["cold"] == "possible"
    assert unguarded["reasons"][0]["code"] == "MIG002"
    assert "avx512f" in unguarded["reasons"][0]["features"]


def test_the_matrix_is_as_it_was(command: Command, lab: Path) -> None:
    answer = check(command, lab)
    assert answer.code == 0
    golden.check("report/migrate-matrix.txt", answer.output)
    assert check(command, lab, "--matrix").code == 0


def test_the_reasons_are_as_they_were(command: Command, lab: Path) -> None:
    answer = check(command, lab, "--vm", "126,130")
    assert answer.code == 1
    golden.check("report/migrate-reasons.txt", answer.output)


def test_the_plan_is_as_it_was(command: Command, lab: Path) -> None:
    answer = check(command, lab, "--evacuate", "pve3")
    assert answer.code == 1
    golden.check("report/migrate-plan.txt", answer.output)


def test_the_json_is_as_it_was(command: Command, lab: Path) -> None:
    found = told(command, lab, "--vm", "125", "--vm", "120")
    del found["run"]
    golden.check("report/migrate.json", json.dumps(found, indent=1) + "\n")


def test_a_plan_keeps_to_the_schema_and_to_the_answers(command: Command, lab: Path) -> None:
    found = told(command, lab, "--evacuate", "pve3")
    steps = {step["guest"]: step for step in found["plan"]["steps"]}
    assert {item["guest"] for item in found["moves"]} == set(steps)
    for step in steps.values():
        if step["how"] in ("live", "cold"):
            one = move(found, step["guest"].rpartition("/")[2], step["to"].rpartition("/")[2])
            assert one[step["how"]] == "possible"
    loads = found["plan"]["loads"]
    moved = [step for step in steps.values() if step["how"] in ("live", "cold")]
    assert sum(item["after"] - item["before"] for item in loads) == len(moved)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((), 0),
        (("--strict",), 3),
        (("--vm", "102"), 0),
        (("--vm", "pfsense", "--to", "pve2"), 0),
        (("--vm", "homelab/102", "--to", "pve4"), 0),
        (("--vm", "102", "--to", "pve4", "--strict"), 3),
        (("--vm", "103"), 1),
        (("--to", "pve1"), 1),
        (("--vm", "125", "--to", "homelab/pve1"), 1),
        (("--vm", "125", "--to", "pve1", "--cpu", "x86-64-v2"), 1),  # the rule of HA
        (("--vm", "123", "--to", "pve1", "--cpu", "x86-64-v4"), 1),
        (("--vm", "123", "--to", "pve1", "--cpu", "x86-64-v2"), 0),
        (("--vm", "999"), 2),
        (("--to", "pve9"), 2),
        (("--vm", "123", "--cpu", "NoSuch"), 2),
        (("--evacuate", "pve9"), 2),
        (("--evacuate", "pve3", "--to", "pve3"), 2),
        (("--evacuate", "pve3", "--to", "pve1,pve3"), 2),
        (("--evacuate", "pve3", "--vm", "101"), 2),
    ],
)
def test_exit_codes(command: Command, lab: Path, words: tuple[str, ...], code: int) -> None:
    assert check(command, lab, *words).code == code


def test_what_is_not_there_is_named(command: Command, lab: Path) -> None:
    answer = check(command, lab, "--to", "pve9")
    assert "there is no node 'pve9'; there are homelab/pve1, " in answer.errors
    assert answer.errors.endswith("homelab/pve4\n")
    many = check(command, lab, "--vm", "999")
    assert "there is no guest '999'; there are homelab/101, " in many.errors
    assert many.errors.endswith(" and 12 more\n")


def test_a_node_of_two_clusters_is_not_emptied_by_a_guess(
    command: Command, lab: Path, tmp_path: Path
) -> None:
    text = lab.read_text(encoding="utf-8").replace("homelab", "garage")
    other = tmp_path / "garage.json"
    other.write_text(text.replace("pve1.example", "garage.example"), encoding="utf-8")
    answer = check(command, lab, str(other), "--evacuate", "pve3")
    assert (answer.code, answer.output) == (2, "")
    assert "that may be garage/pve3, homelab/pve3; name one of them" in answer.errors
    one = check(command, lab, str(other), "--evacuate", "garage/pve3")
    assert "To empty" in one.output


def test_a_target_that_cannot_be_read_ends_with_3(command: Command, tmp_path: Path) -> None:
    answer = command("migrate-check", str(tmp_path / "nothing.json"))
    assert answer.code in (2, 3)
    assert answer.output == ""


def test_what_was_read_can_be_saved_and_gives_the_same(
    command: Command, lab: Path, tmp_path: Path
) -> None:
    again = tmp_path / "again.json"
    assert check(command, lab, "--save", str(again)).code == 0
    assert told(command, again)["moves"] == told(command, lab)["moves"]


def test_names_from_outside_do_not_reach_the_terminal(
    command: Command, lab: Path, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.json"
    text = lab.read_text(encoding="utf-8").replace('"pfsense"', '"pf\\u001b]0;t\\u0007sense"')
    bad.write_text(text, encoding="utf-8")
    for words in ((), ("--vm", "102"), ("--evacuate", "pve1")):
        assert "\x1b" not in check(command, bad, *words).output


def test_a_copy_of_files_leaves_unknown_what_it_does_not_tell(command: Command) -> None:
    found = told(command, golden.ROOT / "examples" / "homelab")
    assert not {item["live"] for item in found["moves"]} & {"possible"}
    assert {item["cold"] for item in found["moves"]} == {"blocked", "unknown"}


@pytest.mark.parametrize(
    ("words", "code"), [((), 0), (("--vm", "101"), 1), (("--evacuate", "one"), 1)]
)
def test_a_node_that_is_alone(
    command: Command, tmp_path: Path, words: tuple[str, ...], code: int
) -> None:
    alone = tmp_path / "alone.json"
    read_before = move_case.inventory({"lab/one": "broadwell"}, [{}])
    alone.write_text(saved.dump(read_before), encoding="utf-8")
    answer = check(command, alone, *words)
    assert answer.code == code
    assert "There is no move to judge" in answer.output
