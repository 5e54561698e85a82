"""`unmask config check`: what works, what is lacking, and what would grant it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support import pve_node, sshd
from support.lab_target import address
from support.unmask_command import Answer
from unmask.lab.lab import Lab

Command = Callable[..., Answer]


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab() as made:
        yield made


def test_a_target_that_works_tells_what_the_other_commands_would_need(
    command: Command, lab: Lab
) -> None:
    answer = command("config", "check", "--config", str(lab.config_file))
    assert (answer.code, answer.errors) == (0, "")
    lines = answer.output.splitlines()
    assert lines[0] == f"lab: {address(lab)}"
    assert lines[1].startswith("  the token audit@pve!unmask; authorities: ")
    assert lines[2] == f"  {lab.address} answers: Proxmox VE 9.2.11"
    assert lines[3] == "  audit: works"
    assert "  audit + agent: lacks" in lines
    assert "      VM.Config.CPU on /vms, for changing CPU models" in lines
    assert any(
        line.strip().startswith("pveum role add UnmaskFix --privs") and "VM.Config.CPU" in line
        for line in lines
    )
    assert "      pveum user token add unmask@pve audit --privsep 0" in lines


def test_two_logins_at_one_address_are_checked_each(command: Command, lab: Lab) -> None:
    """The lab's own configuration has the same cluster for two tokens."""
    answer = command("config", "check", "--config", str(lab.config_file))
    first, second = answer.output.split("inside: ")
    assert "the token audit@pve!unmask" in first
    assert "the token agent@pve!unmask" in second
    assert "  audit + agent: lacks" in first
    assert "  audit + agent: works" in second


def test_what_audit_lacks_is_an_exit_code(
    command: Command, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNMASK_PVE_TOKEN", lab.tokens["partial"])
    answer = command("config", "check", address(lab), "--ca-file", str(lab.ca_file))
    assert answer.code == 3
    assert "  audit: lacks" in answer.output
    assert "      VM.Audit on /vms, for guests and their configuration" in answer.output
    assert "--tokens 'partial@pve!unmask' --roles UnmaskAudit" in answer.output


def test_root_lacks_nothing(command: Command, lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNMASK_PVE_PASSWORD", lab.passwords["root@pam"])
    target = f"pve://root@pam@{lab.address}"
    answer = command("config", "check", target, "--fingerprint", lab.fingerprint)
    assert answer.code == 0
    assert "the user root@pam; the certificate is pinned" in answer.output
    assert "lacks" not in answer.output
    assert all(f"{name}: works" in answer.output for name in ("audit", "audit + agent", "fix"))


def test_every_target_and_entry_is_tried(command: Command, lab: Lab, tmp_path: Path) -> None:
    text = lab.config_file.read_text(encoding="utf-8").replace(
        "[targets.lab]", f'[targets.lab]\nnodes = ["127.0.0.1:1", "{lab.address}"]'
    )
    text += '\n[targets.gone]\naddress = "pve://127.0.0.1:1"\ntoken_env = "ABSENT"\n'
    text += '[targets.copy]\naddress = "copy"\n'
    folder = tmp_path / "copy" / "nodes" / "pve1" / "qemu-server"
    folder.mkdir(parents=True)
    (folder / "100.conf").write_text("name: x\ncpu: host\n")
    (folder.parent / "cpuinfo").write_text("this is none")
    (tmp_path / "unmask.toml").write_text(text)
    answer = command("config", "check", "lab", "gone", "copy")
    assert answer.code == 3
    assert "127.0.0.1:1 does not work: 127.0.0.1:1 cannot be reached" in answer.output
    assert answer.output.count("answers: Proxmox VE") == 2
    assert "does not work: the environment variable ABSENT is not set or empty" in answer.output
    assert "audit works: 1 guest, 1 not read (unmask audit names what)\n" in answer.output


def test_a_refused_certificate_says_how_to_pin_it(
    command: Command, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNMASK_PVE_TOKEN", lab.tokens["audit"])
    answer = command("config", "check", address(lab))
    assert answer.code == 3
    assert f"--fingerprint {lab.fingerprint}" in answer.output


@pytest.mark.peer
def test_a_target_by_ssh_is_tried_with_the_options_of_ssh(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    user = sshd.client(tmp_path / "client")
    node = pve_node.node(tmp_path / "alder", "alder")
    (node.etc_pve / "corosync.conf").unlink()
    (tmp_path / ".ssh").mkdir(mode=0o700)
    with pve_node.serving(node, user) as server:
        words = ("config", "check", f"pve+ssh://{server.place}")
        unknown = command(*words, "--key", str(user.key))
        assert (unknown.code, "host key is not known" in unknown.output) == (3, True)
        keyless = command(*words, "--accept-new-host-key")
        assert (keyless.code, "access is refused" in keyless.output) == (3, True)
        works = command(*words, "--key", str(user.key))
    assert (works.code, "  audit works: 22 guests" in works.output) == (0, True)
