"""The Ansible example, run: sites gathered from here and by SSH, one that is down, one report."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from support import peers, sshd
from support.golden import FIXTURES, ROOT
from unmask.dialects import saved

EXAMPLE = ROOT / "examples" / "ansible"
HOMELAB = ROOT / "examples" / "homelab"
HALL = FIXTURES / "libvirt" / "hall"
pytestmark = pytest.mark.timeout(900)

PROGRAMS = Path(sys.executable).parent
SECONDS = 280

INVENTORY = """\
[hypervisors]
berlin ansible_connection=local unmask_targets='["{homelab}"]'
attic ansible_host={server.address} ansible_port={server.port} ansible_user={user} \
ansible_ssh_common_args='-F {client}/config' unmask_targets='["{hall}"]'
{more}

[all:vars]
ansible_python_interpreter={python}
"""
LOST = "lost ansible_host=127.0.0.1 ansible_port=1 ansible_user=nobody"


@dataclass(frozen=True, slots=True)
class Team:
    """A copy of the example with hosts that are there."""

    directory: Path
    server: sshd.Sshd
    client: sshd.Client

    @property
    def reports(self) -> Path:
        return self.directory / "reports"

    def hosts(self, more: str = "") -> None:
        """Write the inventory, with one more line."""
        text = INVENTORY.format(
            homelab=self.directory / "homelab",
            hall=HALL,
            server=self.server,
            user=sshd.USER,
            client=self.client.directory,
            python=sys.executable,
            more=more,
        )
        (self.directory / "inventory.ini").write_text(text)

    def play(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run the playbook."""
        environment = peers.environment(
            HOME=str(self.directory),
            ANSIBLE_NOCOLOR="1",
            ANSIBLE_SSH_ARGS="-o ControlMaster=no",
            TMPDIR=str(self.directory / "tmp"),
            PATH=f"{PROGRAMS}{os.pathsep}{peers.SEARCH_PATH}",
        )
        return subprocess.run(
            [_playbook(), "-i", "inventory.ini", "collect.yml", *words],
            cwd=self.directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def report(self) -> dict[str, list[dict[str, object]]]:
        found: dict[str, list[dict[str, object]]] = json.loads(
            (self.reports / "report.json").read_text()
        )
        return found


def _playbook() -> str:
    program = shutil.which("ansible-playbook", path=f"{PROGRAMS}{os.pathsep}{peers.SEARCH_PATH}")
    return program or peers.missing("ansible-playbook (`make test` installs ansible-core)")


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    client = sshd.client(tmp_path / "client")
    shutil.copytree(EXAMPLE, tmp_path / "team")
    shutil.copytree(HOMELAB, tmp_path / "team" / "homelab")
    (tmp_path / "team" / "tmp").mkdir()
    settings = tmp_path / "team" / "group_vars" / "all.yml"
    text = settings.read_text()
    assert text.count(": [unmask]\n") == 2
    settings.write_text(text.replace(": [unmask]\n", f': ["{PROGRAMS / "unmask"}"]\n'))
    files = "Subsystem sftp internal-sftp"
    with sshd.running(tmp_path / "server", client, settings=files) as server:
        client.knows(server)
        yield Team(tmp_path / "team", server, client)


def test_the_example_as_it_is_can_be_read(tmp_path: Path) -> None:
    done = subprocess.run(
        [_playbook(), "--syntax-check", "-i", "inventory.ini", "collect.yml"],
        cwd=EXAMPLE,
        env=peers.environment(HOME=str(tmp_path)),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_site_that_is_down_stops_no_other_and_is_named(team: Team) -> None:
    team.hosts(LOST)
    done = team.play()
    assert done.returncode != 0
    assert "not read: lost." in done.stdout, done.stdout[-6000:]
    files = {path.name: path for path in (team.directory / "sites").iterdir()}
    assert sorted(files) == ["attic.json", "berlin.json"]
    for name, path in files.items():
        assert path.stat().st_mode & 0o777 == 0o600
        guests = saved.load(path.read_text()).guests
        assert {guest.site for guest in guests} == {name.removesuffix(".json")}
    report = team.report()
    assert {guest["site"] for guest in report["guests"]} == {"attic", "berlin"}
    assert "lost.json" in {gap["subject"] for gap in report["gaps"]}
    assert "lost.json" in (team.reports / "report.html").read_text()
    assert sorted(path.name for path in team.reports.iterdir()) == [
        "report.html", "report.json", "report.sarif", "unmask.prom",
    ]  # fmt: skip


def test_the_second_run_is_compared_with_the_first(team: Team) -> None:
    team.hosts()
    first = team.play()
    assert first.returncode == 0, first.stdout + first.stderr
    assert not (team.reports / "diff.md").exists()
    vault = team.directory / "homelab/nodes/alder/qemu-server/108.conf"
    vault.with_name("109.conf").write_text("cpu: Icelake-Client\nostype: l26\nname: newcomer\n")
    worse = team.play()
    assert worse.returncode != 0
    assert "new findings: see diff.md" in worse.stdout, worse.stdout[-6000:]
    text = (team.reports / "diff.md").read_text()
    assert "`berlin:homelab/109 newcomer`" in text
    assert "gone" not in text
    assert not list((team.directory / "tmp").glob("*unmask*"))
