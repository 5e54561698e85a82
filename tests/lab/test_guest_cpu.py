"""A guest of the lab sees the CPU that its configuration and its host give it."""

from collections.abc import Iterator

import pytest

from support.lab_cases import ask
from unmask.dialects import cpuinfo
from unmask.lab.host import Host
from unmask.lab.lab import Lab
from unmask.lab.site import packaged


@pytest.fixture
def lab() -> Iterator[Lab]:
    with Lab(pace=0) as running:
        yield running


def seen(lab: Lab, node: str, vmid: int) -> frozenset[str]:
    path = f"GET /nodes/{node}/qemu/{vmid}/agent/file-read"
    text = ask(lab, "agent", path, {"file": "/proc/cpuinfo"})[2]["data"]["content"]
    return cpuinfo.parse(text).flags


def test_a_new_cpu_is_seen_after_a_restart_only(lab: Lab) -> None:
    assert "aes" not in seen(lab, "pve1", 101)
    ask(lab, "fix", "PUT /nodes/pve1/qemu/101/config", {"cpu": "x86-64-v2-AES"})
    ask(lab, "fix", "POST /nodes/pve1/qemu/101/status/reset")
    assert "aes" not in seen(lab, "pve1", 101)
    ask(lab, "fix", "POST /nodes/pve1/qemu/101/status/reboot")
    assert "aes" in seen(lab, "pve1", 101)


def test_a_guest_with_the_hosts_cpu_does_not_see_what_firmware_hides(lab: Lab) -> None:
    found = seen(lab, "pve4", 130)
    assert "avx2" in found
    assert "aes" not in found


def test_args_replace_the_configured_cpu(lab: Lab) -> None:
    ask(lab, "fix", "POST /nodes/pve3/qemu/123/status/stop")
    lab.cluster.files["nodes/pve3/qemu-server/123.conf"] = (
        "agent: 1\nargs: -cpu qemu64,+ssse3\ncpu: host\nmemory: 512\n"
    )
    ask(lab, "fix", "POST /nodes/pve3/qemu/123/status/start")
    assert "aes" not in seen(lab, "pve3", 123)
    assert "ssse3" in seen(lab, "pve3", 123)


def test_live_migration_keeps_the_old_cpu_and_the_pending_one(lab: Lab) -> None:
    ask(lab, "fix", "PUT /nodes/pve3/qemu/125/config", {"cpu": "x86-64-v2-AES"})
    ask(lab, "fix", "POST /nodes/pve3/qemu/125/migrate", {"target": "pve2", "online": 1})
    assert "avx2" in seen(lab, "pve2", 125)
    rows = ask(lab, "fix", "GET /nodes/pve2/qemu/125/pending")[2]["data"]
    assert {"key": "cpu", "value": "x86-64-v3", "pending": "x86-64-v2-AES"} in rows


@pytest.mark.parametrize("name", ["pve1", "pve2", "pve3", "pve4"])
def test_the_hosts_are_what_the_lab_says_of_them(name: str) -> None:
    host = packaged().hosts[name]
    flags = host.cpu.flags
    assert ("avx2" in flags) is (name != "pve1")
    assert ("aes" in flags) is (name != "pve4")
    assert host.proc_cpuinfo().count("processor\t:") == host.processors


def test_a_host_without_hardware_help_says_so() -> None:
    host = Host("processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu sse2\n", 2)
    assert host.described(vendor=False)["hvm"] == ""
    assert host.described(vendor=True)["vendor"] == "GenuineIntel"
