"""The known hosts: names, patterns, hashes, markers, and what is stored."""

from __future__ import annotations

import base64
import hashlib
import hmac
import stat
from pathlib import Path

import pytest

from support import peers, sshd
from unmask.connect import ssh_known_hosts
from unmask.connect.ssh_known_hosts import HostKey, Verdict, judge, names, parse

KEY = HostKey("ssh-ed25519", base64.b64encode(b"first key").decode())
OTHER = HostKey("ssh-ed25519", base64.b64encode(b"other key").decode())


def line(hosts: str, key: HostKey = KEY, marker: str = "") -> str:
    return f"{marker}{hosts} {key.kind} {key.text} a comment\n"


def hashed(name: str) -> str:
    salt = b"0123456789abcdefghij"
    digest = hmac.new(salt, name.encode(), hashlib.sha1).digest()
    return f"|1|{base64.b64encode(salt).decode()}|{base64.b64encode(digest).decode()}"


@pytest.mark.parametrize(
    ("hosts", "name", "about"),
    [
        ("pve1", "pve1", True),
        ("PVE1", "pve1", True),
        ("pve1,192.0.2.1", "192.0.2.1", True),
        ("pve?.example.org", "pve1.example.org", True),
        ("*.example.org,!pve1.example.org", "pve1.example.org", False),
        ("*.example.org,!pve1.example.org", "pve2.example.org", True),
        ("[pve1]:2222", "[pve1]:2222", True),
        ("[pve1]:2222", "p:2222", False),
        (hashed("pve1"), "pve1", True),
        (hashed("pve1"), "pve2", False),
        ("|1|broken", "pve1", False),
    ],
)
def test_line_is_about_a_host(hosts: str, name: str, *, about: bool) -> None:
    (entry,) = parse(line(hosts), "file")
    assert entry.about(name) is about


def test_what_is_no_line_is_passed_over() -> None:
    text = "# comment\n\nhost only\nhost ssh-ed25519 !!!\n@cert-authority * ssh-ed25519 AAAA\n"
    assert parse(text + line("pve1"), "f")[0].place == "f:6"
    assert len(parse(text + line("pve1"), "f")) == 1


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("", Verdict.UNKNOWN),
        (line("pve1"), Verdict.KNOWN),
        (line("pve1", OTHER), Verdict.CHANGED),
        (line("pve1", OTHER) + line("pve1"), Verdict.KNOWN),
        (line("pve2"), Verdict.UNKNOWN),
        (line("pve1") + line("*", KEY, "@revoked "), Verdict.REVOKED),
        (line("pve1", OTHER, "@revoked "), Verdict.UNKNOWN),
    ],
)
def test_verdict(text: str, verdict: Verdict) -> None:
    assert judge(parse(text, "file"), ("pve1",), KEY)[0] is verdict


def test_name_without_port_counts_only_for_the_same_key() -> None:
    called = names("Pve1", 2222)
    assert called == ("[pve1]:2222", "pve1")
    assert judge(parse(line("pve1"), "f"), called, KEY)[0] is Verdict.KNOWN
    assert judge(parse(line("pve1", OTHER), "f"), called, KEY)[0] is Verdict.UNKNOWN
    assert judge(parse(line("[pve1]:2222", OTHER), "f"), called, KEY)[0] is Verdict.CHANGED


def test_alias_replaces_name_and_port() -> None:
    assert names("192.0.2.1", 2222, "lab") == ("lab",)
    assert names("pve1", 22) == ("pve1",)


def test_stored_key_is_known_to_openssh(tmp_path: Path) -> None:
    private = sshd.keygen(tmp_path / "key")
    kind, text = Path(f"{private}.pub").read_text().split()[:2]
    key = HostKey(kind, text)
    file = tmp_path / "new" / "known_hosts"
    ssh_known_hosts.store(str(file), "pve1", key)
    ssh_known_hosts.store(str(file), "[pve2]:2222", key)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [entry.hosts for entry in ssh_known_hosts.load([str(file)])] == ["pve1", "[pve2]:2222"]
    found = peers.run([peers.program("ssh-keygen"), "-l", "-F", "[pve2]:2222", "-f", str(file)])
    assert key.fingerprint in found.stdout


def test_key_is_stored_behind_an_unfinished_line(tmp_path: Path) -> None:
    file = tmp_path / "known_hosts"
    file.write_text(line("pve1").rstrip("\n"))
    ssh_known_hosts.store(str(file), "pve2", OTHER)
    assert [entry.hosts for entry in ssh_known_hosts.load([str(file)])] == ["pve1", "pve2"]


def test_files_that_are_not_there_hold_nothing(tmp_path: Path) -> None:
    assert ssh_known_hosts.load([str(tmp_path / "none"), str(tmp_path)]) == ()
