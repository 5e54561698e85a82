"""`unmask audit ssh://`: one machine without its hypervisor, from the command line to a letter."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from support import peers, recorded_machines, ssh_machine, sshd
from support.recorded_machines import Recorded
from support.ssh_machine import Machine
from support.sshd import Client, Sshd
from support.unmask_command import UNMASK, Answer, unmask

pytestmark = pytest.mark.peer


@dataclass(frozen=True, slots=True)
class Rented:
    """A machine, and a home that can log in to it."""

    machine: Machine
    server: Sshd
    user: Client
    home: Path

    @property
    def target(self) -> str:
        return f"ssh://{self.server.place}"

    def audit(self, *words: str) -> Answer:
        return unmask("audit", *words, directory=self.home, HOME=str(self.home))


@contextmanager
def rented(
    place: Path, what: Recorded = recorded_machines.COMMON_KVM, answer: str = ""
) -> Iterator[Rented]:
    user, home = sshd.client(place / "client"), place / "home"
    (home / ".ssh").mkdir(parents=True, mode=0o700)
    (home / ".ssh/config").write_text(f"Include {user.directory}/config\n")
    made = ssh_machine.machine(place / "machine", what.files, what.programs)
    with ssh_machine.serving(made, user, answer=answer) as server:
        yield Rented(made, server, user, home)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Rented]:
    with rented(tmp_path) as made:
        yield made


def test_a_rented_machine_gets_its_verdict(machine: Rented) -> None:
    answer = machine.audit(machine.target, "--format", "json", "--fail-on", "medium")
    assert (answer.code, answer.errors) == (1, "")
    (guest,) = answer.report["guests"]
    assert (guest["platform"], guest["cpu"]["configured"]) == ("unseen", "kvm64")
    assert guest["cpu"]["features"]["aes"] == "hidden"
    assert guest["inside"]["way"] == "ssh"
    assert "CPU013" in answer.codes(guest["name"])
    assert machine.machine.commands == ["/bin/sh -s"], "one command, and nobody goes in again"


def test_the_letter_is_the_same_from_what_was_saved(machine: Rented) -> None:
    answer = machine.audit(machine.target, "--ticket", "--save", "saved.json")
    assert (answer.code, answer.errors) == (0, "")
    assert answer.output.startswith("Subject: the CPU of my machine [its name or contract number]")
    assert "127.0.0.1" not in answer.output
    assert machine.audit("saved.json", "--format", "ticket").output == answer.output


def test_what_the_configuration_says_of_it_counts(machine: Rented) -> None:
    machine.machine.has("sudo", 'shift; exec "$@"')
    server = machine.server
    (machine.home / "unmask.toml").write_text(
        f'[targets.vps]\naddress = "ssh://vps.example"\nkey = "{machine.user.key}"\n'
        f'[guests."vps.example"]\naddress = "{server.address}"\nport = {server.port}\n'
        f'user = "{sshd.USER}"\nsudo = true\nhost_key = "{server.host_key.fingerprint}"\n'
        'workloads = ["luks"]\n'
    )
    machine.user.knows()
    answer = machine.audit("vps", "--format", "json", "--fail-on", "never")
    assert (answer.code, answer.errors) == (0, "")
    guest = answer.guests["vps.example"]
    assert [item["kind"] for item in guest["workloads"] if item["kind"] == "luks"] == ["luks"]
    assert [item["where"] for item in guest["declared"]] == ["unmask.toml"]
    assert machine.machine.commands == ["/bin/sh -c 'sudo -n /bin/sh -s || exec /bin/sh -s'"]


def test_a_host_key_that_is_not_known_ends_it(machine: Rented) -> None:
    machine.user.knows()
    answer = machine.audit(machine.target)
    assert (answer.code, answer.output) == (3, "")
    assert "its host key is not known: ssh-ed25519 SHA256:" in answer.errors
    assert "--accept-new-host-key" in answer.errors
    assert machine.audit(machine.target, "--accept-new-host-key", "--fail-on", "never").code == 0
    assert machine.server.host_key.text in machine.user.known_hosts.read_text()


def test_a_password_in_the_target_is_refused_and_not_repeated(machine: Rented) -> None:
    answer = machine.audit("ssh://root:hush@vps.example")
    assert answer.code == 2
    assert "UNMASK_SSH_PASSWORD" in answer.errors
    assert "hush" not in answer.errors + answer.output


def test_nothing_of_a_hostile_machine_reaches_the_terminal(tmp_path: Path) -> None:
    shown = recorded_machines.cpuinfo("evil\x1b]0;owned\x07\x1b[2J\u202e", "fpu lm cx8 hypervisor")
    with rented(tmp_path, recorded_machines.linux(shown)) as machine:
        for form in ("table", "ticket", "json"):
            answer = machine.audit(machine.target, "--format", form, "--fail-on", "never")
            assert answer.code == 0
            assert all(line.isprintable() for line in answer.output.splitlines())


def test_a_machine_that_answers_something_else_ends_it(tmp_path: Path) -> None:
    with rented(tmp_path, answer="cat >/dev/null; printf '\\033[2Jmenu\\n'") as machine:
        answer = machine.audit(machine.target)
    assert answer.code == 3
    assert "it runs something else than our program: ?[2Jmenu" in answer.errors
    assert "\x1b" not in answer.errors


def test_ctrl_c_ends_it_at_once(tmp_path: Path) -> None:
    with rented(tmp_path, answer="exec sleep 1000") as machine:
        process = subprocess.Popen(
            [UNMASK, "audit", machine.target],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=machine.home,
            env=peers.environment(HOME=str(machine.home)),
        )
        while not machine.machine.commands:
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=30)
    assert (process.returncode, output, errors) == (130, "", "unmask: interrupted\n")


def test_its_configuration_can_be_checked(machine: Rented) -> None:
    server = machine.server
    (machine.home / "unmask.toml").write_text(
        f'[targets.vps]\naddress = "{machine.target}"\n'
        f'[guests."{server.address}:{server.port}"]\nhost_key = "SHA256:{"A" * 43}"\n'
    )
    words = ("config", "check", "vps")
    answer = unmask(*words, directory=machine.home, HOME=str(machine.home))
    assert answer.code == 3
    assert "is not the one that the configuration names" in answer.output
    (machine.home / "unmask.toml").write_text(f'[targets.vps]\naddress = "{machine.target}"\n')
    answer = unmask(*words, directory=machine.home, HOME=str(machine.home))
    assert answer.code == 0, answer.output
    assert "audit works" in answer.output
