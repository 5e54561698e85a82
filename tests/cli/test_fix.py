"""`unmask fix` on the lab: the change, the proof, and what is told where it does not go."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

from support import fix_lab, golden
from support.fake_target import place
from support.fix_command import Command, FixLab
from unmask.cli import changing, settling
from unmask.fixes import run
from unmask.lab.lab import Lab
from unmask.model.change import Constraint, Plan, Setting
from unmask.model.run import Run

SCHEMA = json.loads((golden.ROOT / "docs/fix.schema.json").read_text(encoding="utf-8"))
HOST = ("--ack", "MIG002", "--ack", "MIG009", "--ack", "RST001", "--yes")
NAS = "nodes/pve1/qemu-server/101.conf"
PUT = "PUT /nodes/{node}/qemu/{vmid}/config"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    fix_lab.impatient(monkeypatch)
    with Lab(pace=0) as made:
        yield made


@pytest.fixture
def lab(server: Lab, command: Command, tmp_path: Path) -> FixLab:
    return FixLab(server, command, tmp_path)


def changed(lab: FixLab, before: dict[str, str]) -> list[str]:
    """Return the files of the cluster that are not as they were."""
    now = lab.lab.tree()
    return sorted(path for path in {*before, *now} if before.get(path) != now.get(path))


def history() -> Run:
    return changing.book().runs()[-1]


def test_one_guest_is_changed_and_nothing_else(lab: FixLab) -> None:
    before = dict(lab.lab.tree())
    answer = lab.fix("101", "host", *HOST, "--reason", "encrypted ZFS")
    assert (answer.code, answer.errors) == (0, "")
    assert lab.writes == [PUT]
    assert changed(lab, before) == [NAS]
    assert "cpu: host" in lab.lab.tree()[NAS]
    assert "homelab/101 (truenas): changed." in answer.output
    assert f"unmask undo {history().ident} --" in " ".join(answer.output.split())


def test_the_journal_has_who_took_on_what_and_why(lab: FixLab) -> None:
    lab.fix("101", "host", *HOST, "--reason", "encrypted ZFS")
    (guest,) = history().guests
    assert [item.code for item in guest.acknowledgements] == ["MIG002", "MIG009", "RST001"]
    assert {item.reason for item in guest.acknowledgements} == {"encrypted ZFS"}
    assert all(item.text and item.user and item.host for item in guest.acknowledgements)


def test_a_second_time_there_is_nothing_to_change(lab: FixLab) -> None:
    lab.fix("101", "host", *HOST)
    answer = lab.fix("101", "host", *HOST)
    assert answer.code == 0
    assert lab.writes == []
    assert "waits for a stop and start" in " ".join(answer.output.split())


def test_undo_takes_it_back(lab: FixLab) -> None:
    before = dict(lab.lab.tree())
    lab.fix("101", "host", *HOST)
    assert lab.run("undo", history().ident).code == 0
    assert changed(lab, before) == []


def test_the_report_for_programs(lab: FixLab) -> None:
    for words in ((), HOST):
        answer = lab.fix("101", "host", "--format", "json", *words)
        jsonschema.validate(answer.report, SCHEMA)
    (guest,) = answer.report["guests"]
    assert answer.report["run_id"] == history().ident
    assert guest["result"]["phase"] == "done"
    assert guest["plan"]["after"]["value"] == "host"
    assert {item["acknowledged"] for item in guest["constraints"]} == {True}
    assert guest["steps"][0]["command"] == "qm set 101 --cpu host"


def test_restart_and_proof(lab: FixLab) -> None:
    lab.options, lab.token = (), "root"
    answer = lab.fix("101", "host", *HOST, "--restart", "--verify", "--format", "json")
    assert answer.code == 0, answer.output
    (guest,) = answer.report["guests"]
    proof = " ".join(guest["result"]["proof"])
    assert "The guest itself sees AES-NI" in proof
    assert "zfs tank: software before, hardware now." in proof
    assert {item["workload"] for item in guest["plan"]["workloads"]} >= {"zfs tank", "tls nginx"}


def test_only_the_guest_that_is_named_is_looked_into(lab: FixLab) -> None:
    lab.options, lab.token = (), "root"
    lab.fix("101", "host")
    asked = [seen.path for seen in lab.lab.seen[lab.since :] if "/agent/" in seen.path]
    assert asked
    assert all("/qemu/101/" in path for path in asked)


def test_a_custom_model_is_made_and_assigned(lab: FixLab) -> None:
    before = dict(lab.lab.tree())
    acks = ("--ack", "MIG001,RST001,RST011", "--yes")
    answer = lab.fix("101", "custom-unmask", *acks)
    assert answer.code == 0, answer.output
    assert changed(lab, before) == [NAS, "virtual-guest/cpu-models.conf"]
    assert "cpu-model: unmask" in lab.lab.tree()["virtual-guest/cpu-models.conf"]
    assert "cpu: custom-unmask" in lab.lab.tree()[NAS]


def test_two_guests_get_a_custom_model_that_is_made_once(lab: FixLab) -> None:
    acks = ("--ack", "MIG001,RST001,RST011", "--yes")
    answer = lab.fix("101,103", "custom-unmask", *acks)
    assert answer.code == 0, answer.output
    assert lab.writes.count("POST /cluster/qemu/custom-cpu-models") == 1
    assert "cpu: custom-unmask" in lab.lab.tree()["nodes/pve1/qemu-server/103.conf"]


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("no-quorum", "homelab/101 (truenas): not changed."),
        ("5xx=1@qemu/101/config", "looks what the guests have now."),
    ],
)
def test_a_cluster_that_takes_nothing(lab: FixLab, fault: str, said: str) -> None:
    lab.options = ("--no-probe", "--timeout", "10")
    before = dict(lab.lab.tree())
    late = run.apply

    def faulty(*words: object, **more: object) -> object:
        lab.lab.set_fault(fault)
        return late(*words, **more)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "apply", faulty)
        answer = lab.fix("101", "host", *HOST)
    assert answer.code == 4
    assert changed(lab, before) == []
    assert said in " ".join(answer.output.split())


def test_nothing_new_is_begun_while_an_earlier_run_is_not_settled(lab: FixLab) -> None:
    test_a_cluster_that_takes_nothing(lab, "5xx=1@qemu/101/config", "unmask recover")
    lab.lab.clear_faults()
    answer = lab.fix("101", "host", *HOST)
    assert answer.code != 0
    assert "run `unmask recover`" in answer.errors
    assert lab.writes == []


def test_a_token_that_may_only_read(lab: FixLab) -> None:
    lab.token = "audit"
    before = dict(lab.lab.tree())
    answer = lab.fix("101", "host", *HOST)
    assert answer.code == 4
    assert "VM.Config.CPU" in answer.output
    assert changed(lab, before) == []


def test_somebody_changes_the_guest_in_between(
    lab: FixLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply = run.apply

    def late(*words: object, **more: object) -> object:
        fix_lab.edit(lab.lab, NAS, "cpu: x86-64-v2", "cpu: kvm64")
        return apply(*words, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(run, "apply", late)
    answer = lab.fix("101", "host", *HOST)
    assert answer.code == 4
    assert "plan it again" in " ".join(answer.output.split())
    assert "cpu: kvm64" in lab.lab.tree()[NAS]
    assert lab.writes == []


def test_a_cost_that_appears_in_between_stops_it(
    lab: FixLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply = run.apply

    def late(*words: object, **more: object) -> object:
        lab.lab.cluster.files[NAS] = lab.lab.cluster.files[NAS].rstrip("\n") + "\nlock: backup\n"
        return apply(*words, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(run, "apply", late)
    answer = lab.fix("101", "host", *HOST)
    assert answer.code == 4
    assert lab.writes == []


def test_many_guests_stop_at_the_first_failure(
    lab: FixLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply = run.apply

    def late(*words: object, **more: object) -> object:
        fix_lab.edit(lab.lab, "nodes/pve2/qemu-server/111.conf", "cpu: kvm64", "cpu: qemu64")
        return apply(*words, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(run, "apply", late)
    answer = lab.fix("111,121", "Westmere", "--ack", "MIG001,RST001", "--yes")
    assert answer.code == 4
    assert "homelab/111 (rhel9-app): not changed." in answer.output
    assert "homelab/121 (old-nas): not begun." in answer.output
    assert lab.writes == []


def test_what_keep_going_leaves_out(lab: FixLab) -> None:
    before = dict(lab.lab.tree())
    answer = lab.fix("111,113", "Westmere", "--ack", "MIG001", "--yes", "--keep-going")
    assert changed(lab, before) == ["nodes/pve2/qemu-server/111.conf"]
    assert answer.code == 0


def test_all_guests_with_a_finding(lab: FixLab) -> None:
    lab.options, lab.token = (), "root"
    answer = lab.run(
        "fix", f"pve://{lab.lab.address}", "--all", "--select", "CRY001", "--cpu", "recommended",
        "--format", "json", "--dry-run",
    )  # fmt: skip
    assert answer.code == 0
    assert [guest["id"] for guest in answer.report["guests"]] == ["101"]
    assert answer.report["guests"][0]["plan"]["after"]["value"] == "SandyBridge"


def test_a_diff_is_a_patch(lab: FixLab) -> None:
    answer = lab.fix("101", "+aes", "--diff")
    assert answer.output == (
        "--- a/qemu-server/101.conf\n+++ b/qemu-server/101.conf\n@@ -1 +1 @@\n"
        "-cpu: x86-64-v2\n+cpu: x86-64-v2,flags=+aes\n"
    )


def test_only_guests_that_are_off(lab: FixLab) -> None:
    answer = lab.fix("101", "host", *HOST, "--when-stopped")
    assert answer.code == 4
    assert "only stopped ones were to be changed" in " ".join(answer.output.split())
    assert lab.writes == []


def test_answers_at_a_terminal(lab: FixLab, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def yes(question: str) -> bool:
        asked.append(question)
        return True

    monkeypatch.setattr(settling, "at_terminal", lambda: True)
    monkeypatch.setattr(settling, "asked", yes)
    answer = lab.fix("101", "host")
    assert answer.code == 0, answer.output
    assert [question.split(": ")[1].split()[0] for question in asked[:3]] == [
        "MIG002",
        "MIG009",
        "RST001",
    ]
    assert asked[3] == "Change this guest now?"
    assert lab.writes == [PUT]


@pytest.mark.parametrize("refused", ["MIG009", "now?"])
def test_one_no_is_enough(lab: FixLab, monkeypatch: pytest.MonkeyPatch, refused: str) -> None:
    monkeypatch.setattr(settling, "at_terminal", lambda: True)
    monkeypatch.setattr(settling, "asked", lambda question: refused not in question)
    assert lab.fix("101", "host").code == 2
    assert lab.writes == []


def test_a_copy_of_files_is_planned_and_not_changed(lab: FixLab, tmp_path: Path) -> None:
    saved = tmp_path / "saved.json"
    lab.run("audit", f"pve://{lab.lab.address}", "--no-probe", "--save", str(saved))
    answer = lab.command("fix", str(saved), "--vm", "101", "--cpu", "host", *HOST)
    assert answer.code == 2
    assert "+cpu: host" in answer.output
    assert "is a copy of files" in " ".join(answer.output.split())
    again = lab.command("fix", str(saved), "--vm", "101", "--cpu", "host", "--dry-run")
    assert again.code == 0


def test_what_is_taken_on_is_that_of_the_plan() -> None:
    """Only what was asked about and answered with yes becomes acknowledged."""
    costs = (Constraint("A", "a"), Constraint("B", "b"), Constraint("C", "c", fatal=True))
    plan = Plan(place(), "host", Setting(None), Setting("host"), constraints=costs)
    found = settling.acknowledged(plan, lambda _, item: item.code != "B")
    assert [item.acknowledged for item in found.constraints] == [True, False, False]
