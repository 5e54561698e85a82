"""No command ever writes a secret, however much it is asked to say and whatever goes wrong."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import pve_node, sshd
from support.lab_target import address
from support.unmask_command import UNMASK
from unmask.cli.overview import COMMANDS
from unmask.lab.lab import Lab

LOUD = """
import http.client, logging, sys
import paramiko, proxmoxer.backends.https, proxmoxer.core  # which quieten themselves
logging.basicConfig(level=logging.DEBUG)
for name in ("paramiko", "proxmoxer", "proxmoxer.core", "proxmoxer.backends.https", "urllib3"):
    logging.getLogger(name).setLevel(logging.DEBUG)
from unmask.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
"""Runs a command line with all that any library logs."""


ACKNOWLEDGED = [word for number in range(1, 17) for word in ("--ack", f"MIG{number:03}")]
ACKNOWLEDGED += [word for number in range(1, 12) for word in ("--ack", f"RST{number:03}")]


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab() as made:
        yield made


def secrets(lab: Lab) -> set[str]:
    found = {token.partition("=")[2] for token in lab.tokens.values()}
    return found | set(lab.passwords.values()) | {"PVE:", "PVE%3A"}


def loud(folder: Path, words: tuple[str, ...], **environment: str) -> tuple[str, str]:
    """Run a command line loudly and return what it has printed and said, files to the latter."""
    python = Path(UNMASK).with_name("python")
    done = subprocess.run(
        [python, "-c", LOUD, *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "UNMASK_DEBUG": "1", "HOME": str(folder), **environment},
    )
    written = [path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file()]
    return done.stdout, "\n".join([done.stderr, *written])


def ran(lab: Lab, folder: Path, words: tuple[str, ...], **environment: str) -> str:
    """Run a command line loudly, look for the lab's secrets, and return all that it has written."""
    text = "\n".join(loud(folder, words, **environment))
    leaked = [secret for secret in secrets(lab) if secret in text]
    assert not leaked, f"{words} has written {leaked}"
    return text


def commands(lab: Lab) -> list[tuple[str, ...]]:
    """Return command lines that use every command, well and badly."""
    ca = ("--ca-file", str(lab.ca_file))
    target = address(lab)
    return [
        ("audit", target, *ca, "--verbose", "--save", "saved.json", "--output", "report.json"),
        ("audit", target, *ca, "-v", "--format", "json"),
        ("audit", target, "-v"),
        ("audit", target, *ca, "-v", "--timeout", "1"),
        ("audit", "pve://127.0.0.1:1", "-v"),
        ("audit", f"pve://left@pve@{lab.address}", *ca, "-v"),
        ("config", "check", target, *ca),
        ("config", "check", target),
        ("models", "--help"),
        ("doctor", target, *ca),
        ("doctor", target, "--format", "json"),
        ("migrate-check", target, *ca, "-v", "--save", "moves.json", "--output", "moves.txt"),
        ("migrate-check", target, *ca, "-v", "--format", "json"),
        ("explain", "CPU001"),
        ("baseline", target, *ca, "-v", "--save", "nodes.json", "--output", "nodes.txt"),
        ("bench", target, *ca, "-v", "--vm", "101", "--quick", "--save", "bench.json"),
        ("fix", target, *ca, "-v", "--vm", "101", "--cpu", "recommended"),
        ("fix", target, *ca, "-v", "--vm", "101", "--cpu", "host", "--yes", *ACKNOWLEDGED),
        ("collect", target, *ca, "-v", "--save", "site.json"),
        ("diff", "no.json", "none.json"),
        ("history", "--format", "json"),
        ("undo", "20260101-000000-000000", *ca),
        ("recover", *ca),
    ]


def test_the_commands_here_are_all_there_are(lab: Lab) -> None:
    assert {words[0] for words in commands(lab)} >= COMMANDS.keys() - {"lab"}


@pytest.mark.parametrize("kind", ["token", "password"])
def test_no_secret_is_written(lab: Lab, tmp_path: Path, kind: str) -> None:
    environment = {
        "token": {"UNMASK_PVE_TOKEN": lab.tokens["audit"]},
        "password": {"UNMASK_PVE_PASSWORD": lab.passwords["audit@pve"]}
        | {"UNMASK_PVE_USER": "audit@pve"},
    }[kind]
    said = ""
    for number, words in enumerate(commands(lab)):
        folder = tmp_path / str(number)
        folder.mkdir()
        said += ran(lab, folder, words, **environment)
    assert "DEBUG:urllib3" in said  # the libraries did talk
    assert f"proxmoxer.core:GET https://{lab.address}/api2/json/version" in said


@pytest.mark.peer
@pytest.mark.parametrize("right", [True, False])
def test_no_secret_of_ssh_is_written(tmp_path: Path, *, right: bool) -> None:
    """The password is one that a real server takes or refuses."""
    password, wrong, home = "hunter 2", "hunter 3", tmp_path / "home"
    user = sshd.client(tmp_path / "client")
    node = pve_node.node(tmp_path / "alder", "alder")
    taken = "PasswordAuthentication yes\nPubkeyAuthentication no"
    settings = f"{pve_node.force_command(node)}\n{taken}"
    (home / ".ssh").mkdir(parents=True, mode=0o700)
    (home / ".ssh/config").write_text(f"Include {user.directory}/config\n")
    with sshd.running(tmp_path / "server", user, settings=settings, password=password) as server:
        user.knows(server)
        for command in (("audit", "--verbose", "--save", "saved.json"), ("config", "check")):
            target = f"pve+ssh://{server.place}"
            given = {"UNMASK_SSH_PASSWORD": password if right else wrong}
            out, said = loud(home, (*command, target), **given)
            assert not [word for word in (password, wrong) if word in out + said], command
            assert ("truenas" in out or "audit works" in out) is right
            assert ("access is refused" in out + said) is not right


def test_the_lab_shows_its_own_secrets_where_it_is_asked_to_and_nowhere_else(
    tmp_path: Path,
) -> None:
    out, said = loud(tmp_path, ("lab", "--port", "0", "--for", "0.2"))
    tokens = re.findall("^  [a-z]+ +[a-z]+@[a-z]+![a-z]+=(.+)$", out, re.MULTILINE)
    assert len(tokens) >= 5
    assert not [token for token in tokens if token in said]


@pytest.mark.parametrize("fault", ["401-mid-run=3", "5xx=2", "html=2", "truncated=2"])
def test_no_secret_is_written_when_things_go_wrong(lab: Lab, tmp_path: Path, fault: str) -> None:
    lab.set_fault(fault)
    words = ("audit", address(lab), "--ca-file", str(lab.ca_file), "-v", "--save", "saved.json")
    try:
        ran(lab, tmp_path, words, UNMASK_PVE_TOKEN=lab.tokens["audit"])
    finally:
        lab.clear_faults()


def test_a_bug_does_not_show_them(lab: Lab, tmp_path: Path) -> None:
    """A traceback prints lines of code; none of them holds a secret as text."""
    broken = LOUD.replace(
        "from unmask.cli.main",
        "from unmask.sources import _pve_api_inventory as broken\n"
        "broken.inventory = lambda *given: given[0].nothing_of_that_name\n"
        "from unmask.cli.main",
    )
    python = Path(UNMASK).with_name("python")
    done = subprocess.run(
        [python, "-c", broken, "audit", address(lab), "--ca-file", str(lab.ca_file)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "UNMASK_DEBUG": "1", "UNMASK_PVE_TOKEN": lab.tokens["audit"]},
    )
    assert done.returncode == 70
    assert "nothing_of_that_name" in done.stderr
    assert not [secret for secret in secrets(lab) if secret in done.stderr + done.stdout]


def test_a_secret_file_is_warned_of_without_its_content(lab: Lab, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    run_in = tmp_path / "run"
    elsewhere.mkdir()
    run_in.mkdir()
    token = elsewhere / "token"
    token.write_text(lab.tokens["audit"])
    token.chmod(0o644)
    words = ("audit", address(lab), "--ca-file", str(lab.ca_file), "--token-file", str(token))
    said = ran(lab, run_in, (*words, "--format", "json"))
    assert "others can read" in said
    assert json.loads(said[said.index("{\n") : said.rindex("\n}") + 2])["guests"]
