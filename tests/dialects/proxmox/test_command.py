"""What beside `cpu:` decides the `-cpu` value that Proxmox generates."""

from __future__ import annotations

import pytest

from unmask.dialects.proxmox import cpu_option
from unmask.dialects.proxmox.command import Setting, cpu_argument, default_model
from unmask.errors import InputError


def words(cpu: str, setting: Setting) -> list[str]:
    option = cpu_option.parse(cpu, ()) if cpu else None
    return cpu_argument(option, {}, setting).split(",")


@pytest.mark.parametrize(
    ("machine", "present"),
    [
        ("", True),
        ("q35", True),
        ("pc-q35-11.0", True),
        ("pc-i440fx-11.0+pve1", True),
        ("type=pc-q35-10.1,viommu=virtio", False),
        ("pc-q35-10.0", False),
    ],
)
def test_windows_11_loses_cet_on_a_machine_of_qemu_11(machine: str, present: bool) -> None:  # noqa: FBT001
    found = words("EPYC", Setting(ostype="win11", machine=machine))
    assert ("-cet-ss" in found) is present


def test_host_on_an_older_machine_loses_a_flag_of_nested_guests() -> None:
    assert "-vmx-mbec" in words("host", Setting(machine="pc-q35-9.2"))
    assert "-vmx-mbec" not in words("host", Setting(machine="pc-q35-11.0"))
    assert "-vmx-mbec" not in words("EPYC", Setting(machine="pc-q35-9.2"))


def test_a_graphics_card_hides_kvm_unless_the_guest_says_otherwise() -> None:
    found = words("host", Setting(graphics=True, ostype="win10"))
    assert {"kvm=off", "hv_vendor_id=proxmox"} <= set(found)
    assert "kvm=off" not in words("host,hidden=0", Setting(graphics=True))


@pytest.mark.parametrize(
    ("ostype", "bios", "first", "last"),
    [
        ("wxp", "", False, False),
        ("w2k8", "", True, False),
        ("win7", "", True, True),
        ("win7", "ovmf", False, False),
        ("win8", "ovmf", True, True),
        ("l26", "", False, False),
        ("win", "", False, False),
        ("", "", False, False),
    ],
)
def test_what_windows_gets_depends_on_its_version(
    ostype: str,
    bios: str,
    first: bool,  # noqa: FBT001
    last: bool,  # noqa: FBT001
) -> None:
    found = words("kvm64", Setting(ostype=ostype, bios=bios))
    assert ("hv_time" in found, "hv_relaxed" in found) == (first, last)


@pytest.mark.parametrize(
    ("flags", "sign", "expected"),
    [
        (frozenset({"vmx", "aes"}), "+", "+vmx"),
        (frozenset({"svm"}), "-", "-svm"),
        (frozenset({"aes"}), "+", None),
        (None, "+", None),
    ],
)
def test_nested_virt_is_the_flag_of_the_host(
    flags: frozenset[str] | None, sign: str, expected: str | None
) -> None:
    found = words(f"EPYC,flags={sign}nested-virt", Setting(host_flags=flags))
    assert [word for word in found if "vmx" in word or "svm" in word] == [expected] * bool(expected)
    assert not any("nested" in word for word in found)


@pytest.mark.parametrize(
    ("kvm", "version", "model"),
    [
        (True, "9", "host"),
        (False, "9", "max"),
        (True, "9.2.2", "cortex-a57"),
        (False, "8.4", "cortex-a57"),
    ],
)
def test_the_default_of_aarch64(kvm: bool, version: str, model: str) -> None:  # noqa: FBT001
    setting = Setting(kvm=kvm, arch="aarch64", ostype="l26", version=version)
    assert default_model(setting) == model
    assert words("", setting) == [model]


def test_x86_rules_are_not_for_aarch64() -> None:
    setting = Setting(arch="aarch64", ostype="win11")
    assert words("cortex-a72", setting) == ["cortex-a72"]


@pytest.mark.parametrize(
    ("cpu", "arch"), [("neoverse-n1", "x86_64"), ("x86-64-v3", "aarch64"), ("EPYC", "aarch64")]
)
def test_a_model_of_another_architecture_does_not_start(cpu: str, arch: str) -> None:
    said = f"CPU model '{cpu}' does not exist for configured vCPU architecture '{arch}'"
    with pytest.raises(InputError) as caught:
        words(cpu, Setting(arch=arch))
    assert str(caught.value) == said


def test_a_custom_model_that_is_gone_does_not_start() -> None:
    option = cpu_option.parse("custom-gone", None)
    with pytest.raises(InputError, match="Custom cputype 'gone' not found"):
        cpu_argument(option, {}, Setting())
