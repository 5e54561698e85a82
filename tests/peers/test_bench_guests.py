"""Benchmarks of real guests, over SSH and through the guest agent, and what is made of them.

What a hypervisor hides from silicon is shown by this machine under another /proc/cpuinfo, since a
guest under KVM cannot run here; what silicon lacks, by a guest whose CPU QEMU emulates.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from support import masked_machine, sshd
from support.booted_guest import BootedGuest, BootGuest
from support.domain_xml import Cpu
from support.sshd import Client
from support.unmask_command import Answer, unmask
from unmask.dialects import saved_bench

pytestmark = pytest.mark.peer
REPEATED = int(os.environ.get("UNMASK_REPEAT", "1"))
"""Times that the emulated guest is measured, each way: 10 tell how sure a verdict is."""


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Client:
    return sshd.client(tmp_path_factory.mktemp("ssh") / "client")


def bench(*words: str, home: Path | None = None) -> Answer:
    place = str(home or Path.home())
    return unmask("bench", *words, "--quick", "--format", "json", HOME=place)


def machine(answer: Answer) -> dict[str, Any]:
    assert answer.code == 0, answer.errors
    (one,) = json.loads(answer.output)["machines"]
    found: dict[str, Any] = one
    return found


def rates(one: dict[str, Any], algorithm: str) -> dict[str, float | None]:
    """Return the median of an algorithm under each setting."""
    return {
        item["setting"]: item["median"]
        for item in one["figures"]
        if (item["tool"], item["algorithm"]) == ("openssl", algorithm)
    }


@pytest.mark.parametrize(
    ("hidden", "cause"),
    [
        ((), "active"),
        (masked_machine.BOTH, "hidden"),
        (masked_machine.PCLMULQDQ, "partial"),
    ],
)
def test_what_is_hidden_from_silicon(
    tmp_path: Path, user: Client, hidden: tuple[str, ...], cause: str
) -> None:
    save = tmp_path / "saved.json"
    with masked_machine.serving(tmp_path / "guest", user, hidden) as server:
        home = user.directory
        (home / ".ssh").mkdir(exist_ok=True)
        (home / ".ssh" / "known_hosts").write_bytes(user.known_hosts.read_bytes())
        words = (f"ssh://{server.place}", "--key", str(user.key), "--save", str(save))
        one = machine(bench(*words, home=home))
    assert one["diagnosis"]["cause"] == cause, one["diagnosis"]
    assert one["way"] == f"ssh {server.place}"
    assert set(rates(one, "aes-256-gcm")) == {"plain", "masked", "without-pclmulqdq", "forced"}
    assert bool(one["environment"]["override"]) == bool(hidden)
    (result,) = saved_bench.load(save.read_text())
    assert len(result.samples) >= 12
    assert all(sample.raw for sample in result.samples)


def test_what_an_emulated_cpu_lacks(booted_guest: BootGuest, tmp_path: Path) -> None:
    """Both ways see that forcing ends in an illegal instruction, and none leaves anything."""
    element = "<cpu mode='custom' match='exact' check='none'><model>qemu64</model></cpu>"
    guest = booted_guest("benched", cpu=Cpu(element=element))
    config = _configured(guest, tmp_path / "unmask.toml")
    words = (guest.libvirtd.uri, "--vm", guest.name, "--config", str(config))
    ways = (("ssh", "ssh root@127.0.0.1"), ("agent", "the guest agent"))
    for via, way in ways * REPEATED:
        one = machine(bench(*words, "--via", via))
        assert one["diagnosis"]["cause"] in ("emulated", "absent"), one["diagnosis"]
        assert one["way"].startswith(way)
        assert one["environment"]["accelerator"] == "tcg"
        forced = [item for item in one["figures"] if item["setting"] == "forced"]
        assert {item["ended"] for item in forced} == {"illegal-instruction"}
        assert rates(one, "aes-256-gcm")["plain"]
    assert guest.ssh("pgrep -c 'openssl|cryptsetup'; ls /root/core* /tmp/core*", check=False) in (
        "0\n",
        "0",
    )


def _configured(guest: BootedGuest, path: Path) -> Path:
    """Write a configuration that says how to log in to a guest."""
    key = guest.ssh("cut -d ' ' -f 1,2 /etc/ssh/ssh_host_ed25519_key.pub").strip()
    path.write_text(
        f'[guests."{guest.name}"]\naddress = "127.0.0.1"\nport = {guest.ssh_port}\n'
        f'user = "root"\nkey = "{guest.key}"\nhost_key = ["{key}"]\n'
    )
    path.chmod(0o600)
    return path
