"""The Debian guest itself: what later tests rely on is there."""

from __future__ import annotations

from support.booted_guest import BootGuest
from support.cpuinfo_guest import flags
from support.domain_xml import Cpu


def test_guest_answers_over_ssh_and_agent(booted_guest: BootGuest) -> None:
    element = "<cpu mode='custom' match='exact'><model>Westmere</model></cpu>"
    guest = booted_guest("whole", cpu=Cpu(element=element))
    over_ssh = guest.ssh("cat /proc/cpuinfo")
    assert {"aes", "pclmulqdq"} <= flags(over_ssh)
    assert "avx" not in flags(over_ssh)
    assert flags(guest.agent_run("/bin/cat", "/proc/cpuinfo")) == flags(over_ssh)
    assert guest.ssh("systemctl is-active nginx").strip() == "active"
    assert guest.ssh("openssl version").startswith("OpenSSL 3.")
    assert guest.ssh("cryptsetup --version").startswith("cryptsetup 2.")
