"""libvirt's CPU map, held against the installed libvirt's own expansion of its models."""

from __future__ import annotations

import pytest

from support import peers
from unmask.connect import libvirt_client as client
from unmask.cpu import features
from unmask.dialects.libvirt import cpu_map, model_names, xml
from unmask.errors import MissingPackageError
from unmask.model.cpu import Accelerator

EXPAND_FEATURES = 1
ONLY_LIBVIRTS = frozenset(
    {"Icelake-Client", "Icelake-Client-noTSX", "cpu64-rhel5", "cpu64-rhel6", "pentiumpro"}
)
"""Models of libvirt 9.0 that QEMU of 7.2 or newer does not have."""


def test_westmere_differs() -> None:
    by_map = cpu_map.flags("Westmere")
    assert by_map is not None
    assert "aes" in by_map
    assert not {"pclmulqdq", "hypervisor", "arat"} & by_map
    assert cpu_map.flags("NoSuchCPU") is None
    assert cpu_map.difference("NoSuchCPU") == cpu_map.Difference()


@pytest.mark.parametrize("accelerator", [Accelerator.KVM, Accelerator.TCG])
def test_changes_to_an_unknown_model_are_kept(accelerator: Accelerator) -> None:
    lists = frozenset({"aes"}), frozenset({"avx"})
    assert cpu_map.as_changes("NoSuchCPU", *lists, accelerator) == lists


def test_a_flag_is_never_on_and_off() -> None:
    both = frozenset({"ssbd"})
    on, off = cpu_map.as_changes("EPYC", both, both, Accelerator.KVM)
    assert "ssbd" in on
    assert not on & off


@pytest.mark.peer
def test_every_model_as_libvirt_expands_it() -> None:
    try:
        libvirt = client.load()
    except MissingPackageError:
        peers.missing("libvirt-python")
    handle = libvirt.open("test:///default")
    names = set(handle.getCPUModelNames("x86_64", 0))
    assert names >= model_names.LIBVIRT_9_0
    compared = 0
    for name in sorted(names):
        ours = cpu_map.flags(name)
        if ours is None:
            assert name not in model_names.LIBVIRT_9_0 - ONLY_LIBVIRTS, "not in the catalogue"
            continue
        asked = f"<cpu><arch>x86_64</arch><model>{name}</model></cpu>"
        root = xml.parse(handle.baselineCPU([asked], EXPAND_FEATURES), name)
        listed = [
            features.flags_of(feature.get("name", ""))
            for feature in root.iterfind("feature")
            if feature.get("policy") != "disable"
        ]
        theirs = frozenset[str]().union(*listed)
        assert {f for f in ours ^ theirs if not cpu_map.OUTSIDE.match(f)} == set(), name
        compared += 1
    assert compared >= 50
