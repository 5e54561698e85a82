"""What Proxmox made of settings and configurations: the project's own cases and the recorded ones.

The recorded ones lie beside the repository and are read where they are present.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from unmask.dialects.proxmox import cpu_option, custom_models
from unmask.dialects.proxmox.command import Setting, cpu_argument
from unmask.dialects.proxmox.conf import GuestConfig, Section
from unmask.dialects.proxmox.cpu_option import CpuOption
from unmask.errors import InputError

ROOT = Path(__file__).parents[2]
OWN = ROOT / "fixtures" / "proxmox"
RECORDED = ROOT.parent / "shared" / "pve-api"

RECORDED_MODELS = """\
cpu-model: foo
    flags +aes;+ssse3;+pclmulqdq
    reported-model qemu64

cpu-model: bar
    hidden 1
    phys-bits host
    reported-model kvm64
"""
"""The custom models that were there when the recorded cases were made."""


def own(name: str) -> Any:
    """Return a JSON file of the project's own cases."""
    return json.loads((OWN / name).read_text(encoding="utf-8"))


def recorded(name: str) -> Any:
    """Return a JSON file of recorded cases; skip the test where it is not present."""
    path = RECORDED / name
    if not path.exists():
        pytest.skip("the recorded answers of a real Proxmox VE are not beside this repository")
    return json.loads(path.read_text(encoding="utf-8"))


@cache
def own_models() -> Mapping[str, CpuOption]:
    """Return the custom models of the project's own cases."""
    return custom_models.parse((OWN / "cpu-models.conf").read_text(encoding="utf-8")).models


@cache
def recorded_models() -> Mapping[str, CpuOption]:
    """Return the custom models of the recorded cases."""
    return custom_models.parse(RECORDED_MODELS).models


def generated(
    cpu: str, models: Mapping[str, CpuOption], setting: Setting
) -> tuple[str | None, str | None]:
    """Return the `-cpu` value for `cpu: CPU` ("" for none), and the error, of which one is None."""
    try:
        option = cpu_option.parse(cpu, models) if cpu else None
        return cpu_argument(option, models, setting), None
    except InputError as error:
        return None, str(error)


def sections(config: GuestConfig) -> list[Section]:
    """Return the sections of a configuration in the order of the file."""
    pending = [config.pending] if config.pending else []
    return [config.main, *pending, *config.snapshots.values()]


def warnings(config: GuestConfig) -> list[list[str]]:
    """Return what Proxmox logs of the lines that it drops, lines of each sorted."""
    return [
        said(f"unable to parse value of '{line.key}' - {line.reason}")
        for section in sections(config)
        for line in section.dropped
    ]


def said(warning: str) -> list[str]:
    """Return a warning's lines, sorted: Proxmox names several faults in random order."""
    return sorted(filter(None, warning.split("\n")))
