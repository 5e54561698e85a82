"""The how-tos' commands for machines of one's own, run against real servers in their place.

The blocks with output are run by test_readme.py. Not run: what installs programs; `unmask bench`,
which tests/peers/test_bench_guests.py does; `unmask fix` on libvirt's own guests, which
tests/peers/test_fix_libvirt.py does with the same options.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from support import recorded_machines, sessions, ssh_machine, sshd
from support.golden import ROOT
from support.libvirtd import PREFIX, Libvirtd
from support.unmask_command import Answer, unmask
from unmask.config.privileges import PURPOSES
from unmask.config.privileges import commands as granting
from unmask.config.settings import load
from unmask.lab.lab import Lab
from unmask.lab.site import packaged

HOWTO = ROOT / "docs/howto"
TRUENAS = "homelab-proxmox-truenas.md"
VPS = re.compile(r"ssh://\w+@vps\.example(?::\d+)?(?: --key \S+)?")


def commands(name: str) -> list[str]:
    """Return the commands of unmask in a page's `sh` blocks, without their comments."""
    text = (HOWTO / name).read_text(encoding="utf-8")
    lines = "".join(re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)).splitlines()
    return [line.partition("  #")[0].strip() for line in lines if line.startswith("unmask ")]


@pytest.fixture
def rented(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """Return the address of a machine as one rents it, and a home that can log in to it."""
    user, home = sshd.client(tmp_path / "client"), tmp_path / "home"
    (home / ".ssh").mkdir(parents=True, mode=0o700)
    (home / ".ssh/config").write_text(f"Include {user.directory}/config\n")
    kind = recorded_machines.COMMON_KVM
    machine = ssh_machine.machine(tmp_path / "machine", kind.files, kind.programs)
    with ssh_machine.serving(machine, user) as server:
        yield f"ssh://{server.place}", home


@pytest.mark.peer
def test_the_commands_for_a_rented_server_work(rented: tuple[str, Path]) -> None:
    address, home = rented
    ran = []
    for line in commands("rented-vps.md"):
        words = shlex.split(VPS.sub(address, line))[1:]
        if words[0] == "bench":
            continue
        answer = unmask(*words, directory=home, HOME=str(home))
        ran.append(words[0])
        assert (answer.code, answer.errors) == (0, ""), line
    assert set(ran) == {"audit", "diff"}


@pytest.fixture
def host(empty_libvirtd: Libvirtd) -> Libvirtd:
    """Return a libvirtd with the domains of the example, which has no KVM."""
    for path in sorted((ROOT / "examples/libvirt/attic").glob("*.xml")):
        text = path.read_text(encoding="utf-8")
        if "<domain " in text:
            text = text.replace("type='kvm'", "type='qemu'").replace("pc-q35-10.0", "q35")
            empty_libvirtd.define(text.replace("<name>", f"<name>{PREFIX}"))
    return empty_libvirtd


def on_host(host: Libvirtd, home: Path, line: str) -> Answer:
    words = shlex.split(line.replace("qemu:///system", host.uri))[1:]
    return unmask(*words, directory=home, HOME=str(home))


def test_the_commands_for_a_libvirt_host_work(host: Libvirtd, tmp_path: Path) -> None:
    lines = commands("libvirt-host.md")
    (audit,) = [line for line in lines if line == "unmask audit qemu:///system"]
    answer = on_host(host, tmp_path, audit)
    assert answer.code in (0, 1), answer
    for name in ("backup", "proxy", "web"):
        assert f"{PREFIX}{name}" in answer.output
    (history,) = [line for line in lines if line == "unmask history"]
    assert on_host(host, tmp_path, history).code == 0


@pytest.mark.parametrize("page", sorted(HOWTO.glob("*.md")), ids=lambda page: page.name)
def test_a_page_says_for_whom_it_is_and_how_to_go_back(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for part in ("**For you if**", "**You need**", "## Undo", "## What this does not tell"):
        assert part in text
    steps = re.findall(r"^## (\d+)\. ", text, re.MULTILINE)
    assert [int(number) for number in steps] == list(range(1, len(steps) + 1))
    assert 5 <= len(steps) <= 8


def test_the_roles_are_those_that_unmask_asks_for() -> None:
    offered = {line for purpose in PURPOSES for line in granting(purpose, "9.2.11")}
    named = [line for page in HOWTO.glob("*.md") for line in grants(page)]
    assert named
    # What is granted on one guest alone is tried in a lab, below.
    assert {line for line in named if "unmask-fix@pve" not in line} <= offered


def grants(page: Path) -> list[str]:
    return re.findall(r"^pveum (?:role|acl|user) .*$", page.read_text("utf-8"), re.MULTILINE)


def test_what_is_granted_on_one_guest_is_enough_and_no_more(tmp_path: Path) -> None:
    site = packaged()
    lines = [access_file_line(line) for line in grants(HOWTO / TRUENAS)]
    files = {**site.files, "user.cfg": "\n".join((site.files["user.cfg"], *lines, ""))}
    name, secret = "unmask-fix@pve!fix", "5ec2e7" * 5
    own = {name: secret}
    site = replace(site, files=files, logins={"own": name}, secrets=own)
    with Lab(site, pace=0) as lab:
        (tmp_path / "token").write_text(f"{name}={secret}")
        (tmp_path / "token").chmod(0o600)

        def fix(*words: str) -> Answer:
            address = f"pve://{lab.address}"
            into = ("--token-file", "token", "--ca-file", str(lab.ca_file))
            return unmask("fix", address, *words, *into, directory=tmp_path, HOME=str(tmp_path))

        (line,) = [
            step.command
            for step in sessions.steps(HOWTO / TRUENAS, "sh-session")
            if step.command.startswith("unmask fix homelab-fix")
        ]
        answer = fix(*shlex.split(line)[3:])
        assert answer.code == 0, answer
        assert "zfs tank: software before, hardware now." in answer.output
        costs = [word for code in ("CPU002", "MIG001", "RST001") for word in ("--ack", code)]
        answer = fix("--vm", "103", "--cpu", "qemu64,flags=+aes", *costs, "--yes")
        assert answer.code == 4, answer
        assert "VM.Config.CPU on /vms/103" in " ".join(answer.output.split())


def access_file_line(command: str) -> str:
    """Return the line of user.cfg that a command of pveum writes."""
    words = shlex.split(command)[1:]
    match words:
        case ["role", "add", name, "--privs", privileges]:
            return f"role:{name}:{privileges}:"
        case ["user", "add", name]:
            return f"user:{name}:1:0::::::"
        case ["user", "token", "add", user, name, "--privsep", "0"]:
            return f"token:{user}!{name}:0:0::"
        case ["acl", "modify", path, "--users", user, "--roles", roles]:
            return f"acl:1:{path}:{user}:{roles}:"
    raise AssertionError(command)


def test_the_target_of_a_page_is_one(tmp_path: Path) -> None:
    page = (HOWTO / "homelab-proxmox-truenas.md").read_text(encoding="utf-8")
    tables = re.findall(r"^```toml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (tmp_path / "unmask.toml").write_text("\n".join(tables))
    assert {
        target.name: target.reference.token_id for target in load(tmp_path / "unmask.toml").targets
    } == {"homelab": "unmask@pve!agent", "homelab-fix": "unmask-fix@pve!fix"}
