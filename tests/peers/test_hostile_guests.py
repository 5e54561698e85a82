"""Guests that mean harm, audited as an operator does: bounded, reported, and nothing comes through.

The parsers and the ways in have tests of their own for each kind of damage; here it is the whole
program, from a guest's bytes to what a terminal shows.
"""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from support import ssh_machine, sshd
from support.booted_guest import BootedGuest, BootGuest, wait
from support.libvirtd import Libvirtd
from support.lying_guest import MARK, SIGNS, harmless, lies
from support.unmask_command import Answer, audit, unmask

pytestmark = pytest.mark.peer

BOUNDED = ("prlimit", "--data=1000000000")
"""A report that needs more memory than this fails the test."""

# An agent that answers as it should until a program is to be run. The input of that program is
# where the mark stands.
AGENT = r"""
exec 3<>/dev/virtio-ports/org.qemu.guest_agent.0
say() { printf '%s\n' "$1" >&3; }
while :; do
    if ! read -r line <&3; then  # as long as nobody is at the other end
        sleep 0.1
        continue
    fi
    mode=$(cat /run/mode)
    id=$(printf '%s' "$line" | sed -n 's/.*guest-sync.*"id": *\([0-9]*\).*/\1/p')
    case $line in
        *guest-sync*) say "{\"return\": $id}" ;;
        *guest-ping*) say '{"return": {}}' ;;
        *guest-network*) say '{"return": [{"name": "\u001b[2J", "ip-addresses": 7}]}' ;;
        *guest-get-osinfo*) say '{"return": {"id": "\u001b[2J", "name": []}}' ;;
        *guest-exec-status*)
            case $mode in
                lies)
                    printf '{"return": {"exited": true, "exitcode": 0, "out-data": "' >&3
                    base64 -w 0 /run/answer >&3
                    say '"}}' ;;
                never) say '{"return": {"exited": false}}' ;;
                flood) head -c 12000000 /dev/zero | tr '\0' x >&3 ;;
            esac ;;
        *guest-exec*)
            printf '%s' "$line" | sed 's/.*"input-data": *"//; s/".*//' | base64 -d >/run/input
            mark=$(sed -n 's/^UNMASK_MARK=//p' /run/input)
            sed "s/@MARK@/$mark/" /run/lies >/run/answer
            case $mode in
                error) say '{"error": {"class": "Bad", "desc": "\u001b[2J\u202e\u0007owned"}}' ;;
                silent) ;;
                *) say '{"return": {"pid": 1}}' ;;
            esac ;;
    esac
done
"""


def put(guest: BootedGuest, path: str, text: str) -> None:
    data = base64.b64encode(text.encode()).decode()
    for start in range(0, len(data), 96_000):  # a command line has a limit
        guest.ssh(f"printf %s {data[start : start + 96_000]} >>{path}.base64")
    guest.ssh(f"base64 -d {path}.base64 >{path}")


def looked_into(libvirtd: Libvirtd, place: Path, seconds: int) -> Answer:
    words = ("--via", "agent", "--guest-timeout", str(seconds), "--save", str(place / "saved"))
    return audit(libvirtd.uri, *words, through=BOUNDED)


def in_a_table(place: Path) -> Answer:
    return unmask("audit", str(place / "saved"), "--fail-on", "never", COLUMNS="200")


def test_an_agent_that_lies(booted_guest: BootGuest, libvirtd: Libvirtd, tmp_path: Path) -> None:
    guest = booted_guest("hostile")
    put(guest, "/run/lies", lies(length=200_000))
    put(guest, "/run/agent", AGENT)
    guest.ssh("echo lies >/run/mode; systemctl stop qemu-guest-agent")
    guest.ssh("systemd-run --unit=hostile sh /run/agent")
    wait(guest)
    _shows_what_was_said_without_harm(libvirtd, guest, tmp_path)
    _says_why_it_got_nothing(libvirtd, guest, tmp_path)


def _shows_what_was_said_without_harm(libvirtd: Libvirtd, guest: BootedGuest, place: Path) -> None:
    answer = looked_into(libvirtd, place, 120)
    harmless(answer)
    found = answer.guests[guest.name]
    assert found["inside"]["way"] == "agent"
    names = {item["name"] for item in found["workloads"]}
    assert {"luks", "zfs", "tls", "files"} <= {item["kind"] for item in found["workloads"]}
    assert [name for name in names if SIGNS[0] in name]
    table = in_a_table(place)
    harmless(table)
    assert SIGNS[0] in table.output


def _says_why_it_got_nothing(libvirtd: Libvirtd, guest: BootedGuest, place: Path) -> None:
    reasons = {}
    for mode, seconds in (("error", 60), ("never", 10), ("silent", 60), ("flood", 60)):
        guest.ssh(f"echo {mode} >/run/mode")
        answer = looked_into(libvirtd, place, seconds)
        harmless(answer)
        harmless(in_a_table(place))
        (gap,) = answer.report["gaps"]
        reasons[mode] = gap["reason"]
        assert answer.guests[guest.name]["workloads"] == []
    assert SIGNS[0] in reasons["error"]
    assert "did not end within" in reasons["never"]
    assert "does not answer" in reasons["silent"]
    assert "answers without end" in reasons["flood"]


def test_a_machine_that_lies_over_ssh(tmp_path: Path) -> None:
    user = sshd.client(tmp_path / "client")
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True, mode=0o700)
    (home / ".ssh/config").write_text(f"Include {user.directory}/config\n")
    made = ssh_machine.machine(tmp_path / "machine")
    made.write("lies", lies())
    answer = f'{ssh_machine.READ_MARK}exec sed "s/{MARK}/$mark/" {made.root}/lies'
    with ssh_machine.serving(made, user, answer=answer) as server:
        saved = ("--save", str(tmp_path / "saved"), "--guest-timeout", "60")
        words = ("--format", "json", "--fail-on", "never", *saved)
        told = unmask("audit", f"ssh://{server.place}", *words, through=BOUNDED, HOME=str(home))
    harmless(told)
    (found,) = told.report["guests"]
    assert {"luks", "zfs", "tls"} <= {item["kind"] for item in found["workloads"]}
    table = in_a_table(tmp_path)
    harmless(table)
    assert SIGNS[0] in table.output
