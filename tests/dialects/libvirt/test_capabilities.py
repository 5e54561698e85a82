from __future__ import annotations

import pytest

from unmask.dialects.libvirt import capabilities, xml
from unmask.errors import InputError
from unmask.model.cpu import Accelerator

HOST = """<capabilities><host><cpu><arch>x86_64</arch><model>Westmere</model>
<vendor>Intel</vendor><microcode version='31'/>
<signature family='6' model='44' stepping='2'/>{}</cpu></host>
<guest><arch name='x86_64'><emulator>/usr/bin/qemu-system-x86_64</emulator>
<domain type='qemu'/><domain type='kvm'><emulator>/usr/bin/kvm</emulator></domain></arch></guest>
</capabilities>"""

OFFER = """<domainCapabilities><path>/usr/bin/qemu-system-x86_64</path><domain>kvm</domain>
<machine>pc-q35-9.0</machine><arch>x86_64</arch><cpu>
<mode name='host-passthrough' supported='yes'/>
<mode name='host-model' supported='yes'><model fallback='forbid'>FutureLake</model>
<feature policy='require' name='aes'/></mode>
<mode name='custom' supported='yes'>
<model usable='no' vendor='Intel'>FutureLake</model><blockers model='FutureLake'><feature name='x'/>
</blockers><model usable='yes'>qemu64</model><model usable='unknown'>odd</model>
</mode></cpu></domainCapabilities>"""


def test_host_flags_are_libvirts_map_and_the_listed_features() -> None:
    found = capabilities.host(xml.parse(HOST.format("<feature name='pclmuldq'/>"), "it"))
    cpu = found.cpu
    assert cpu is not None
    assert {"aes", "pclmulqdq"} <= cpu.flags
    assert "hypervisor" not in cpu.flags
    assert (cpu.vendor, cpu.microcode, cpu.complete) == ("GenuineIntel", "31", False)
    assert (cpu.family, cpu.model, cpu.stepping) == (6, 44, 2)
    assert "Westmere" in cpu.model_name
    assert found.emulators == {"/usr/bin/qemu-system-x86_64", "/usr/bin/kvm"}


def test_a_host_without_the_feature_is_the_same_model() -> None:
    cpu = capabilities.host(xml.parse(HOST.format(""), "it")).cpu
    assert cpu is not None
    assert "pclmulqdq" not in cpu.flags


def test_arm_host_lists_linux_words() -> None:
    text = (
        "<capabilities><host><cpu><arch>aarch64</arch><model>Neoverse-N1</model>"
        "<vendor>ARM</vendor><feature name='aes'/><feature name='pmull'/></cpu></host>"
        "</capabilities>"
    )
    found = capabilities.host(xml.parse(text, "it"))
    assert found.cpu is not None
    assert found.arch == "aarch64"
    assert found.cpu.flags == {"aes", "pmull"}
    assert found.cpu.model_name == "Neoverse-N1"


@pytest.mark.parametrize(
    "inner",
    ["", "<host/>", "<host><cpu><arch>i686</arch><features><pae/></features></cpu></host>"],
)
def test_a_host_without_a_cpu_model(inner: str) -> None:
    assert capabilities.host(xml.parse(f"<capabilities>{inner}</capabilities>", "it")).cpu is None


@pytest.mark.parametrize("number", ["x", "", "-1", "99999999999999999999"])
def test_odd_numbers_are_not_known(number: str) -> None:
    text = HOST.format("").replace("family='6'", f"family='{number}'")
    cpu = capabilities.host(xml.parse(text, "it")).cpu
    assert cpu is not None
    assert cpu.family is None


def test_domain_capabilities_name_their_own_models() -> None:
    found = capabilities.domain(xml.parse(OFFER, "it"))
    assert found.models == {"FutureLake", "odd", "qemu64"}
    assert found.cpu.usable == (("FutureLake", False), ("qemu64", True))
    assert (found.cpu.arch, found.cpu.accelerator) == ("x86_64", Accelerator.KVM)
    assert found.cpu.machine == "pc-q35-9.0"
    assert found.cpu.host_passthrough
    assert found.cpu.host_model is not None
    assert found.cpu.host_model.model == "FutureLake"
    assert found.cpu.host_model.on == {"aes"}


def test_other_architectures_without_host_model() -> None:
    text = (
        "<domainCapabilities><path>/usr/bin/qemu-system-riscv64</path><domain>qemu</domain>"
        "<arch>riscv64</arch><cpu><mode name='host-passthrough' supported='no'/>"
        "<mode name='host-model' supported='no'/></cpu></domainCapabilities>"
    )
    found = capabilities.domain(xml.parse(text, "it"))
    assert (found.cpu.host_model, found.cpu.host_passthrough) == (None, False)
    assert (found.cpu.accelerator, found.models) == (Accelerator.TCG, frozenset())


def test_an_offer_for_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="no architecture"):
        capabilities.domain(xml.parse("<domainCapabilities/>", "it"))
