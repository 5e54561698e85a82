"""Configurations and command lines as a real Proxmox VE reads and writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from support import proxmox_oracle as oracle
from unmask.dialects.proxmox import conf
from unmask.dialects.proxmox.command import Setting
from unmask.dialects.proxmox.cpu_option import CpuOption


def check_kept(case: Mapping[str, Any], models: Mapping[str, CpuOption]) -> conf.GuestConfig:
    """Hold what the parser keeps and drops of one configuration against the oracle."""
    config = conf.parse(case["conf"], models)
    values = config.main.values
    for key in ("cpu", "args", "arch"):
        assert values.get(key) == case.get(key), key
    assert values.get("kvm") == (str(case["kvm"]) if "kvm" in case else None)
    pending = config.pending.values.get("cpu") if config.pending else None
    assert pending == case.get("pending", {}).get("cpu")
    found = {name: section.values.get("cpu") for name, section in config.snapshots.items()}
    assert found == {name: kept.get("cpu") for name, kept in case.get("snapshots", {}).items()}
    assert oracle.warnings(config) == [oracle.said(text) for text in case.get("warnings", [])]
    return config


@pytest.mark.parametrize("case", oracle.own("configurations.json"), ids=lambda case: case["conf"])
def test_own_configurations(case: Mapping[str, Any]) -> None:
    config = check_kept(case, oracle.own_models())
    deletes = config.pending.deletes if config.pending else ()
    assert list(deletes) == case.get("pending", {}).get("delete", [])


@pytest.mark.parametrize(
    "case",
    oracle.own("command_lines.json"),
    ids=lambda case: f"{case['cpu']}-{case['ostype']}-{case['kvm']}",
)
def test_own_command_lines(case: Mapping[str, Any]) -> None:
    setting = Setting(kvm=case["kvm"], ostype=case["ostype"])
    found = oracle.generated(case["cpu"], oracle.own_models(), setting)
    assert found == (case.get("expect"), case.get("error"))


def test_recorded_configurations() -> None:
    cases = oracle.recorded("conf-oracle.json")["cases"]
    assert len(cases) == 200
    models = oracle.recorded_models()
    for case in cases:
        values = check_kept(case, models).main.values
        arch = values.get("arch", "x86_64")
        setting = Setting(
            kvm=values.get("kvm", "1" if arch == "x86_64" else "0") == "1",
            arch=arch,
            ostype=values.get("ostype", ""),
            bios=values.get("bios", ""),
        )
        found, error = oracle.generated(values.get("cpu", ""), models, setting)
        assert (found, error) == (case["qemu_cpu"], case.get("error", "").strip() or None), case


def test_recorded_command_lines() -> None:
    lines = oracle.recorded("cpu-cmdline.json")
    assert len(lines) == 35
    models = oracle.recorded_models()
    for cpu, by_setting in lines.items():
        for words, expected in by_setting.items():
            given = dict(word.split("=") for word in words.split(","))
            setting = Setting(kvm=given["kvm"] == "1", ostype=given["ostype"])
            text = "" if cpu == "(not set)" else cpu
            found, error = oracle.generated(text, models, setting)
            assert expected in (found, f"ERROR: {error}\n"), (cpu, words)
