"""The lab's guests answer the real program, and what they say fits the CPU that they see."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from unmask.crypto import drivers
from unmask.dialects import cpuinfo
from unmask.lab import cpuid, guest_inside
from unmask.lab.guest_inside import SHELL, Inside
from unmask.lab.lab import Lab
from unmask.lab.site import packaged
from unmask.model import inside as model
from unmask.model.outlook import Status
from unmask.probes import _reading, _script, _windows
from unmask.probes._probe import Shell
from unmask.probes._sections import split

MARK = "0123456789abcdef" * 2
SITE = packaged()
TABLES: Mapping[int, Mapping[str, Any]] = {
    vmid: table["inside"] for vmid, table in SITE.agents.items() if "inside" in table
}
CPU = "processor : 0\nvendor_id : GenuineIntel\nmodel name : x\nflags : {flags}\n\n"
PLAIN = "fpu cx8 lm sse2"
FAST = f"{PLAIN} aes pclmulqdq ssse3 sse4_1 avx avx2"


def shell_of(made: Inside) -> Shell:
    return Shell.POWERSHELL if made.system == "windows" else Shell.POSIX


def read(made: Inside, flags: str) -> model.Inside:
    """Return what unmask reads of a guest with these flags."""
    chosen = _reading.probes(shell_of(made))
    if shell_of(made) is Shell.POSIX:
        program = made.answers(SHELL, _script.script(MARK, chosen).encode())
    else:
        program = made.answers(_windows.arguments(_windows.script(MARK, chosen)), b"")
    assert program is not None
    output = made.told(program, CPU.format(flags=flags))
    sections = split(output, MARK, chosen)
    assert sections.whole
    assert set(sections.found) == {probe.name for probe in chosen}
    return _reading.inside(sections, chosen)


def guest(vmid: int) -> Inside:
    return guest_inside.parse(TABLES[vmid], SITE.profiles)


@pytest.mark.parametrize("vmid", TABLES)
@pytest.mark.parametrize("flags", [PLAIN, FAST])
def test_every_guest_is_read_whole(vmid: int, flags: str) -> None:
    found = read(guest(vmid), flags)
    assert found.root is True
    assert found.partial == ()
    assert (found.system.known, found.cpu.known) == (True, True)


@pytest.mark.parametrize("vmid", TABLES)
def test_tables_name_nothing_that_is_not_asked_for(vmid: int) -> None:
    made = guest(vmid)
    assert set(made.sections) == {probe.name for probe in _reading.probes(shell_of(made))}


@pytest.mark.parametrize("name", SITE.profiles)
def test_every_profile_is_somebodys(name: str) -> None:
    assert name in {table["like"] for table in TABLES.values()}


def test_what_each_guest_is_there_for() -> None:
    assert read(guest(101), PLAIN).zfs.value.datasets[2].encryption == "aes-256-gcm"
    assert read(guest(102), PLAIN).ipsec.value.associations[0].algorithm == "aes-gcm-16"
    assert read(guest(103), PLAIN).wireguard.value[0].interface == "wg0"
    assert read(guest(110), PLAIN).bitlocker.value[0].status == "encrypted"
    programs = {item.name: item.libraries for item in read(guest(112), PLAIN).tls_processes.value}
    assert programs["caddy"] == ("go",)
    assert read(guest(120), PLAIN).backups.value[0].name == "restic"
    assert read(guest(123), FAST).dm_crypt.value[0].cipher == "aes-xts-plain64"
    assert read(guest(125), FAST).tls_services.value[0].name == "haproxy"
    assert read(guest(126), FAST).databases.value[0].tls is True
    assert read(guest(130), PLAIN).luks_headers.value[0].key_bits == 512


@pytest.mark.parametrize("vmid", [120, 123, 130])
def test_the_kernels_drivers_follow_the_cpu(vmid: int) -> None:
    slow, fast = read(guest(vmid), PLAIN), read(guest(vmid), FAST)
    assert slow.serving("xts(aes)").driver == "xts(ecb(aes-generic))"  # type: ignore[union-attr]
    assert fast.serving("xts(aes)").driver == "xts-aes-aesni-avx"  # type: ignore[union-attr]
    assert not slow.kernel_crypto.value.loaded("aesni_intel")
    assert fast.kernel_crypto.value.loaded("aesni_intel")


def test_the_pool_of_truenas_follows_the_cpu() -> None:
    slow, fast = read(guest(101), PLAIN).zfs.value, read(guest(101), FAST).zfs.value
    assert slow.gcm is not None
    assert fast.gcm is not None
    assert (slow.gcm.offered, fast.gcm.offered) == (("generic",), ("avx", "generic", "pclmulqdq"))


def test_freebsd_attaches_aesni_only_where_it_can() -> None:
    slow, fast = read(guest(102), PLAIN), read(guest(102), FAST)
    assert "aes" not in slow.cpu.value.flags
    assert {"aes", "sse4_1", "avx"} <= fast.cpu.value.flags
    assert "aesni0: AES-CBC,AES-CCM,AES-GCM,AES-ICM,AES-XTS" in fast.kernel_crypto.value.devices
    assert "aesni0: No AES or SHA support." in slow.kernel_crypto.value.devices


def test_no_driver_says_more_than_the_cpu_can() -> None:
    for vmid in TABLES:
        for flags, allowed in ((PLAIN, {Status.SOFTWARE}), (FAST, set(Status))):
            reading = read(guest(vmid), flags).crypto_drivers
            for item in reading.value if reading.known else ():
                if "aes" in item.algorithm:
                    assert drivers.meaning(item.driver) in allowed, item.driver


def test_the_program_of_another_system_is_not_answered() -> None:
    posix = _script.script(MARK, _reading.probes()).encode()
    windows = _windows.arguments(_windows.script(MARK, _reading.probes(Shell.POWERSHELL)))
    assert guest(110).answers(SHELL, posix) is None
    assert guest(101).answers(windows, b"") is None
    assert guest(101).answers(("/bin/sh", "-c", "id"), b"") is None
    assert guest(110).answers(("powershell.exe", "-EncodedCommand", "%%%"), b"") is None


def test_something_else_on_the_shells_input_prints_nothing() -> None:
    made = guest(101)
    program = made.answers(SHELL, b"echo hello\n")
    assert program is not None
    assert made.told(program, CPU.format(flags=PLAIN)) == b""


@pytest.fixture
def lab() -> Iterator[Lab]:
    with Lab(pace=0) as running:
        yield running


def test_a_running_guest_answers_by_the_cpu_that_it_was_started_with(lab: Lab) -> None:
    agent = lab.cluster.agents[123]
    program = _script.script(MARK, _reading.probes()).encode()
    pid = agent.run(SHELL, program)
    told = agent.status(pid)["out-data"].encode("latin-1")
    found = _reading.read(told, MARK, _reading.probes())
    assert agent.cpuinfo is not None
    assert found.cpu.value.flags == cpuinfo.parse(agent.cpuinfo()).flags
    assert found.cpu.value.model_name == "QEMU Virtual CPU version 2.5+"


def test_what_openssl_prints_has_the_bits_where_they_belong() -> None:
    said = cpuid.capabilities(FAST.split())
    match = re.fullmatch(r"CPUINFO: OPENSSL_ia32cap=0x([0-9a-f]+):0x([0-9a-f]+)\n", said)
    assert match
    first, second = int(match[1], 16), int(match[2], 16)
    assert first >> (32 + 25) & 1  # AES
    assert first >> (32 + 1) & 1  # PCLMULQDQ
    assert first >> (32 + 9) & 1  # SSSE3
    assert second >> 5 & 1  # AVX2
    assert not second >> (32 + 9) & 1  # VAES


def test_what_freebsd_prints_is_read_as_the_same_cpu() -> None:
    for flags in (PLAIN, FAST):
        said = cpuid.freebsd("Common KVM processor", "GenuineIntel", flags.split())
        assert cpuinfo.parse(said).flags == frozenset(flags.split())
