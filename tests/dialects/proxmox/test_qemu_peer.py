"""Every `-cpu` value that Proxmox generates, given to a real QEMU: the same flags come out.

QEMU runs under its own emulation, which leaves out what it does not implement, so `enforce` is
taken away; so are `host`, which needs KVM, and the interfaces for guests of Hyper-V and KVM, which
are no flags and need KVM too, and the numbers of address bits, of which TCG takes one only.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest

from support import catalogue_tool, peers
from support import proxmox_oracle as oracle
from unmask.cpu import catalogue, features
from unmask.cpu.resolve import resolve
from unmask.dialects import qemu
from unmask.model.cpu import Accelerator, Mode, Origin, State
from unmask.model.reading import Missing

tool = catalogue_tool.load()

ODD = (
    # How signs, values and repetitions work together, which no generated value has.
    "qemu64,-aes,+aes",
    "qemu64,+aes,aes=off",
    "qemu64,aes=off,aes=on",
    "qemu64,aes",
    "qemu64,+sse4.1,+sse4_2,+lahf_lm,-lahf-lm",
    "max,-aes,pclmulqdq=off,-avx2",
    "Haswell-noTSX,vendor=GenuineIntel,+invtsc,-pcid,-hle,-rtm,kvm=on,vmware-cpuid-freq=on",
    "EPYC-v3,-sha-ni,+pcid",
    "base,+aes,+lm",
)


@contextmanager
def started(value: str) -> Iterator[Any]:
    """Start a QEMU that waits with this CPU, and end it afterwards."""
    binary = peers.program("qemu-system-x86_64")
    options = ["-machine", "pc", "-accel", "tcg", "-m", "16", "-nodefaults", "-display", "none"]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [binary, *options, "-S", "-qmp", "stdio", "-cpu", value],
        stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True,
    ) as process:  # fmt: skip
        try:
            yield tool.Qmp(process.stdin, process.stdout)
        except tool.QemuError as error:
            pytest.fail(f"QEMU does not start with -cpu {value}: {error}")
        finally:
            process.kill()


def flags(value: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the flags that QEMU gives for a `-cpu` value, and those that it could give."""
    with started(value) as qmp:
        (processor, *_) = qmp.execute("query-cpus-fast")
        path = processor["qom-path"]
        kinds = {entry["name"]: entry["type"] for entry in qmp.execute("qom-list", path=path)}
        names = [name for name, kind in kinds.items() if kind == "bool" and _is_flag(name)]
        on = {name for name in names if qmp.execute("qom-get", path=path, property=name)}
    return _ours(on), _ours(set(names))


def _is_flag(name: str) -> bool:
    return features.qemu_knows(name) and not name.startswith("vmx-")


def _ours(names: set[str]) -> frozenset[str]:
    return frozenset(features.canonical(name) for name in names)


@cache
def release() -> str:
    """Return the version of the installed QEMU, two numbers."""
    binary = peers.program("qemu-system-x86_64")
    with tool.running(binary, "tcg") as qmp:
        number = qmp.greeting["QMP"]["version"]["qemu"]
    return f"{number['major']}.{number['minor']}"


@cache
def depends_on_release() -> frozenset[str]:
    """Return the flags that one QEMU emulates and another does not: the resolver can not tell."""
    views = [catalogue.emulated(number) for number in catalogue.releases()]
    return frozenset().union(*views) - frozenset.intersection(*views)


@cache
def has_property(name: str) -> bool:
    """Return whether the CPUs of the installed QEMU have a property: 7.2 has no `cet-ss`."""
    binary = peers.program("qemu-system-x86_64")
    with tool.running(binary, "tcg") as qmp:
        found = qmp.execute("device-list-properties", typename="max-x86_64-cpu")
    return name.replace("_", "-") in {entry["name"].replace("_", "-") for entry in found}


def bare(values: list[str | None]) -> list[str]:
    """Return what emulation can be asked of these values, each once."""
    found = set()
    for value in filter(None, values):
        model, *words = value.split(",")
        kept = [word for word in words if word != "enforce" and not _beside(word)]
        kept = [word for word in kept if has_property(word.lstrip("+-").partition("=")[0])]
        if model != "host":
            found.add(",".join([model, *kept]))
    return sorted(found)


def _beside(word: str) -> bool:
    return "phys-bits" in word or word.lstrip("+-").startswith(("hv_", "hv-", "kvm_pv"))


def check(value: str) -> None:
    """Compare what QEMU and the resolver make of one value."""
    spec = qemu.spec_of(value, Origin.CONFIG)
    known = catalogue.find(spec.model)
    if spec.mode is Mode.MODEL and (known is None or _newer(known.since)):
        return
    view = resolve(spec, "x86_64", Accelerator.TCG, Missing("it is QEMU alone"))
    given, possible = flags(value)
    assert spec.remarks == (), value
    wrong = {
        flag: str(view.state(flag))
        for flag in possible
        if view.state(flag) is not (State.SHOWN if flag in given else State.HIDDEN)
        and not (view.state(flag) is State.UNKNOWN and flag in depends_on_release())
    }
    assert wrong == {}, (value, sorted(given))


def _newer(since: str) -> bool:
    return [int(part) for part in since.split(".")] > [int(part) for part in release().split(".")]


@pytest.mark.peer
@pytest.mark.parametrize("value", ODD)
def test_signs_values_and_repetitions(value: str) -> None:
    check(value)


@pytest.mark.peer
@pytest.mark.timeout(600)
def test_own_command_lines() -> None:
    cases = oracle.own("command_lines.json")
    for value in bare([case.get("expect") for case in cases]):
        check(value)


@pytest.mark.peer
@pytest.mark.timeout(600)
def test_recorded_command_lines_and_configurations() -> None:
    lines: Mapping[str, Mapping[str, str]] = oracle.recorded("cpu-cmdline.json")
    cases = json.loads((oracle.RECORDED / "conf-oracle.json").read_text())["cases"]
    generated = [value for by_setting in lines.values() for value in by_setting.values()]
    values = bare(
        [value for value in generated if not value.startswith("ERROR")]
        + [case["qemu_cpu"] for case in cases]
        + [qemu.cpu_option(qemu.argument_list(case.get("args", ""))) for case in cases]
    )
    assert len(values) > 80
    for value in values:
        check(value)
