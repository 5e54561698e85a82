"""The catalogue against what it describes: a real QEMU, and libvirt's own map of models."""

from __future__ import annotations

import importlib
import re
from functools import cache
from typing import Any

import pytest

from support import catalogue_tool, peers
from support.libvirt_map import NOT_QEMU, WHY_LIBVIRT_DIFFERS, explains
from unmask.cpu import catalogue, features

tool = catalogue_tool.load()


@cache
def expansions(accelerator: str) -> tuple[str, dict[str, Any]]:
    """Return the version of the installed QEMU and its models, or skip."""
    binary = peers.program("qemu-system-x86_64")
    try:
        version, models = tool.expansions(binary, accelerator)
    except tool.QemuError as error:
        if accelerator == "kvm":
            # No peer that can be installed: a machine without /dev/kvm is as good as one with it.
            pytest.skip(f"KVM does not open: {error}")
        raise
    number = version["qemu"]
    return f"{number['major']}.{number['minor']}.{number['micro']}", models


def ours(properties: frozenset[str]) -> frozenset[str]:
    return frozenset[str]().union(*map(features.flags_of, properties))


@pytest.mark.peer
def test_qemu_has_the_models_that_the_catalogue_gives_it() -> None:
    version, models = expansions("tcg")
    number = tuple(map(int, version.split(".")[:2]))
    promised = {
        name
        for name in catalogue.names()
        if (found := catalogue.find(name)) and tuple(map(int, found.since.split("."))) <= number
    }
    assert promised <= models.keys()
    assert models.keys() - set(catalogue.names()) == {"max"}


@pytest.mark.peer
def test_qemu_under_tcg_expands_as_the_catalogue_says() -> None:
    _, models = expansions("tcg")
    for name in models.keys() - {"max"}:
        found, real = catalogue.find(name), models[name]
        assert found, name
        assert found.defined - {"vme"} == ours(real.flags), name
        assert found.vendor == real.vendor, name
        assert found.resolved == (real.alias_of or name), name


@pytest.mark.peer
def test_qemu_implements_under_tcg_what_the_catalogue_says() -> None:
    version, models = expansions("tcg")
    implemented = ours(models["max"].flags)
    if ".".join(version.split(".")[:2]) not in catalogue.releases():
        # A release between those looked at: TCG has only ever gained features.
        assert catalogue.emulated("7.2") - {"pcommit"} <= implemented
        return
    assert implemented == catalogue.emulated(version)
    for name in models.keys() - {"max"}:
        found = catalogue.find(name)
        assert found, name
        shown = models[name].flags & models["max"].flags
        assert catalogue.under_tcg(found.defined, version) == ours(shown), name


@pytest.mark.peer
def test_qemu_under_kvm_expands_as_the_catalogue_says() -> None:
    _, models = expansions("kvm")
    for name in models.keys() - {"max"}:
        found = catalogue.find(name)
        assert found, name
        assert found.flags == ours(models[name].flags), name


@cache
def libvirt_differences() -> frozenset[tuple[str, str, str]]:
    """Return what libvirt's map has or lacks beside the catalogue: (flag, model, "has"|"lacks")."""
    try:
        libvirt = importlib.import_module("libvirt")
    except ImportError:
        peers.missing("libvirt-python")
    libvirt.registerErrorHandler(lambda *_: None, None)
    connection = libvirt.open("test:///default")
    expand = libvirt.VIR_CONNECT_BASELINE_CPU_EXPAND_FEATURES
    differences = set()
    for name in connection.getCPUModelNames("x86_64"):
        if NOT_QEMU.fullmatch(name):
            continue
        found = catalogue.find(name)
        assert found, f"libvirt knows {name} and the catalogue does not"
        cpu = f"<cpu><arch>x86_64</arch><model>{name}</model></cpu>"
        text = connection.baselineCPU([cpu], expand)
        listed = ours(frozenset(re.findall(r"<feature policy='require' name='([^']+)'", text)))
        differences |= {(flag, name, "has") for flag in listed - found.defined}
        differences |= {(flag, name, "lacks") for flag in found.defined - listed}
    connection.close()
    return frozenset(differences)


@pytest.mark.peer
def test_every_difference_to_libvirt_is_explained() -> None:
    unexplained = {
        difference
        for difference in libvirt_differences()
        if not any(explains(line, difference) for line in WHY_LIBVIRT_DIFFERS)
    }
    assert not unexplained


@pytest.mark.peer
def test_every_explanation_explains_something() -> None:
    differences = libvirt_differences()
    if importlib.import_module("libvirt").getVersion() != 9_000_000:
        pytest.skip("the explanations were written for libvirt 9.0.0; newer maps differ less")
    idle = [
        line
        for line in WHY_LIBVIRT_DIFFERS
        if not any(explains(line, difference) for difference in differences)
    ]
    assert [line[0] for line in idle] == ["vmx-*"]


@pytest.mark.peer
def test_libvirt_hides_what_guests_of_westmere_see() -> None:
    assert ("pclmulqdq", "Westmere", "lacks") in libvirt_differences()
    assert ("hypervisor", "Haswell", "lacks") in libvirt_differences()
