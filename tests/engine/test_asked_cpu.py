"""The value of `--cpu`, read as the guests' hypervisors read it."""

from __future__ import annotations

import pytest

from support import move_case
from unmask.engine import asked_cpu
from unmask.errors import UsageError
from unmask.model.cpu import CpuSpec, Mode, Origin
from unmask.model.inventory import Inventory

MODELS = {"lab": {"nas": {"on": "aes pclmulqdq"}}}


def proxmox(value: str, **guest: str) -> CpuSpec:
    inventory = move_case.inventory({}, [guest], MODELS)
    return asked_cpu.specs(inventory, inventory.guests, value)["lab/101"]


def on_libvirt() -> Inventory:
    return move_case.on_libvirt(move_case.inventory({"one": "broadwell"}, [{"host": "one"}]))


def libvirt(value: str) -> CpuSpec:
    inventory = on_libvirt()
    return asked_cpu.specs(inventory, inventory.guests, value)["lab/101"]


def test_a_value_of_proxmox_is_what_its_configuration_makes_of_it() -> None:
    spec = proxmox("kvm64,flags=+aes")
    assert (spec.mode, spec.model, spec.enforced) == (Mode.MODEL, "kvm64", True)
    assert {"aes", "lahf_lm", "sep"} <= spec.on
    assert proxmox("host").mode is Mode.HOST
    assert not proxmox("host").enforced
    assert proxmox("x86-64-v3").label == "x86-64-v3"


def test_the_guests_own_system_counts() -> None:
    assert "hv-time" in str(proxmox("kvm64", os="win11").properties)
    assert "hv-time" not in str(proxmox("kvm64").properties)


def test_an_emulated_guest_stays_emulated() -> None:
    assert not proxmox("x86-64-v3", accelerator="tcg").enforced


def test_a_custom_model_is_its_clusters() -> None:
    spec = proxmox("custom-nas")
    assert (spec.origin, spec.written) == (Origin.CUSTOM, "custom-nas")
    assert {"aes", "pclmulqdq"} <= spec.on
    changed = proxmox("custom-nas,flags=-aes;+pcid")
    assert "pcid" in changed.on
    assert "aes" in changed.off
    assert "aes" not in changed.on


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("Foo", "Built-in cputype 'Foo' is not defined"),
        ("custom-gone", "Custom cputype 'gone' not found"),
        ("kvm64,flags=+avx512f", "VM-specific CPU flags must be a subset of"),
        ("kvm64,bits=3", "property is not defined in schema"),
        ("", "CPU is missing cputype"),
    ],
)
def test_what_proxmox_drops_is_a_usage_error(value: str, said: str) -> None:
    with pytest.raises(UsageError, match="is none for lab/101") as caught:
        proxmox(value)
    assert said in str(caught.value)


def test_a_mode_or_model_of_libvirt() -> None:
    assert libvirt("host-model").mode is Mode.HOST_MODEL
    assert libvirt("host-passthrough").mode is Mode.HOST
    spec = libvirt("Westmere,+aes,-pcid,+sse4_1")
    assert (spec.model, spec.enforced) == ("Westmere", True)
    assert {"aes", "sse4_1"} <= spec.on
    assert "pcid" in spec.off


@pytest.mark.parametrize(
    "value", ["x86-64-v3", "NoSuch", "Westmere,aes", "Westmere,+nosuch", "<cpu/>"]
)
def test_what_libvirt_does_not_know_is_a_usage_error(value: str) -> None:
    with pytest.raises(UsageError, match="is none for lab/101"):
        libvirt(value)


def test_a_container_has_no_cpu_to_be_asked_about() -> None:
    inventory = move_case.inventory({}, [{"kind": "container", "cpu": "container"}])
    assert asked_cpu.specs(inventory, inventory.guests, "host") == {}
