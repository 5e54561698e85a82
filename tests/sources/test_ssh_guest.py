"""One machine by SSH, without its hypervisor: against real servers."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from support import recorded_machines, ssh_machine, sshd
from support.recorded_machines import Recorded
from support.ssh_machine import Machine
from support.sshd import Client
from unmask.connect import ssh_address
from unmask.engine.cases import guest_cases
from unmask.errors import TargetError, UsageError
from unmask.model.cpu import Accelerator, Mode, State
from unmask.model.entry import GuestEntry, VisitOptions
from unmask.model.inventory import Guest, Inventory, Platform
from unmask.model.source import CollectOptions
from unmask.model.ssh import SshOptions
from unmask.model.visit import Way
from unmask.sources import ssh_guest

WAIT = 60.0


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Client:
    return sshd.client(tmp_path_factory.mktemp("ssh") / "client")


def collect(place: Path, user: Client, what: Recorded) -> Inventory:
    made = ssh_machine.machine(place / "machine", what.files, what.programs)
    with ssh_machine.serving(made, user) as server:
        options = CollectOptions(timeout=WAIT, ssh=user.options())
        found = ssh_guest.collect(f"ssh://{server.place}", options)
    assert made.commands == ["/bin/sh -s"]
    return found


@pytest.mark.peer
@pytest.mark.parametrize(
    ("what", "label", "mode", "accelerator"),
    [
        (recorded_machines.COMMON_KVM, "kvm64", Mode.MODEL, Accelerator.KVM),
        (
            recorded_machines.VIRTUAL_AES,
            "qemu64 or a model built on it",
            Mode.MODEL,
            Accelerator.KVM,
        ),
        (recorded_machines.VIA, "VIA Nano U3300@1200MHz", Mode.UNKNOWN, Accelerator.OTHER),
        (recorded_machines.ARM, "host", Mode.HOST, Accelerator.KVM),
        (recorded_machines.FREEBSD, "qemu64 or a model built on it", Mode.MODEL, Accelerator.KVM),
    ],
    ids=["kvm64", "x86-64-v2-AES", "VIA", "ARM", "FreeBSD"],
)
def test_a_machine_is_the_only_guest(
    tmp_path: Path,
    user: Client,
    what: Recorded,
    label: str,
    mode: Mode,
    accelerator: Accelerator,
) -> None:
    found = collect(tmp_path, user, what)
    (guest,) = found.guests
    assert (found.hosts, found.gaps, found.clusters) == ((), (), ())
    assert found.targets[0].startswith("ssh://")
    assert guest.platform is Platform.UNSEEN
    assert guest.visit.way is Way.SSH
    assert guest.visit.by.startswith(f"{sshd.USER}@127.0.0.1:")
    assert (guest.configured.label, guest.configured.mode) == (label, mode)
    assert guest.accelerator is accelerator


@pytest.mark.peer
def test_what_is_said_of_a_guest_of_that_name_counts(tmp_path: Path, user: Client) -> None:
    base = recorded_machines.COMMON_KVM
    programs = {**base.programs, "sudo": 'shift; exec "$@"', "id": "echo 0"}
    made: Machine = ssh_machine.machine(tmp_path / "machine", base.files, programs)
    asked: list[str] = []
    with ssh_machine.serving(made, user) as server:

        def entry(guest: Guest) -> GuestEntry:
            asked.append(guest.name)
            return GuestEntry(
                address=server.address,
                port=server.port,
                user=sshd.USER,
                ssh=SshOptions(key=str(user.key), host_keys=(server.host_key.fingerprint,)),
                sudo=True,
            )

        user.knows()
        login = replace(user.options(), config="none")
        options = CollectOptions(timeout=WAIT, ssh=login, visits=VisitOptions(entry=entry))
        found = ssh_guest.collect("ssh://vps.example", options)
    assert asked == ["vps.example"]
    assert made.commands == ["/bin/sh -c 'sudo -n /bin/sh -s || exec /bin/sh -s'"]
    assert found.guests[0].subject == "vps.example"


CPU = (
    '{"name": "QEMU Virtual CPU version 2.5+  ", "vendor": "AuthenticAMD", "told": false, '
    '"identifier": "AMD64 Family 15 Model 107 Stepping 1", "flags": []}'
)
WINDOWS = ssh_machine.sections(
    ("system", '{"caption": "Microsoft Windows 11 Pro", "version": "10.0.26100"}'),
    ("cpu", CPU),
    ("virtualisation", '{"vendor": "QEMU", "product": "Standard PC", "hypervisor": true}'),
)


@pytest.mark.peer
def test_windows_that_cannot_tell_its_flags_is_not_said_to_lack_any(
    tmp_path: Path, user: Client
) -> None:
    made = ssh_machine.machine(tmp_path / "machine")
    addendum = "VersionAddendum for_Windows_9.5"
    with ssh_machine.serving(made, user, answer=WINDOWS, settings=addendum) as server:
        options = CollectOptions(timeout=WAIT, ssh=user.options())
        found = ssh_guest.collect(f"ssh://{server.place}", options)
    (case,) = guest_cases(found)
    assert case.guest.configured.label == "qemu64 or a model built on it"
    assert case.guest.accelerator is Accelerator.UNKNOWN
    assert case.observed is not None
    assert case.observed.state("aes") is State.UNKNOWN


def test_a_password_that_is_gone_is_an_error() -> None:
    entry = GuestEntry(fault="the environment variable GONE is not set or empty", told=True)
    options = CollectOptions(visits=VisitOptions(entry=lambda _: entry))
    with pytest.raises(TargetError, match="the environment variable GONE is not set"):
        ssh_guest.collect("ssh://vps.example", options)


@pytest.mark.peer
def test_another_port_is_another_machine(tmp_path: Path, user: Client) -> None:
    found = collect(tmp_path, user, recorded_machines.COMMON_KVM)
    assert found.guests[0].subject.startswith("127.0.0.1:")
    assert found.guests[0].subject == found.guests[0].name


@pytest.mark.peer
def test_who_keeps_one_out_says_why(tmp_path: Path, user: Client) -> None:
    made = ssh_machine.machine(tmp_path / "machine")
    with ssh_machine.serving(made, user, answer="cat >/dev/null; echo menu") as server:
        options = CollectOptions(timeout=WAIT, ssh=user.options())
        with pytest.raises(TargetError, match=r"^it runs something else .*: menu; a user whose"):
            ssh_guest.collect(f"ssh://{server.place}", options)
        user.knows()
        with pytest.raises(TargetError, match=r"^its host key is not known.*--accept-new-host-key"):
            ssh_guest.collect(f"ssh://{server.place}", options)
        accepting = replace(options, ssh=user.options(accept_new_host_key=True))
        with pytest.raises(TargetError, match=r"^it runs something else"):
            ssh_guest.collect(f"ssh://{server.place}", accepting)
    assert user.known_hosts.read_text() == (
        f"{server.name} {server.host_key.kind} {server.host_key.text}\n"
    )


@pytest.mark.peer
def test_it_ends_in_time(tmp_path: Path, user: Client) -> None:
    made = ssh_machine.machine(tmp_path / "machine")
    with ssh_machine.serving(made, user, answer="exec sleep 1000") as server:
        options = CollectOptions(timeout=3, ssh=user.options())
        began = time.monotonic()
        with pytest.raises(
            TargetError, match=r"^the program did not end in time; more time: --timeout"
        ):
            ssh_guest.collect(f"ssh://{server.place}", options)
    assert time.monotonic() - began < 30


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("ssh://root:hush@vps", "a password in an address can be seen by others"),
        ("ssh://", "is not ssh://"),
        ("ssh://vps:99999", "99999 is not a port"),
        ("ssh://-oProxyCommand=x", "is not the name or address of a host"),
        ("ssh://fe80::1", "brackets"),
    ],
)
def test_a_target_that_is_none(target: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        ssh_guest.collect(target, CollectOptions())
    assert "hush" not in str(caught.value)


def test_which_targets_it_takes() -> None:
    assert ssh_guest.fits("ssh://root@vps")
    assert ssh_guest.fits("SSH://vps")
    for other in ("pve+ssh://vps", "qemu+ssh://vps/system", "vps", "/srv/ssh"):
        assert not ssh_guest.fits(other)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("root@vps", "vps"),
        ("vps:22", "vps"),
        ("root@vps:2222", "vps:2222"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("root@[2001:db8::1]:2222", "[2001:db8::1]:2222"),
    ],
)
def test_what_a_machine_is_called(written: str, name: str) -> None:
    assert ssh_guest.name_of(ssh_address.parse(written)) == name
