"""`unmask lab` as a process: ready file, end by time and by signal, errors in one line."""

import json
import os
import signal
import ssl
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from unmask.lab.lab import Lab

PROGRAM = """
import sys
from unmask.cli.root import command
from unmask.errors import UnmaskError
try:
    command("lab").main(sys.argv[1:], prog_name="unmask lab")
except UnmaskError as error:
    sys.exit(f"{error.exit_code} {error}")
"""


def started(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
    )


@contextmanager
def serving(ready: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], Any]]:
    process = started("--port", "0", "--ready-file", str(ready), *arguments)
    try:
        deadline = time.monotonic() + 20
        while not ready.exists() and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.02)
        yield process, json.loads(ready.read_text(encoding="utf-8"))
    finally:
        process.terminate()  # KILL would leave its folder
        try:
            process.communicate(timeout=10)
        finally:
            process.kill()


def fetch(told: Any, path: str) -> Any:
    request = urllib.request.Request(
        f"{told['url']}/api2/json{path}",
        headers={"Authorization": f"PVEAPIToken={told['tokens']['audit']}"},
    )
    context = ssl.create_default_context(cafile=told["ca"])
    with urllib.request.urlopen(request, timeout=10, context=context) as answer:
        return json.load(answer)["data"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_serves_until_a_signal_and_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    with serving(tmp_path / "ready.json", "--pve-version", "8.4") as (process, told):
        assert fetch(told, "/version")["release"] == "8.4"
        process.send_signal(number)
        out, err = process.communicate(timeout=10)
    assert process.returncode == 0
    assert err == ""
    assert told["url"] in out
    assert told["tokens"]["fix"] in out
    assert out.endswith("The lab has ended; nothing of it is left.\n")
    assert not Path(told["ca"]).parent.exists()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_it_starts_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    process = started("--port", "0", TMPDIR=str(tmp_path))
    deadline = time.monotonic() + 20
    while not list(tmp_path.glob("unmask-lab-*")) and time.monotonic() < deadline:
        time.sleep(0.0005)
    process.send_signal(number)
    _, err = process.communicate(timeout=10)
    assert (process.returncode, err) == (0, "")
    assert not list(tmp_path.iterdir())


def test_many_signals_at_once_end_it_once(tmp_path: Path) -> None:
    for _ in range(3):
        with serving(tmp_path / "ready.json") as (process, _told):
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) * 30:
                process.send_signal(number)
            out, err = process.communicate(timeout=10)
        assert (process.returncode, err) == (0, "")
        assert out.count("The lab has ended") == 1


def test_a_lab_without_a_terminal_goes_on_when_that_is_closed(tmp_path: Path) -> None:
    ignored = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does; it is inherited
    try:
        with serving(tmp_path / "ready.json") as (process, told):
            process.send_signal(signal.SIGHUP)
            assert fetch(told, "/version")
    finally:
        signal.signal(signal.SIGHUP, ignored)


def test_ends_by_itself() -> None:
    process = started("--port", "0", "--for", "0.1", "--fault", "latency=0")
    _, err = process.communicate(timeout=20)
    assert process.returncode == 0, err


def test_the_commands_to_try_work(tmp_path: Path) -> None:
    """They are run as they are printed."""
    with serving(tmp_path / "ready.json") as (process, _):
        assert process.stdout is not None
        lines = list(iter(process.stdout.readline, "Ctrl-C ends it.\n"))
        looks, _, changes = "".join(lines[lines.index("Try:\n") + 1 :]).partition("\n\n")
        script = changes.partition("\n")[2]  # a sentence comes first
        first, inside, page, check, less, changed = [
            subprocess.run(
                ["/bin/sh", "-c", command],
                cwd=tmp_path,
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
                env=os.environ
                | {
                    "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                    "XDG_STATE_HOME": str(tmp_path / "state"),
                },
            )
            for command in (*looks.splitlines(), script)
        ]
    assert (first.returncode, first.stderr) == (1, "")  # there are findings
    assert "101 truenas" in first.stdout
    assert (inside.returncode, inside.stderr) == (1, "")
    shut = "may not use guest agents"
    assert (shut in " ".join(first.stdout.split())) > (shut in " ".join(inside.stdout.split()))
    assert (page.returncode, page.stdout) == (1, "")
    assert "101 truenas" in (tmp_path / "report.html").read_text("utf-8")
    assert (check.returncode, check.stderr) == (0, "")
    assert "  audit: works" in check.stdout
    assert "VM.Audit on /vms, propagated" in less.stdout
    assert "110" not in less.stdout
    assert (changed.returncode, changed.stderr) == (0, "")
    assert "zfs tank: software before, hardware now." in changed.stdout
    assert changed.stdout.rstrip().splitlines()[-1].startswith("20")  # a line of the history


def test_a_ready_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    ready = tmp_path / "absent" / "ready.json"
    process = started("--port", "0", "--ready-file", str(ready))
    _, err = process.communicate(timeout=20)
    assert err == f"2 {ready}: cannot be written: No such file or directory\n"


def test_a_lab_that_does_not_start_leaves_the_ready_file_of_another(tmp_path: Path) -> None:
    ready = tmp_path / "ready.json"
    with serving(ready) as (_, told):
        port = told["url"].rpartition(":")[2]
        second = started("--port", port, "--ready-file", str(ready))
        _, err = second.communicate(timeout=20)
        assert "Address already in use" in err
        assert json.loads(ready.read_text(encoding="utf-8")) == told


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--pve-version", "5.0"), "2 The lab does not play Proxmox VE 5.0"),
        (("--fault", "fire"), "2 The lab knows no fault 'fire'"),
        (("--fault", "latency=x"), "2 The value of the fault 'latency=x' must be a number"),
        (("--fault", "node-down=9"), "2 The lab has 4 nodes"),
        (("--ready-file", ""), "2 .: cannot be written"),
    ],
)
def test_wrong_options_are_told_in_one_line(arguments: tuple[str, ...], said: str) -> None:
    process = started("--port", "0", *arguments)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 1
    assert out == ""
    assert err.startswith(said)
    assert err.count("\n") == 1


def test_a_port_in_use_is_told_in_one_line() -> None:
    with Lab() as lab:
        process = started("--port", str(lab.port))
        _, err = process.communicate(timeout=20)
    assert "Address already in use; choose another port with --port" in err
    assert err.count("\n") == 1


def test_a_missing_package_is_named(tmp_path: Path) -> None:
    package = tmp_path / "cryptography"
    package.mkdir()
    missing = "raise ModuleNotFoundError('No module', name='cryptography')"
    (package / "__init__.py").write_text(missing, encoding="utf-8")
    process = started("--port", "0", PYTHONPATH=str(tmp_path))
    _, err = process.communicate(timeout=20)
    assert "needs the Python package cryptography, which is not installed: run " in err
    assert err.endswith("-m pip install cryptography\n")
