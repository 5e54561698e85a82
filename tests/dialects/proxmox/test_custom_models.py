"""cpu-models.conf as Proxmox reads it."""

from __future__ import annotations

import pytest

from unmask.dialects.proxmox import custom_models
from unmask.dialects.proxmox.cpu_option import CpuOption
from unmask.errors import InputError


def test_models_with_everything_and_with_nothing() -> None:
    found = custom_models.parse(
        "# ours\n"
        "cpu-model: seal\n"
        "\tflags +aes;+pclmulqdq;-sse4a\n"
        "    hidden yes\n"
        "\thv-vendor-id walrus\n"
        "\tphys-bits host\n"
        "\tguest-phys-bits 39\n"
        "\tlevel 30\n"
        "\treported-model EPYC\n"
        "\n"
        "cpu-model: plain\n"
    )
    assert found.faults == ()
    assert found.models == {
        "seal": CpuOption(
            "custom-seal",
            flags=(("+", "aes"), ("+", "pclmulqdq"), ("-", "sse4a")),
            hidden=True,
            hv_vendor_id="walrus",
            phys_bits="host",
            guest_phys_bits="39",
            level="30",
            reported_model="EPYC",
        ),
        "plain": CpuOption("custom-plain", reported_model="kvm64"),
    }


def test_hidden_0_is_the_same_as_no_hidden() -> None:
    found = custom_models.parse("cpu-model: a\n    hidden 0\n")
    assert found.models["a"].hidden is None


def test_an_attribute_with_a_fault_is_dropped_and_the_model_stays() -> None:
    found = custom_models.parse(
        "cpu-model: a\n"
        "    flags aes\n"
        "    reported-model x86-64-v3\n"
        "    colour blue\n"
        "    level 4\n"
        "    level 5\n"
        "not indented\n"
    )
    assert found.models == {"a": CpuOption("custom-a", level="4", reported_model="kvm64")}
    assert [name for name, _ in found.faults] == ["a"] * 5
    assert "line 2" in found.faults[0][1]
    assert "colour" in found.faults[2][1]
    assert "duplicate attribute" in found.faults[3][1]


def test_a_section_ends_with_an_empty_line_only() -> None:
    found = custom_models.parse("cpu-model: a\n    level 4\ncpu-model: b\n    phys-bits 40\n")
    assert list(found.models) == ["a"]
    assert found.models["a"].phys_bits == "40"
    assert "sections end with an empty line" in found.faults[0][1]


def test_other_sections_and_stray_lines_are_said() -> None:
    found = custom_models.parse("    stray\ndir: local\n    path /x\n\ncpu-model: a\n")
    assert list(found.models) == ["a"]
    assert [name for name, _ in found.faults] == ["", ""]


@pytest.mark.parametrize("text", ["cpu-model: a\0\n", "#" * (custom_models.LIMIT + 1)])
def test_what_is_no_such_file_is_an_error(text: str) -> None:
    with pytest.raises(InputError, match=r"cpu-models\.conf is too large or binary"):
        custom_models.parse(text)


def test_an_empty_file_has_no_models() -> None:
    assert custom_models.parse("").models == {}


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "line", ["    key" + " " * 200_000, ":" * 200_000 + " x y", "    flags " + "+a;" * 60_000]
)
def test_a_huge_line_takes_no_time(line: str) -> None:
    assert custom_models.parse(f"{line}\n\ncpu-model: a\n{line}\n").models["a"].flags == ()
