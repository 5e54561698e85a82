"""`cpu:` validated as Proxmox does."""

from __future__ import annotations

import pytest

from unmask.dialects.proxmox import cpu_option
from unmask.dialects.proxmox.cpu_option import CpuOption
from unmask.dialects.proxmox.release import at_least
from unmask.errors import InputError

MODELS = ("seal",)


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("host", CpuOption("host")),
        ("cputype=host", CpuOption("host")),
        ("host,", CpuOption("host")),
        (",,host, ,", CpuOption("host")),
        (
            "flags=+aes;-pcid,kvm64",
            CpuOption("kvm64", flags=(("+", "aes"), ("-", "pcid"))),
        ),
        (
            "kvm64,flags=+aes;+aes;-aes",
            CpuOption("kvm64", flags=(("+", "aes"), ("+", "aes"), ("-", "aes"))),
        ),
        ("host,hidden=1", CpuOption("host", hidden=True)),
        ("host,hidden=YES", CpuOption("host", hidden=True)),
        ("host,hidden=off", CpuOption("host", hidden=False)),
        ("max,hv-vendor-id=abc123", CpuOption("max", hv_vendor_id="abc123")),
        ("max,phys-bits=host", CpuOption("max", phys_bits="host")),
        (
            "guest-phys-bits=39,phys-bits=40,level=30,EPYC",
            CpuOption("EPYC", phys_bits="40", guest_phys_bits="39", level="30"),
        ),
        ("custom-seal", CpuOption("custom-seal")),
        ("cortex-a57", CpuOption("cortex-a57")),
        ("x86-64-v4,flags=+nested-virt", CpuOption("x86-64-v4", flags=(("+", "nested-virt"),))),
        ("cputype=0,host", CpuOption("host")),
    ],
)
def test_valid_values(text: str, option: CpuOption) -> None:
    assert cpu_option.parse(text, MODELS) == option


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "CPU is missing cputype"),
        (" ", "CPU is missing cputype"),
        ("flags=+aes", "CPU is missing cputype"),
        ("cputype=", "missing key in comma-separated list property"),
        ("=host", "missing key in comma-separated list property"),
        ("host,kvm64", "duplicate key in comma-separated list property: cputype"),
        ("host,cputype=kvm64", "duplicate key in comma-separated list property: cputype"),
        ("kvm64,flags=+aes,+pcid", "duplicate key in comma-separated list property: cputype"),
        ("kvm64,hidden=1,hidden=1", "duplicate key in comma-separated list property: hidden"),
        ("Host", "Built-in cputype 'Host' is not defined (missing 'custom-' prefix?)"),
        ("x86-64-v1", "Built-in cputype 'x86-64-v1' is not defined (missing 'custom-' prefix?)"),
        ('"host"', "Built-in cputype '\"host\"' is not defined (missing 'custom-' prefix?)"),
        ("seal", "Built-in cputype 'seal' is not defined (missing 'custom-' prefix?)"),
        ("custom-walrus", "Custom cputype 'walrus' not found"),
        ("custom-", "Custom cputype '' not found"),
        ("kvm64,flags=aes", "format error\nflags: value does not match the regex pattern"),
        ("kvm64,flags=+aes;", "format error\nflags: value does not match the regex pattern"),
        (
            "host,flags=+pcid   # why",
            "format error\nflags: value does not match the regex pattern",
        ),
        ("kvm64,hidden=2", "format error\nhidden: type check ('boolean') failed - got '2'"),
        ("kvm64,level=x", "format error\nlevel: type check ('integer') failed - got 'x'"),
        ("kvm64,level=-1", "format error\nlevel: value must have a minimum value of 0"),
        (
            "kvm64,guest-phys-bits=31",
            "format error\nguest-phys-bits: value must have a minimum value of 32",
        ),
        (
            "kvm64,guest-phys-bits=65",
            "format error\nguest-phys-bits: value must have a maximum value of 64",
        ),
        (
            "kvm64,phys-bits=7",
            (
                "format error\nphys-bits: invalid format"
                " - value must be an integer between 8 and 64 or 'host'"
            ),
        ),
        (
            "kvm64,hv-vendor-id=thirteenchars",
            "format error\nhv-vendor-id: value does not match the regex pattern",
        ),
        (
            "kvm64, hidden=1",
            (
                "format error\n hidden: property is not defined in schema"
                " and the schema does not allow additional properties"
            ),
        ),
        (
            "kvm64,reported-model=Westmere",
            "Property 'reported-model' not allowed in VM-specific CPU config.",
        ),
        (
            "kvm64,reported-model=x86-64-v3",
            "format error\nreported-model: value 'x86-64-v3' is not a QEMU CPU model",
        ),
    ],
)
def test_what_proxmox_drops_and_why(text: str, reason: str) -> None:
    with pytest.raises(InputError) as caught:
        cpu_option.parse(text, MODELS)
    assert str(caught.value) == reason


def test_every_fault_is_named_at_once() -> None:
    with pytest.raises(InputError) as caught:
        cpu_option.parse("kvm64,hidden=2,level=x,bogus=1", MODELS)
    assert len(str(caught.value).split("\n")) == 4


def test_a_flag_beside_the_list_is_refused_for_a_guest() -> None:
    with pytest.raises(InputError, match=r"must be a subset of: aes, amd-no-ssb, .* virt-ssbd$"):
        cpu_option.parse("x86-64-v2-AES,flags=+pclmulqdq", MODELS)


def test_any_custom_model_passes_where_their_file_is_not_known() -> None:
    assert cpu_option.parse("custom-walrus", None).custom == "walrus"


@pytest.mark.parametrize(
    ("text", "version", "valid"),
    [
        ("x86-64-v2-AES", "7.4", False),
        ("x86-64-v2-AES", "8", True),
        ("host,flags=+nested-virt", "8.4", False),
        ("host,flags=+nested-virt", "9.0", True),
        ("host,flags=+nested-virt", "9.0.26", False),
        ("host,level=30", "8.4", False),
        ("host,level=30", "9.1.13", False),
        ("host,level=30", "9.1.14", True),
        ("host,guest-phys-bits=39", "9.0.17", False),
        ("host,guest-phys-bits=39", "9", True),
        ("host,phys-bits=host", "7", True),
    ],
)
def test_older_versions_know_less(text: str, version: str, valid: bool) -> None:  # noqa: FBT001
    if valid:
        assert cpu_option.parse(text, (), version).cputype
        return
    with pytest.raises(InputError):
        cpu_option.parse(text, (), version)


@pytest.mark.parametrize(
    ("version", "wanted", "answer"),
    [
        ("9", "9.2.3", True),
        ("9.2", "9.2.3", True),
        ("9.2.2", "9.2.3", False),
        ("10", "9.2.3", True),
        ("8.4", "9", False),
        ("9.2.10", "9.2.3", True),
        ("", "7", False),
        ("9.x", "9.1", False),
    ],
)
def test_versions_are_compared_by_number(version: str, wanted: str, answer: bool) -> None:  # noqa: FBT001
    assert at_least(version, wanted) is answer
