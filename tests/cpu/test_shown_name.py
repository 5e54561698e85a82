"""What a CPU's name in a guest tells: against QEMU itself, and against recorded guests."""

from __future__ import annotations

from typing import Any

import pytest

from support import catalogue_tool, peers
from unmask.cpu import catalogue, shown_name
from unmask.cpu.resolve import resolve
from unmask.dialects import cpuinfo
from unmask.model.cpu import Accelerator, HostCpu, Mode, State
from unmask.model.reading import Missing

KVM64 = frozenset({"fpu", "cx8", "cmov", "mmx", "fxsr", "sse", "sse2", "nx", "lm", "pni", "cx16"})
LOOKED_AT = ("7.2", "10.0")
"""Releases of which every model's name is in the table."""


def cpu(name: str, *more: str, **numbers: Any) -> HostCpu:
    arch = numbers.pop("arch", "x86_64")
    return HostCpu(arch, KVM64 | set(more), "GenuineIntel", name, **numbers)


@pytest.mark.peer
def test_every_name_is_the_one_that_qemu_shows() -> None:
    tool = catalogue_tool.load()
    binary = peers.program("qemu-system-x86_64")
    checked = 0
    with tool.running(binary, "tcg") as qmp:
        for entry in qmp.execute("query-cpu-definitions"):
            name = entry["name"]
            model = catalogue.find(name)
            if entry.get("alias-of") or model is None or model.since not in LOOKED_AT:
                continue
            expansion = qmp.execute("query-cpu-model-expansion", type="full", model={"name": name})
            shown = " ".join(expansion["model"]["props"]["model-id"].split())
            if shown.startswith("QEMU Virtual CPU"):
                assert name.partition("-")[0] in ("qemu64", "qemu32", "athlon")
            elif shown:
                assert name in shown_name.models()[shown], (name, shown)
                checked += 1
    assert checked > 50


def test_every_model_of_the_table_is_one_of_qemu() -> None:
    for name, versions in shown_name.models().items():
        assert name == " ".join(name.split())
        assert all(catalogue.find(version) for version in versions)
        assert catalogue.find(shown_name.named(name))


@pytest.mark.parametrize(
    ("name", "label", "mode"),
    [
        ("Common KVM processor", "kvm64", Mode.MODEL),
        ("Common 32-bit KVM processor", "kvm32", Mode.MODEL),
        ("QEMU Virtual CPU version 2.5+", "qemu64 or a model built on it", Mode.MODEL),
        ("QEMU Virtual CPU version (cpu64-rhel6)", "qemu64 or a model built on it", Mode.MODEL),
        ("QEMU TCG CPU version 2.5+", "max", Mode.MAXIMUM),
        ("Intel Core Processor (Haswell, no TSX)", "Haswell-noTSX", Mode.MODEL),
        ("Intel Xeon Processor (Skylake, IBRS)", "Skylake-Server-IBRS", Mode.MODEL),
        ("Intel Xeon Processor (Icelake)", "Icelake-Server", Mode.MODEL),
        ("AMD EPYC-Rome Processor", "EPYC-Rome", Mode.MODEL),
        ("AMD EPYC Processor (with IBPB)", "EPYC-IBPB", Mode.MODEL),
        ("Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz", "host", Mode.HOST),
        ("AMD EPYC 7713 64-Core Processor", "host", Mode.HOST),
        ("VIA Nano U3300@1200MHz", "host", Mode.HOST),
        ("ZX-C+ processor -U6780A@2.7GHz", "host", Mode.HOST),
        ("DO-Regular", "DO-Regular", Mode.UNKNOWN),
        ("", "not told", Mode.UNKNOWN),
    ],
)
def test_a_name_tells_the_model(name: str, label: str, mode: Mode) -> None:
    spec = shown_name.spec(cpu(name, family=15, model=6), Accelerator.KVM)
    assert (spec.label, spec.mode, spec.brief) == (label, mode, label)
    assert bool(spec.model) is (mode is Mode.MODEL)
    assert spec.steps


def test_only_kvm_passes_a_name_on_for_sure() -> None:
    shown = cpu("Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz")
    for accelerator in (Accelerator.OTHER, Accelerator.UNKNOWN):
        spec = shown_name.spec(shown, accelerator)
        assert (spec.mode, spec.label) == (Mode.UNKNOWN, shown.model_name)


def test_arm_under_kvm_has_no_other_model() -> None:
    for name in ("Neoverse-N1", ""):
        arm = HostCpu("aarch64", frozenset({"aes"}), "ARM", name)
        assert shown_name.spec(arm, Accelerator.KVM).mode is Mode.HOST
        assert shown_name.spec(arm, Accelerator.TCG).mode is Mode.UNKNOWN


def test_three_models_share_a_name() -> None:
    virtual = "QEMU Virtual CPU version 2.5+"
    old = HostCpu("i686", frozenset({"fpu", "pni"}), model_name=virtual, family=6, model=6)
    assert shown_name.spec(old, Accelerator.TCG).label == "qemu32"
    athlon = cpu(virtual, family=6, model=2)
    assert shown_name.spec(athlon, Accelerator.KVM).label == "athlon"


@pytest.mark.parametrize(
    ("flags", "model"),
    [
        ("", ""),
        ("popcnt ssse3 sse4_1 sse4_2", "x86-64-v2"),
        ("popcnt ssse3 sse4_1 sse4_2 aes", "x86-64-v2-AES"),
        ("popcnt ssse3 sse4_1 sse4_2 aes pclmulqdq", "x86-64-v2-AES"),
    ],
)
def test_flags_tell_what_is_built_on_qemu64(flags: str, model: str) -> None:
    shown = cpu("QEMU Virtual CPU version 2.5+", *flags.split(), family=15, model=107)
    spec = shown_name.spec(shown, Accelerator.KVM)
    assert spec.model == "qemu64"
    assert any(f"Proxmox VE's {model} adds" in step for step in spec.steps) is bool(model)
    assert set(flags.split()) <= spec.on


def test_what_is_seen_beside_a_model_and_what_lacks() -> None:
    westmere = catalogue.find("Westmere")
    assert westmere
    flags = (westmere.flags - {"aes"}) | {"rdrand", "constant_tsc"}
    name = "Westmere E56xx/L56xx/X56xx (Nehalem-C)"
    spec = shown_name.spec(HostCpu("x86_64", flags, model_name=name), Accelerator.KVM)
    assert spec.on == {"rdrand"}
    assert spec.off == {"aes"}
    assert spec.exact


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("Common KVM processor", "kvm64"),
        ("QEMU Virtual CPU version 2.5+", "qemu64 or a model built on it"),
        ("Intel Core Processor (Haswell)", "Haswell"),
    ],
)
def test_a_name_without_flags_hides_and_shows_nothing(name: str, label: str) -> None:
    shown = HostCpu("x86_64", frozenset(), model_name=name, complete=False)
    for accelerator in (Accelerator.KVM, Accelerator.UNKNOWN):
        spec = shown_name.spec(shown, accelerator)
        assert (spec.label, spec.mode, spec.model) == (label, Mode.UNKNOWN, "")
        assert spec.steps[-1] == "its flags were not read"
        view = resolve(spec, "x86_64", accelerator, Missing("no host"))
        assert view.state("aes") is State.UNKNOWN


def test_a_made_up_name_is_quoted_as_it_is() -> None:
    shown = cpuinfo.parse("model name\t: Virtual CPU 82d9ed4018dd\nflags\t: fpu lm cx8\n")
    spec = shown_name.spec(shown, Accelerator.KVM)
    assert spec.steps == (
        "\"Virtual CPU 82d9ed4018dd\" is neither QEMU's nor a maker's name: the platform chose it",
    )
