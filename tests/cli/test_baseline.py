"""`unmask baseline`: options, exit codes, files, and the emulated cluster."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from support import golden
from support.nodes import host
from support.unmask_command import Answer
from unmask.dialects import saved
from unmask.lab.lab import Lab
from unmask.model.inventory import Cluster, Inventory, Platform

Command = Callable[..., Answer]
HOMELAB = str(golden.ROOT / "examples/homelab")
SCHEMA: dict[str, Any] = json.loads((golden.ROOT / "docs/baseline.schema.json").read_text())
CPUINFO = """\
processor\t: 0
vendor_id\t: GenuineIntel
cpu family\t: 6
model name\t: Old Xeon
flags\t\t: fpu cx8 cmov fxsr mmx sse sse2 syscall lm pni cx16 lahf_lm ssse3 sse4_1 sse4_2 popcnt
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Return a saved inventory of two nodes."""
    hosts = (host("one", "Haswell-noTSX"), host("two", "Broadwell-noTSX"))
    clusters = (Cluster("lab", "lab", Platform.PROXMOX),)
    path = tmp_path / "site.json"
    path.write_text(saved.dump(Inventory(("lab",), hosts, clusters=clusters)))
    return path


def answer(command: Command, *words: str) -> dict[str, Any]:
    done = command("baseline", *words, "--format", "json")
    assert done.code == 0, done.errors
    jsonschema.Draft202012Validator(SCHEMA).validate(done.report)
    return done.report


def test_the_example_cluster(command: Command) -> None:
    report = answer(command, HOMELAB)
    assert [item["name"] for item in report["nodes"]] == ["alder", "birch", "cedar"]
    assert report["held_back"]["cedar"] == ["aes"]
    assert report["needs"]["flags"][0] == "aes"
    assert report["needs"]["origin"] == "what the guests' encrypted work needs"
    assert report["models"][0]["name"] == "x86-64-v2"
    only = answer(command, HOMELAB, "--nodes", "birch")
    assert only["models"][0]["shows"] == only["needs"]["flags"]
    assert {"aes", "pclmulqdq", "vaes"} <= set(only["common_flags"])


def test_nodes_by_name_and_by_comma(command: Command, site: Path) -> None:
    both = answer(command, str(site), "--nodes", "one,two")
    assert both == answer(command, str(site), "--nodes", "one", "--nodes", "lab/two") | {
        "run": both["run"]
    }
    done = command("baseline", str(site), "--nodes", "three")
    assert done.code == 2
    assert "there is no node 'three'; there are one, two" in done.errors


def test_needs_by_name_in_any_spelling(command: Command, site: Path) -> None:
    report = answer(command, str(site), "--need", "sse4.1,pclmuldq", "--need", "AESNI")
    assert report["needs"]["flags"] == ["sse4_1", "pclmulqdq", "aes"]
    assert report["needs"]["origin"] == "named with --need"
    done = command("baseline", str(site), "--need", "aes,warp")
    assert done.code == 2
    assert "--need warp: no flag is called that" in done.errors


def test_a_new_node_from_a_file(command: Command, site: Path, tmp_path: Path) -> None:
    path = tmp_path / "new-node"
    path.write_text(CPUINFO)
    report = answer(command, str(site), "--with", str(path), "--with", str(path))
    new = report["with"][0]
    assert new["node"] == "new-node"
    assert {"aes", "pclmulqdq", "avx2"} <= set(new["flags_lost"])
    assert (new["level_before"], new["level_after"]) == ("x86-64-v3", "x86-64-v2")
    assert "Haswell-noTSX" in new["models_lost"]
    assert len(report["with"]) == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nothing\n", "not a CPU description"),
        ("<domain/>", "describes no host"),
        ("\xff", "not UTF-8"),
    ],
)
def test_a_file_that_describes_no_machine(
    command: Command, site: Path, tmp_path: Path, text: str, words: str
) -> None:
    path = tmp_path / "new"
    path.write_bytes(text.encode("latin-1"))
    done = command("baseline", str(site), "--with", str(path))
    assert done.code == 2
    assert words in done.errors
    assert "new" in done.errors
    assert not done.output


def test_drift_since_a_saved_inventory(command: Command, site: Path, tmp_path: Path) -> None:
    then = tmp_path / "then.json"
    done = command("baseline", str(site), "--save", str(then))
    assert done.code == 0
    same = answer(command, str(site), "--compare", str(then))
    assert {item["presence"] for item in same["drift"]["nodes"]} == {"both"}
    assert not any(item["lost"] or item["gained"] for item in same["drift"]["nodes"])
    hosts = (host("one", "Haswell-noTSX", without="aes"), host("two", "Broadwell-noTSX"))
    site.write_text(saved.dump(Inventory(("lab",), hosts)))
    done = command("baseline", str(site), "--compare", str(then))
    assert done.code == 1
    assert "lab/one lost aes." in done.output
    gained = tmp_path / "gained.json"
    command("baseline", str(site), "--save", str(gained))
    site.write_text(then.read_text())
    done = command("baseline", str(site), "--compare", str(gained))
    assert done.code == 0
    assert "lab/one gained aes." in done.output


def test_what_is_no_saved_inventory_is_refused(
    command: Command, site: Path, tmp_path: Path
) -> None:
    path = tmp_path / "other.json"
    path.write_text("{}")
    done = command("baseline", str(site), "--compare", str(path))
    assert done.code == 2
    assert f"--compare {path}: not a saved inventory" in done.errors
    done = command("baseline", str(site), "--compare", str(tmp_path / "none"))
    assert done.code == 2


def test_the_report_goes_to_a_file(command: Command, site: Path, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    done = command("baseline", str(site), "--format", "json", "--output", str(path))
    assert (done.code, done.output) == (0, "")
    assert json.loads(path.read_text())["schema"] == "unmask.baseline/1"
    done = command("baseline", str(site), "--output", str(path))
    assert path.read_text().startswith("NODE")


def test_a_target_that_cannot_be_read(command: Command, site: Path, tmp_path: Path) -> None:
    done = command("baseline", str(tmp_path / "none"))
    assert done.code == 3
    assert "no such file" in done.errors
    done = command("baseline", str(site), str(tmp_path / "none"), "--format", "json")
    assert done.code == 3
    assert done.report["run"]["complete"] is False
    assert [item["name"] for item in done.report["nodes"]] == ["one", "two"]


def test_without_hosts_there_is_no_baseline(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "empty.json"
    path.write_text(saved.dump(Inventory()))
    done = command("baseline", str(path))
    assert done.code == 2
    assert "no host was read" in done.errors


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab() as made:
        yield made


def test_the_emulated_cluster(command: Command, lab: Lab) -> None:
    words = ("--config", str(lab.config_file), "--no-probe")
    report = answer(command, "lab", *words)
    names = {item["name"] for item in (*report["nodes"], *report["unknown_nodes"])}
    assert names == {"pve1", "pve2", "pve3", "pve4"}
    running = [item for item in report["models"] if item["runs_everywhere"]]
    for model in running:
        for node in report["nodes"]:
            unprinted = {"arch_capabilities", "la57"}
            printed = set(model["flags"]) - set(node["flags"]) - unprinted
            assert not printed & {"aes", "avx", "avx2", "pclmulqdq", "sse4_2"}, (model, node)
    custom = report["custom"]["proxmox"]
    for flag in custom["on"]:
        assert all(flag in node["flags"] for node in report["nodes"]), flag
    assert custom["cpu_argument"].startswith(custom["base"])


def test_guests_are_looked_into_for_what_they_need(command: Command, lab: Lab) -> None:
    looked = answer(command, "inside", "--config", str(lab.config_file), "--via", "agent")
    assert looked["needs"]["origin"] == "what the guests' encrypted work needs"
    assert {"homelab/101", "homelab/130"} <= set(looked["needs"]["guests"]["aes"])
    assert lab.written == ()


def test_nobody_is_looked_into_without_probing(command: Command, lab: Lab) -> None:
    before = len(lab.seen)
    words = ("--config", str(lab.config_file), "--no-probe")
    answer(command, "inside", *words)
    assert not [seen for seen in lab.seen[before:] if "/agent" in seen.path]
