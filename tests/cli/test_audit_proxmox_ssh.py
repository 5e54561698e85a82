"""`unmask audit pve+ssh://`: what one bad node does to a run, Ctrl-C, and exit codes."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from support import peers, pve_node, sshd
from support.pve_node import Node
from support.sshd import Client, Sshd
from support.unmask_command import UNMASK, Answer, unmask

pytestmark = pytest.mark.peer

TIMEOUT = 6
GUESTS = 22

FAULTS = {
    "hangs": ("sleep 60", r"did not end within"),
    "drips": ("while :; do echo x; sleep 0.2; done", r"did not end within"),
    "floods": ("yes", r"its answer is not complete"),
    "breaks off": ("kill -9 {sshd}; sleep 5", r"closed by the other side"),
}
"""What `dpkg-query` does on one node, and what is said of that node."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Two nodes, the second of which may go wrong, and a home that can log in to both."""

    first: Sshd
    birch: Node
    user: Client
    home: Path

    @property
    def target(self) -> str:
        return f"pve+ssh://{self.first.place}"

    def audit(self, *words: str) -> Answer:
        told = ("--no-probe", "--format", "json", "--fail-on", "never", "--timeout", str(TIMEOUT))
        return unmask("audit", self.target, *told, *words, HOME=str(self.home))


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    user, port, home = sshd.client(tmp_path / "client"), sshd.free_port(), tmp_path / "home"
    (home / ".ssh").mkdir(parents=True, mode=0o700)
    (home / ".ssh/config").write_text(f"Include {user.directory}/config\n")
    alder, birch = (pve_node.node(tmp_path / name, name) for name in ("alder", "birch"))
    addresses = {"alder": ["127.0.0.1"], "birch": ["127.0.0.2"]}
    alder.write("etc/pve/corosync.conf", pve_node.corosync("homelab", addresses))
    for path in list(alder.etc_pve.glob("nodes/cedar/*/*.conf")):
        alder.write(f"etc/pve/nodes/birch/{path.parent.name}/{path.name}", path.read_text())
        path.unlink()
    with (
        pve_node.serving(alder, user, port=port) as first,
        pve_node.serving(birch, user, port=port, address="127.0.0.2") as second,
    ):
        user.knows(first, second)
        yield Cluster(first, birch, user, home)


def test_a_cluster_without_faults_is_complete(cluster: Cluster) -> None:
    answer = cluster.audit("--strict", "--select", "CPU010")
    assert (answer.code, answer.errors) == (0, "")
    assert (answer.report["gaps"], len(answer.report["guests"])) == ([], GUESTS)
    alder = answer.report["hosts"][0]
    assert alder["parameters"] == {"kvm.ignore_msrs": "N", "kvm_amd.nested": "1"}
    assert alder["cpu"]["microcode"] == "0x830107c"


@pytest.mark.parametrize("fault", FAULTS)
def test_a_node_with_a_fault_is_named_and_the_rest_is_reported(
    cluster: Cluster, fault: str
) -> None:
    script, said = FAULTS[fault]
    own = f"$(tail -n 1 {cluster.birch.root}/commands | cut -d ' ' -f 1)"
    cluster.birch.has("dpkg-query", script.format(sshd=own))
    began = time.monotonic()
    answer = cluster.audit("--strict")
    assert time.monotonic() - began < TIMEOUT + 2
    assert "Traceback" not in answer.errors
    assert answer.code == 3
    assert len(answer.report["guests"]) == GUESTS
    alder, birch = answer.report["hosts"]
    assert alder["cpu"]["flags"]
    assert birch["cpu"]["flags"] is None
    (gap,) = [gap for gap in answer.report["gaps"] if gap["subject"] == "homelab/birch"]
    assert re.search(said, gap["reason"]), gap
    assert gap["needs"] == "SSH access to birch"


def begun(node: Node, done: Callable[[], int | None]) -> None:
    """Wait until a node is being asked."""
    until = time.monotonic() + 30
    while not node.commands:
        assert time.monotonic() < until, "the node was not asked"
        assert done() is None, "it ended by itself"
        time.sleep(0.02)


def test_control_c_prints_what_was_read(cluster: Cluster) -> None:
    cluster.birch.has("dpkg-query", "sleep 60")
    words = [UNMASK, "audit", cluster.target, "--format", "json"]
    with subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=peers.environment(HOME=str(cluster.home)),
    ) as process:
        try:
            begun(cluster.birch, process.poll)
            process.send_signal(signal.SIGINT)
            began = time.monotonic()
            output, errors = process.communicate(timeout=20)
        finally:
            process.kill()
    assert time.monotonic() - began < 5
    assert (process.returncode, errors.splitlines()[-1]) == (130, "unmask: interrupted")
    assert "Traceback" not in errors
    report = json.loads(output)
    assert len(report["guests"]) == GUESTS
    reasons = {gap["subject"]: gap["reason"] for gap in report["gaps"]}
    assert reasons["homelab/birch"] == "the run was interrupted before"
