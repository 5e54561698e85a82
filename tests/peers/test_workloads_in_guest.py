"""What encrypts in real guests, found through the agent, by SSH and on their disks, and judged.

Three guests that do the same work under three CPU models. Here QEMU emulates them, which makes all
of it software; what KVM would make of the same guests is judged from what was saved of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from support.booted_guest import BootedGuest, remove, start, wait
from support.cpuinfo_guest import flags
from support.domain_xml import Cpu
from support.guest_image import GuestImage
from support.libvirtd import PREFIX, Libvirtd
from support.unmask_command import Answer, audit
from unmask.dialects import saved
from unmask.model.cpu import Accelerator

Workloads: TypeAlias = dict[str, dict[str, Any]]

NO_SELF_TESTS = "cryptomgr.notests=1"
"""The kernel's self-test of AES-GCM would execute PCLMULQDQ, which the emulation refuses."""
LEGACY, WITH_AES, V2_AES = "qemu64", "qemu64-aes", "x86-64-v2-aes"
ADDED = {
    LEGACY: (),
    # OpenSSL's AES code executes SSSE3 and SSE4.1 as well, and asks for neither.
    WITH_AES: ("aes", "ssse3", "sse4.1"),
    V2_AES: ("aes", "ssse3", "sse4.1", "sse4.2", "popcnt"),
}
"""What is added to qemu64; for x86-64-v2-AES, what Proxmox VE's definition of it adds."""
SECOND_DISK = {LEGACY: "raw", WITH_AES: "qcow2", V2_AES: "raw"}
SERVICES = "nginx openvpn-server@office unmask-wireguard systemd-cryptsetup@secret qemu-guest-agent"
SETTLED = f"until systemctl is-active --quiet {SERVICES}; do sleep 1; done"
SECRETS = (
    "wg show wg0 private-key; sed -n 2p /etc/ssl/private/unmask.key;"
    " sed -n 4p /etc/ssh/ssh_host_ed25519_key"
)
PATIENT = ("--parallel", "1", "--guest-timeout", "300")
"""An emulated guest shares its processor with the tests beside it: one at a time."""
STAMP = "/var/tmp/unmask-stamp"
CHANGED = (
    f"find / -xdev -newer {STAMP} ! -type d ! -path '/var/log/*' ! -path '/var/lib/systemd/*'"
    f" ! -path {STAMP}; cut -d ' ' -f 1 /proc/modules | sort | diff {STAMP} -"
)
"""Prints files that were written and modules that were loaded since the stamp, but for the logs of
logins and what systemd's timers keep."""


def cpu(label: str) -> Cpu:
    features = "".join(f"<feature policy='require' name='{name}'/>" for name in ADDED[label])
    model = "<model fallback='forbid'>qemu64</model>"
    return Cpu(element=f"<cpu mode='custom' match='exact' check='none'>{model}{features}</cpu>")


@dataclass(frozen=True, slots=True)
class Audits:
    """What was seen of the three guests, each way once."""

    agent: Answer
    ssh: Answer
    auditor: Answer
    """By SSH, as a user who is not root."""
    stopped: Answer
    """After the guests were stopped."""
    saved: Path
    """The inventory of `agent`."""
    cpuinfo: dict[str, str]
    """What each guest shows in its /proc/cpuinfo, by name of its model."""
    changed: dict[str, str]
    """What `CHANGED` printed after everybody had been there."""
    secrets: tuple[str, ...]
    """Of the guests: private keys of WireGuard, TLS and SSH, a line of each."""


def configured(guests: dict[str, BootedGuest], user: str, path: Path) -> Path:
    """Write a configuration file that says how to log in to each guest."""
    tables = []
    for guest in guests.values():
        key = guest.ssh("cut -d ' ' -f 1,2 /etc/ssh/ssh_host_ed25519_key.pub").strip()
        tables.append(
            f'[guests."{guest.name}"]\naddress = "127.0.0.1"\nport = {guest.ssh_port}\n'
            f'user = "{user}"\nkey = "{guest.key}"\nhost_key = ["{key}"]\n'
        )
    path.write_text("\n".join(tables))
    path.chmod(0o600)
    return path


@pytest.fixture(scope="module")
def audits(
    libvirtd: Libvirtd, guest_image: GuestImage, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Audits]:
    place = tmp_path_factory.mktemp("audits")
    guests: dict[str, BootedGuest] = {}
    try:
        for label in ADDED:
            options = "" if label == LEGACY else NO_SELF_TESTS
            second = SECOND_DISK[label]
            guests[label] = start(libvirtd, guest_image, label, cpu(label), options, second)
        for guest in guests.values():
            wait(guest)
            guest.ssh(SETTLED, timeout=120)
            guest.ssh(f"cut -d ' ' -f 1 /proc/modules | sort >{STAMP}")
        yield _audits(libvirtd, guests, place)
    finally:
        for guest in guests.values():
            remove(guest)


def _audits(libvirtd: Libvirtd, guests: dict[str, BootedGuest], place: Path) -> Audits:
    # Files of guests are read on the host itself only, where qemu:///system is this daemon.
    here = libvirtd.inside()
    inventory = place / "saved.json"
    ways = ("--via", "agent,disk", "--save", str(inventory))
    agent = audit("qemu:///system", *ways, *PATIENT, through=tuple(here))
    answers = []
    for user in ("root", "auditor"):
        config = configured(guests, user, place / f"{user}.toml")
        answers.append(audit(libvirtd.uri, "--via", "ssh", "--config", str(config), *PATIENT))
    cpuinfo = {label: guest.ssh("cat /proc/cpuinfo") for label, guest in guests.items()}
    changed = {label: guest.ssh(CHANGED, check=False) for label, guest in guests.items()}
    secrets = [line for guest in guests.values() for line in guest.ssh(SECRETS).split()]
    for guest in guests.values():
        libvirtd.virsh("destroy", guest.name)
    stopped = audit("qemu:///system", through=tuple(here))
    ssh, auditor = answers
    return Audits(
        agent=agent,
        ssh=ssh,
        auditor=auditor,
        stopped=stopped,
        saved=inventory,
        cpuinfo=cpuinfo,
        changed=changed,
        secrets=tuple(secrets),
    )


def workloads(answer: Answer, label: str) -> Workloads:
    """Return a guest's workloads by their kind, of which each may appear once."""
    listed = answer.guests[f"{PREFIX}{label}"]["workloads"]
    found = {item["kind"]: item for item in listed}
    assert len(found) == len(listed)
    return found


@pytest.mark.parametrize("label", ADDED)
def test_agent_and_ssh_tell_the_same(audits: Audits, label: str) -> None:
    told = workloads(audits.agent, label)
    assert {kind: item["name"] for kind, item in told.items()} == {
        "luks": "secret",
        "openvpn": "/etc/openvpn/server/office.conf",
        "ssh": "OpenSSH_9.2p1",
        "tls": "nginx",
        "wireguard": "wg0",
    }
    assert {item["activity"] for item in told.values()} == {"active"}
    over_ssh = workloads(audits.ssh, label)
    # Only the agent's audit has also looked at the disks.
    for item in (told["luks"], over_ssh["luks"]):
        item["evidence"] = [line for line in item["evidence"] if not line.startswith("The host")]
    assert over_ssh == told


@pytest.mark.parametrize("label", ADDED)
def test_the_ways_in_are_told(audits: Audits, label: str) -> None:
    visits = [answer.guests[f"{PREFIX}{label}"]["inside"] for answer in (audits.agent, audits.ssh)]
    assert [visit["way"] for visit in visits] == ["agent", "ssh"]
    assert visits[1]["by"].startswith("root@127.0.0.1:")


@pytest.mark.parametrize("label", ADDED)
def test_under_emulation_everything_is_software(audits: Audits, label: str) -> None:
    told = workloads(audits.agent, label)
    assert {item["status"] for item in told.values()} == {"software"}
    assert "CPU004" in audits.agent.codes(f"{PREFIX}{label}")


PARTIAL_GCM = ("partial", ["pclmulqdq"])
PARTIAL_CHACHA = ("partial", ["avx2"])
UNDER_KVM = {
    LEGACY: {
        "luks": ("software", ["aes"]),
        "openvpn": ("software", ["aes", "pclmulqdq"]),
        "ssh": ("software", ["ssse3", "avx2"]),
        "tls": ("software", ["aes", "pclmulqdq"]),
        "wireguard": ("software", ["ssse3", "avx2"]),
    },
    WITH_AES: {
        "luks": ("hardware", []),
        "openvpn": PARTIAL_GCM,
        "ssh": PARTIAL_CHACHA,
        "tls": PARTIAL_GCM,
        "wireguard": PARTIAL_CHACHA,
    },
}
UNDER_KVM[V2_AES] = UNDER_KVM[WITH_AES]


@pytest.fixture(scope="module")
def under_kvm(audits: Audits) -> Answer:
    """The same guests as KVM would run them, judged from what was saved."""
    found = saved.load(audits.saved.read_text())
    guests = tuple(replace(guest, accelerator=Accelerator.KVM) for guest in found.guests)
    path = audits.saved.with_name("kvm.json")
    path.write_text(saved.dump(replace(found, guests=guests)))
    return audit(str(path))


@pytest.mark.parametrize("label", ADDED)
def test_under_kvm_each_is_judged_by_its_own_needs(under_kvm: Answer, label: str) -> None:
    told = workloads(under_kvm, label)
    judged = {kind: (item["status"], item["missing"]) for kind, item in told.items()}
    assert judged == UNDER_KVM[label]
    codes = under_kvm.codes(f"{PREFIX}{label}")
    assert ("CRY002" in codes) == (label == LEGACY)  # disks
    assert {"CRY004", "CRY005", "CRY006"} <= codes  # TLS, OpenVPN, WireGuard
    assert "CPU004" not in codes


@pytest.mark.parametrize("label", ADDED)
def test_who_is_not_root_sees_less_and_is_told_so(audits: Audits, label: str) -> None:
    told = workloads(audits.auditor, label)
    assert set(told) == {"luks", "openvpn", "ssh", "tls", "wireguard"}
    guest = audits.auditor.guests[f"{PREFIX}{label}"]
    assert guest["inside"]["by"].startswith("auditor@127.0.0.1:")
    assert {"dm_crypt", "listeners"} <= {item["probe"] for item in guest["inside"]["partial"]}
    assert {item["needs"] for item in guest["inside"]["partial"]} == {"root in the guest"}


@pytest.mark.parametrize("label", [LEGACY, WITH_AES])
def test_the_disks_of_a_stopped_guest_tell_of_luks(audits: Audits, label: str) -> None:
    guest = audits.stopped.guests[f"{PREFIX}{label}"]
    assert guest["state"] == "stopped"
    (volume,) = guest["workloads"]
    assert (volume["kind"], volume["cipher"]) == ("luks", "aes-xts-plain64")
    assert any(line.startswith("The host sees on vdb: LUKS2") for line in volume["evidence"])
    inside = [line for line in volume["evidence"] if "lsblk" in line or "crypttab" in line]
    assert inside == []


@pytest.mark.parametrize("label", ADDED)
def test_nothing_was_changed_in_the_guests(audits: Audits, label: str) -> None:
    assert audits.changed[label] == ""


@pytest.mark.parametrize("label", ADDED)
def test_what_was_saved_is_what_the_guest_shows(audits: Audits, label: str) -> None:
    found = saved.load(audits.saved.read_text())
    (guest,) = [guest for guest in found.guests if guest.name == f"{PREFIX}{label}"]
    assert guest.visit.inside.value.cpu.value.flags == flags(audits.cpuinfo[label])


def test_no_key_of_the_guests_is_kept(audits: Audits) -> None:
    answers = (audits.agent, audits.ssh, audits.auditor, audits.stopped)
    text = audits.saved.read_text() + "".join(answer.output + answer.errors for answer in answers)
    assert len(audits.secrets) == 3 * len(ADDED)
    assert [secret for secret in audits.secrets if secret in text] == []
