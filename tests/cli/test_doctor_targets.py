"""`unmask doctor` of targets: what is wrong is told, with the way out."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support import sshd
from support.doctor_command import Doctor, doctor_of, only, told
from support.lab_target import address
from support.libvirtd import Libvirtd
from unmask.cli.main import main
from unmask.lab.lab import Lab

from .conftest import Command


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab() as made:
        yield made


@pytest.fixture
def doctor(command: Command) -> Doctor:
    return doctor_of(command)


def test_a_lab_without_and_with_its_fingerprint(
    doctor: Doctor, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNMASK_PVE_TOKEN", lab.tokens["audit"])
    unknown = doctor(address(lab))
    said = only(unknown, "Targets")
    assert "is not trusted: unable to get local issuer certificate" in said
    assert f"--fingerprint {lab.fingerprint}" in said
    assert [item["what"] for item in told(unknown, "Targets", "ok")] == [
        f"{lab.address} can be reached"
    ]
    other = doctor(address(lab), "--fingerprint", lab.fingerprint[:-2] + "00")
    assert "it is not the pinned one" in only(other, "Targets")
    pinned = doctor(address(lab), "--fingerprint", lab.fingerprint)
    assert pinned.report["problems"] == 0
    fine = " | ".join(item["what"] for item in told(pinned, "Targets", "ok"))
    assert "its certificate is the pinned one, valid until 20" in fine
    assert "the token audit@pve!unmask is accepted by Proxmox VE 9.2.11" in fine
    signed = doctor(address(lab), "--ca-file", str(lab.ca_file))
    assert "vouched for by an authority" in signed.output


def test_a_configured_lab_is_looked_at_without_being_named(doctor: Doctor, lab: Lab) -> None:
    answer = doctor("--config", str(lab.config_file))
    assert answer.report["problems"] == 0
    subjects = [item["subject"] for item in told(answer, "Targets", "ok")]
    assert list(dict.fromkeys(subjects)) == ["lab", "inside"]
    one = doctor("--config", str(lab.config_file), "lab")
    assert {item["subject"] for item in told(one, "Targets", "ok")} == {"lab"}


def test_what_an_audit_lacks_is_a_problem(
    doctor: Doctor, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    trusted = ("--fingerprint", lab.fingerprint)
    nobody = only(doctor(address(lab), *trusted), "Targets")
    assert "there is no token or password" in nobody
    monkeypatch.setenv("UNMASK_PVE_TOKEN", lab.tokens["partial"])
    partial = only(doctor(address(lab), *trusted), "Targets")
    assert "lacks VM.Audit on /vms" in partial
    assert f"`unmask config check {address(lab)}`" in partial
    monkeypatch.setenv("UNMASK_PVE_TOKEN", lab.tokens["expired"])
    assert "expired" in only(doctor(address(lab), *trusted), "Targets")


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("pve://nosuch.invalid", "its name leads to no address"),
        ("pve://127.0.0.1:1", "127.0.0.1:1: nothing listens there"),
        ("pve+ssh://127.0.0.1:1", "nothing listens there"),
        ("ssh://127.0.0.1:1", "nothing listens there"),
        ("qemu:///system?socket=/nosuch", "/nosuch"),
        ("nosuch", "no such file"),
        ("https://pve1", "write pve://HOST"),
        ("pve://a b", "is not HOST or HOST:PORT"),
    ],
)
def test_a_target_out_of_reach(doctor: Doctor, target: str, said: str) -> None:
    found = only(doctor(target), "Targets")
    assert said in found
    assert found.startswith(target)


def test_a_server_that_is_silent_or_no_proxmox(doctor: Doctor) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        place = f"pve://127.0.0.1:{silent.getsockname()[1]}"
        found = only(doctor(place, "--timeout", "1"), "Targets")
    assert "the TLS handshake failed" in found
    assert "systemctl status pveproxy" in found


def test_an_address_with_a_secret_is_refused_and_not_repeated(
    command: Command, doctor: Doctor, tmp_path: Path
) -> None:
    answer = command("doctor", "pve://root@pam:hunter2@pve1")
    assert (answer.code, answer.output) == (2, "")
    assert "hunter2" not in answer.errors
    (tmp_path / "unmask.toml").write_text('[targets.a]\naddress = "pve://r@pam:hunter2@pve1"\n')
    configured = doctor()
    assert "must not hold a password" in only(configured, "Targets")
    assert "hunter2" not in configured.output


def test_a_proxy_in_the_way(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("https_proxy", "http://me:hunter2@127.0.0.1:1")
    monkeypatch.setenv("UNMASK_PVE_TOKEN", "a@pve!audit=hunter3")
    answer = doctor("pve://pve1.invalid")
    assert "by way of the proxy 127.0.0.1:1" in only(answer, "Proxies", "note")
    assert "export no_proxy=pve1.invalid" in only(answer, "Proxies", "note")
    assert "the proxy 127.0.0.1:1" in only(answer, "Targets")
    assert not {"hunter2", "hunter3"} & set(answer.output.split('"'))
    assert "hunter" not in answer.output


def test_a_real_libvirtd(doctor: Doctor, libvirtd: Libvirtd) -> None:
    answer = doctor(libvirtd.uri)
    assert answer.report["problems"] == 0
    assert "libvirt " in only(answer, "Targets", "ok")


@pytest.mark.peer
def test_a_real_ssh_server(doctor: Doctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    user = sshd.client(tmp_path / "client")
    (tmp_path / ".ssh").mkdir(mode=0o700)
    (tmp_path / ".ssh/config").write_text(f"UserKnownHostsFile {user.known_hosts}\n")
    with sshd.running(tmp_path / "server", user) as server:
        for scheme in ("ssh://", "pve+ssh://"):
            words = (f"{scheme}{server.place}", "--key", str(user.key))
            user.known_hosts.write_text("")
            assert "host key is not known" in only(doctor(*words), "Targets")
            assert user.known_hosts.read_text() == ""  # nothing is stored
            user.knows(server)
            assert "access is refused" in only(doctor(words[0]), "Targets")
            assert "its SSH host key is known" in only(doctor(*words), "Targets", "ok")


def test_it_reads_only(doctor: Doctor, lab: Lab, tmp_path: Path) -> None:
    doctor("--config", str(lab.config_file))
    assert list(tmp_path.rglob("*")) == []


def test_targets_are_waited_for_side_by_side_and_ctrl_c_ends_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from unmask.connect import threads  # noqa: PLC0415

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    seen: list[int] = []

    def interrupted(*words: Any) -> Any:
        seen.append(words[2])
        return threads.Gathered({}, interrupted=True)

    monkeypatch.setattr(threads, "gather", interrupted)
    assert main(["doctor", "pve://a.invalid", "pve://b.invalid"]) == 130
    assert seen[0] >= 2
    assert capsys.readouterr().err.strip() == "unmask: interrupted"
