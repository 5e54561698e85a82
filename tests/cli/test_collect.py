"""`unmask collect`: what was read is saved, whole and for its owner alone, and judged nowhere."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from support.golden import ROOT
from support.unmask_command import Answer, unmask
from unmask.dialects import saved

Command = Callable[..., Answer]
HOMELAB = str(ROOT / "examples" / "homelab")


def collect(command: Command, *words: str) -> Answer:
    return command("collect", *words)


def test_a_site_is_saved_and_named_like_its_file(command: Command, tmp_path: Path) -> None:
    answer = collect(command, HOMELAB, "--save", "berlin.json")
    assert answer.code == 0
    assert answer.output == ""
    assert answer.errors == (
        "unmask: collected 22 guests on 3 hosts, of the site berlin; to judge it: "
        "unmask audit berlin.json\n"
    )
    path = tmp_path / "berlin.json"
    assert path.stat().st_mode & 0o777 == 0o600
    inventory = saved.load(path.read_text())
    assert {guest.site for guest in inventory.guests} == {"berlin"}
    assert {host.subject for host in inventory.hosts} == {
        f"berlin:homelab/{name}" for name in ("alder", "birch", "cedar")
    }
    assert sorted(item.name for item in tmp_path.iterdir()) == ["berlin.json"]


def test_a_site_has_the_name_that_is_given(command: Command, tmp_path: Path) -> None:
    assert collect(command, HOMELAB, "--save", "monday.json", "--site", "fra-1").code == 0
    assert '"fra-1:homelab/101"' in (tmp_path / "monday.json").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--save", "two words.json"), "'two words' cannot be a site's name"),
        (("--save", "a.json", "--site", "a:b"), "'a:b' cannot be a site's name"),
        (("--save", "a.json", "--site", "x" * 65), "cannot be a site's name"),
        (("--save", "-"), "--save - has no name to call the site by: add --site NAME"),
        (("--save", "no/where/a.json"), "no/where/a.json: cannot be written: its directory"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_read(
    command: Command, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    answer = collect(command, "/does/not/exist", *words)
    assert answer.code == 2
    assert said in answer.errors
    assert "/does/not/exist" not in answer.errors
    assert not list(tmp_path.iterdir())


def test_nothing_is_collected_without_a_place_to_save_it(command: Command) -> None:
    answer = collect(command, HOMELAB)
    assert answer.code == 2
    assert "--save" in answer.errors


def test_what_was_read_is_saved_although_a_target_failed(command: Command, tmp_path: Path) -> None:
    answer = collect(command, HOMELAB, "pve+ssh://127.0.0.1:1", "--save", "b.json")
    assert answer.code == 3
    first, last = answer.errors.splitlines()
    assert "127.0.0.1" in first
    assert last.startswith("unmask: collected 22 guests on 3 hosts, with 1 gap, of the site b;")
    inventory = saved.load((tmp_path / "b.json").read_text())
    assert [gap.subject for gap in inventory.gaps] == ["b:pve+ssh://127.0.0.1:1"]
    judged = command("audit", "b.json", "--format", "json", "--fail-on", "never")
    assert judged.code == 0
    assert judged.report["gaps"][0]["subject"] == "b:pve+ssh://127.0.0.1:1"
    assert not judged.report["run"]["complete"]


def test_nothing_is_saved_where_nothing_was_read(command: Command, tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text("earlier")
    answer = collect(command, "pve+ssh://127.0.0.1:1", "--save", "b.json")
    assert answer.code == 3
    assert answer.errors.endswith("nothing could be read, and nothing was saved\n")
    assert (tmp_path / "b.json").read_text() == "earlier"


def test_a_site_on_standard_output(tmp_path: Path) -> None:
    piped = unmask("collect", HOMELAB, "--save", "-", "--site", "b", directory=tmp_path)
    filed = unmask("collect", HOMELAB, "--save", "b.json", directory=tmp_path)
    assert piped.code == filed.code == 0
    assert piped.output == (tmp_path / "b.json").read_text()
    assert piped.errors.endswith("unmask audit FILE\n")


def test_sites_are_audited_together(command: Command) -> None:
    for name in ("berlin", "munich"):
        assert collect(command, HOMELAB, "--save", f"{name}.json").code == 0
    apart = [_findings(command, f"{name}.json") for name in ("berlin", "munich")]
    together = _findings(command, "berlin.json", "munich.json", "--save", "all.json")
    assert together == sorted([*apart[0], *apart[1]])
    assert _findings(command, "all.json") == together
    table = command("audit", "berlin.json", "munich.json", "--fail-on", "never")
    assert table.output.startswith("SITE")
    assert table.errors == ""
    alone = command("audit", "berlin.json", "--fail-on", "never")
    assert alone.output.startswith("GUEST")


def _findings(command: Command, *words: str) -> list[tuple[str, str, str]]:
    answer = command("audit", *words, "--format", "json", "--fail-on", "never")
    report = answer.report
    assert {guest["site"] for guest in report["guests"]} <= {"berlin", "munich"}
    return sorted((item["subject"], item["code"], item["message"]) for item in report["findings"])


def test_a_guest_of_one_of_several_sites(command: Command) -> None:
    for name in ("berlin", "munich"):
        collect(command, HOMELAB, "--save", f"{name}.json")
    command("audit", "berlin.json", "munich.json", "--save", "all.json", "--fail-on", "never")
    plan = ("fix", "all.json", "--cpu", "host", "--dry-run", "--format", "json", "--vm")
    several = command(*plan, "101")
    assert several.code == 2
    assert (
        "several guests are called so; name one of berlin:homelab/101, munich:h" in several.errors
    )
    for name in ("munich:homelab/101", "munich:101", "munich:truenas"):
        planned = command(*plan, name)
        assert planned.code == 0, planned.errors
        (guest,) = json.loads(planned.output)["guests"]
        assert (guest["subject"], guest["node"]) == ("munich:homelab/101", "alder")
    wrong = command(*plan, "paris:101")
    assert "--vm paris:101: there is no such guest" in wrong.errors


def test_moves_and_models_name_their_sites(command: Command) -> None:
    for name in ("berlin", "munich"):
        collect(command, HOMELAB, "--save", f"{name}.json")
    matrix = command("migrate-check", "berlin.json", "munich.json").output
    assert "berlin:homelab/alder" in matrix
    assert "munich:101 " in matrix
    one = command("migrate-check", "berlin.json", "munich.json", "--vm", "munich:101")
    assert "berlin" not in one.output
    nodes = command("baseline", "berlin.json", "munich.json").output
    assert "munich:homelab/cedar" in nodes
    some = command("baseline", "berlin.json", "munich.json", "--nodes", "munich:alder,munich:birch")
    assert "cedar" not in some.output


def test_a_file_of_no_site_gets_one(command: Command, tmp_path: Path) -> None:
    command("audit", HOMELAB, "--save", "old.json", "--fail-on", "never")
    assert '"site"' not in (tmp_path / "old.json").read_text()
    assert collect(command, "old.json", "--save", "berlin.json").code == 0
    assert collect(command, HOMELAB, "--save", "again.json", "--site", "berlin").code == 0
    one, two = (saved.load((tmp_path / name).read_text()) for name in ("berlin.json", "again.json"))
    assert one.guests == two.guests


def test_a_copy_elsewhere_is_the_same_site(command: Command, tmp_path: Path) -> None:
    collect(command, HOMELAB, "--save", "berlin.json")
    shutil.copy(tmp_path / "berlin.json", tmp_path / "copy.json")
    answer = command("audit", "berlin.json", "copy.json", "--fail-on", "never")
    assert answer.errors == ""
    assert _findings(command, "berlin.json", "copy.json") == _findings(command, "berlin.json")
