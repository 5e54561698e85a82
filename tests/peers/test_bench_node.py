"""A guest and its node by SSH, one after the other, and the guest held against the node."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support import masked_machine, pve_node, sshd
from support.sshd import Client, Sshd
from support.unmask_command import Answer, unmask

pytestmark = pytest.mark.peer
VMID = "101"
NODE = "alder"


def bench(user: Client, *words: str) -> Answer:
    return unmask("bench", *words, "--quick", "--format", "json", HOME=str(user.directory))


def machines(answer: Answer) -> list[dict[str, Any]]:
    assert answer.code == 0, answer.errors
    found: list[dict[str, Any]] = json.loads(answer.output)["machines"]
    return found


def test_a_guest_is_held_against_its_node(tmp_path: Path) -> None:
    user = sshd.client(tmp_path / "client")
    node = pve_node.node(tmp_path / NODE, NODE)
    node.runs_guest(VMID, "kvm64,+kvm_pv_unhalt,+kvm_pv_eoi,enforce,vendor=GenuineIntel")
    node.has("sed", 'exec /bin/sed -u "$@"')  # the program's input stays open
    with (
        pve_node.serving(node, user) as host,
        masked_machine.serving(tmp_path / "guest", user, masked_machine.BOTH) as guest,
    ):
        _known(user, host, guest)
        config = _configured(tmp_path / "unmask.toml", user, guest)
        target = f"pve+ssh://{host.place}"
        words = (target, "--key", str(user.key), "--config", str(config))
        one, ceiling = machines(bench(user, *words, "--vm", VMID, "--reference"))
        again = machines(
            bench(user, *words, "--node", NODE, "--as", "kvm64,custom-seal-westmere,host")
        )
    assert one["diagnosis"]["cause"] == "hidden"
    assert one["host"] == ceiling["subject"] == ceiling["host"]
    assert (one["way"], ceiling["name"]) == (f"ssh {guest.place}", NODE)
    shares = {share["algorithm"]: share["share"] for share in one["node"]}
    assert shares["aes-256-gcm"] < 0.3
    assert ceiling["diagnosis"]["cause"] == "active"
    (models,) = again
    of_host = {
        row["model"]: row["of_host"]
        for row in models["what_if"]
        if row["algorithm"] == "aes-256-gcm"
    }
    assert of_host["kvm64"] < 0.3
    assert of_host["kvm64"] < of_host["custom-seal-westmere"]
    assert of_host["host"] == 1.0


def _known(user: Client, *servers: Sshd) -> None:
    user.knows(*servers)
    (user.directory / ".ssh").mkdir()
    (user.directory / ".ssh" / "known_hosts").write_bytes(user.known_hosts.read_bytes())


def _configured(path: Path, user: Client, guest: Sshd) -> Path:
    key = f"{guest.host_key.kind} {guest.host_key.text}"
    path.write_text(
        f'[guests.{VMID}]\naddress = "{guest.address}"\nport = {guest.port}\n'
        f'user = "{sshd.USER}"\nkey = "{user.key}"\nhost_key = ["{key}"]\n'
    )
    path.chmod(0o600)
    return path
