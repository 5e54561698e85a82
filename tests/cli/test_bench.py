"""`unmask bench` from the command line: what is refused, read, saved and compared."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from typing import Any

import pytest

from support.bench_shell import SPEED
from unmask.benches import _answer
from unmask.dialects import saved_bench
from unmask.model.bench import BenchResult, Tool

from .conftest import Command

PLAIN = """\
+DT:AES-256-GCM:3:16384
+R:34243:AES-256-GCM:3.000000
+H:16384
+F:25:AES-256-GCM:187014144.00
"""
FORCED = PLAIN.replace("34243", "444946").replace("187014144.00", "2430000000.00")

OPENSSL = f"""\
case "$1" in version) echo "OpenSSL 3.0.19 27 Jan 2026"; exit;; esac
case "${{OPENSSL_ia32cap-none}}" in
    none|0x*) RATE=3000000000.00 ;;
    "~0x200000000:"*) RATE=450000000.00 ;;
    *) RATE=200000000.00 ;;
esac
{SPEED}"""


@pytest.fixture
def files(tmp_path: Path) -> None:
    (tmp_path / "plain.txt").write_text(PLAIN)
    (tmp_path / "masked.txt").write_text(PLAIN)
    (tmp_path / "forced.txt").write_text(FORCED)


@pytest.fixture
def quick_openssl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this machine have an openssl whose figures are always the same."""
    if platform.machine() != "x86_64":
        pytest.skip("only x86 has the masks")
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "openssl").write_text(f"#!/bin/sh\n{OPENSSL}\n")
    (programs / "openssl").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    # It sleeps, so that what it waits for a processor has nothing to do with its figures.
    monkeypatch.setattr(_answer, "MOST_WAITED", 0.0)


def machines(output: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(output)["machines"]
    return found


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--quick", "--thorough"), "--quick and --thorough exclude each other"),
        (("--as", "kvm64"), "--as measures a node: name it with --node"),
        (("--node", "local", "--vm", "101"), "leave out --vm and --all"),
        (("--vm", "1", "--all", "qemu:///x"), "--vm and --all exclude each other"),
        (("qemu:///system",), "say what to measure there"),
        (("ssh://web", "--vm", "101"), "--vm names guests of a hypervisor"),
        (("--algorithms", "aes;reboot", "ssh://web"), "is no name of an algorithm"),
        (("--node", "local", "--as", "x y"), "is no name of an algorithm or of a CPU model"),
        (("--masked", "x"), "belong to --read FILE"),
        (("--beside", "tank/x", "ssh://web"), "--beside belongs to --dataset"),
        (("--dataset", "tank/$(x)", "ssh://web"), "is no name of a ZFS dataset"),
        (("--tls", "web"), "is not HOST:PORT"),
        (("--iperf3", "-x", "ssh://web"), "is no host"),
        (("--compare", "missing.json", "ssh://web"), "missing.json: cannot be read"),
        (("--read", "missing.txt"), "missing.txt: cannot be read"),
    ],
)
def test_what_makes_no_sense_is_refused(
    command: Command, words: tuple[str, ...], said: str
) -> None:
    answer = command("bench", *words)
    assert answer.code == 2
    assert said in answer.errors
    assert len(answer.errors.splitlines()) == 1
    assert answer.output == ""


def test_a_file_of_something_else_is_not_compared_with(command: Command, tmp_path: Path) -> None:
    (tmp_path / "saved.json").write_text('{"schema": "unmask.inventory/1"}')
    answer = command("bench", "--compare", "saved.json", "ssh://web")
    assert answer.code == 2
    assert "saved.json: not saved by unmask bench" in answer.errors


@pytest.mark.usefixtures("files")
def test_pasted_output_is_judged(command: Command) -> None:
    words = ("--read", "plain.txt", "--masked", "masked.txt", "--forced", "forced.txt")
    answer = command("bench", *words, "--format", "json")
    assert answer.code == 0
    (one,) = machines(answer.output)
    assert one["diagnosis"]["cause"] == "hidden"
    assert {figure["setting"] for figure in one["figures"]} == {"plain", "masked", "forced"}
    assert (one["method"], one["subject"]) == ("pasted", "plain.txt")


@pytest.mark.usefixtures("files")
def test_pasted_output_is_compared_with_other_output(command: Command) -> None:
    answer = command("bench", "--read", "forced.txt", "--compare-with", "plain.txt")
    assert answer.code == 0
    assert "Since plain.txt:" in answer.output
    assert "187 MB/s before, 2430 MB/s after (13.0 times)" in answer.output


def test_what_is_no_output_gives_no_figure(command: Command, tmp_path: Path) -> None:
    (tmp_path / "plain.txt").write_bytes(b"\xff\x1b]0;x\x07 hello\n")
    answer = command("bench", "--read", "plain.txt")
    assert answer.code == 3
    assert "no figure for AES" in answer.output
    assert "MB/s" not in answer.output
    assert "\x1b" not in answer.output


@pytest.mark.usefixtures("quick_openssl")
def test_a_node_is_measured_as_models_would_leave_it(command: Command) -> None:
    words = ("--node", "local", "--as", "kvm64,host", "--algorithms", "AES-256-GCM", "--quick")
    answer = command("bench", *words, "--format", "json")
    assert answer.code == 0, answer.errors
    (one,) = machines(answer.output)
    rates = {row["model"]: row["rate"] for row in one["what_if"]}
    assert rates == {"kvm64": 200e6, "host": 3e9}
    assert one["diagnosis"] is None
    assert one["method"] == "quick what-if"


@pytest.mark.usefixtures("quick_openssl")
def test_a_model_that_does_not_exist_is_told(command: Command) -> None:
    answer = command("bench", "--node", "local", "--as", "no-such-model", "--quick")
    assert answer.code == 2
    assert "--as no-such-model: there is no such CPU model" in answer.errors


@pytest.mark.usefixtures("quick_openssl")
def test_results_are_saved_and_compared(command: Command, tmp_path: Path) -> None:
    words = ("bench", "--node", "local", "--algorithms", "aes-256-gcm", "--quick")
    saved = tmp_path / "before.json"
    assert command(*words, "--save", str(saved)).code == 0
    (result,) = saved_bench.load(saved.read_text())
    assert saved.stat().st_mode & 0o777 == 0o600
    own = [sample for sample in result.samples if sample.tool is Tool.OPENSSL]
    assert {sample.rate for sample in own} == {3e9, 450e6, 200e6}
    answer = command(*words, "--compare", str(saved), "--format", "json")
    (one,) = machines(answer.output)
    told = {change["algorithm"]: change["credit"] for change in one["changes"]}
    assert told["aes-256-gcm"] == "none"
    assert one["diagnosis"]["cause"] in ("active", "slow", "kernel-differs"), one["diagnosis"]


def test_nothing_to_compare_with_is_told(command: Command, tmp_path: Path) -> None:
    saved = tmp_path / "before.json"
    saved.write_text(saved_bench.dump(()))
    answer = command("bench", "--node", "local", "--compare", str(saved))
    assert answer.code == 2
    assert "before.json: holds no results" in answer.errors


@pytest.mark.usefixtures("quick_openssl")
def test_results_of_another_machine_are_told(command: Command, tmp_path: Path) -> None:
    saved = tmp_path / "before.json"
    saved.write_text(saved_bench.dump((BenchResult("lab/7", method="quick"),)))
    words = ("--node", "local", "--algorithms", "aes-256-gcm", "--quick", "--compare", str(saved))
    answer = command("bench", *words)
    assert answer.code == 0
    assert "hold none of this machine" in answer.output


def test_an_openssl_that_gives_no_figure_is_no_success(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "openssl").write_text('#!/bin/sh\n[ "$1" != version ] || echo OpenSSL 3.0.19\n')
    (programs / "openssl").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    words = ("--node", "local", "--algorithms", "chacha20-poly1305", "--quick")
    assert command("bench", *words).code == 3


def test_a_machine_that_cannot_be_reached_is_told(command: Command) -> None:
    answer = command("bench", "ssh://127.0.0.1:1")
    assert answer.code == 3
    assert "It could not be measured" in answer.output
