"""A machine described by one file, whatever printed it."""

from __future__ import annotations

import pytest

from unmask.dialects.described_host import described, spoken
from unmask.errors import InputError
from unmask.model.cpu import Accelerator
from unmask.model.inventory import Platform

CPUINFO = "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu lm aes pclmulqdq\n"
CAPABILITIES = """
<capabilities><host><cpu><arch>x86_64</arch><model>Westmere</model><vendor>Intel</vendor>
<signature family='6' model='44' stepping='2'/><feature name='vmx'/></cpu></host></capabilities>
"""
DOMAIN_CAPABILITIES = """
<domainCapabilities><path>/usr/bin/qemu-system-x86_64</path><domain>kvm</domain>
<machine>pc-q35-7.2</machine><arch>x86_64</arch><cpu>
<mode name='host-model' supported='yes'><model fallback='forbid'>Westmere</model>
<feature policy='require' name='pclmuldq'/><feature policy='disable' name='aes'/></mode>
<mode name='custom' supported='yes'><model usable='yes'>Westmere</model>
<model usable='no'>Haswell</model></mode></cpu></domainCapabilities>
"""


def test_cpuinfo() -> None:
    host = described(CPUINFO, "new")
    assert host.name == host.subject == "new"
    assert host.cpu.value.complete
    assert {"aes", "pclmulqdq"} <= host.cpu.value.flags


def test_capabilities_describe_the_physical_cpu_and_may_leave_flags_out() -> None:
    host = described(CAPABILITIES, "new")
    assert host.platform is Platform.LIBVIRT
    cpu = host.cpu.value
    assert not cpu.complete
    assert (cpu.vendor, cpu.family, cpu.model) == ("GenuineIntel", 6, 44)
    assert {"aes", "vmx"} <= cpu.flags
    # libvirt's Westmere has no PCLMULQDQ, and this host does not list it.
    assert "pclmulqdq" not in cpu.flags


def test_domain_capabilities_are_what_guests_can_be_given() -> None:
    host = described(DOMAIN_CAPABILITIES, "new")
    assert not host.cpu.known
    (offer,) = host.offers
    assert offer.accelerator is Accelerator.KVM
    assert dict(offer.usable) == {"Westmere": True, "Haswell": False}
    assert offer.host_model is not None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not a CPU description"),
        ("hello\n", "not a CPU description"),
        ("<domain/>", "<domain> document describes no host"),
        ("<capabilities/>", "describe no CPU"),
        ("<capabilities", "not well-formed"),
        ("<!DOCTYPE x [<!ENTITY a 'b'>]><capabilities>&a;</capabilities>", "refused"),
        ("<domainCapabilities/>", "no architecture"),
    ],
)
def test_what_is_nothing_of_the_kind_is_refused(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        described(text, "new")


def test_libvirt_speaks_of_what_encryption_wants() -> None:
    assert {"aes", "pclmulqdq", "ssse3", "avx", "avx2", "vaes", "vpclmulqdq"} <= spoken()
    assert "avx_vnni" not in spoken()
