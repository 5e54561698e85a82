"""The custom model for a set of nodes: what is in it, and what never is."""

from __future__ import annotations

import itertools
import random

import pytest

from support.nodes import host, known, nodes, offering
from unmask.cpu import catalogue
from unmask.cpu.custom_model import MITIGATIONS, REQUIRES, WORTH, complete, properties, propose
from unmask.cpu.features import canonical, libvirt_name, qemu_knows, qemu_name
from unmask.cpu.model_fit import FAMILY_NOTE, OLD_FAMILY
from unmask.cpu.node_flags import can, sure
from unmask.dialects.libvirt.model_names import LIBVIRT_9_0
from unmask.model.baseline import CustomModel, Needs, Node

NEEDS = Needs(("aes", "pclmulqdq", "avx"))
NAMES = catalogue.proxmox_cpu_names("x86_64") - frozenset(catalogue.proxmox_names())
SILICON = (
    "Westmere", "SandyBridge-IBRS", "Haswell", "Broadwell-noTSX-IBRS", "Skylake-Server-IBRS",
    "Cascadelake-Server", "Icelake-Server", "Opteron_G3", "Opteron_G4", "EPYC", "EPYC-Rome",
    "EPYC-Milan", "Nehalem", "kvm64",
)  # fmt: skip


def proposed(*places: Node, windows: bool = False, needs: Needs = NEEDS) -> CustomModel:
    made = propose(places, needs, NAMES, windows=windows)
    assert made
    return made


def test_it_shows_what_the_cluster_has_and_named_models_miss() -> None:
    made = proposed(*nodes(host("one", "Westmere"), host("two", "Broadwell-noTSX-IBRS")))
    assert made.base == "Westmere"
    assert made.shows == ("aes", "pclmulqdq")
    assert made.lacks == ("avx",)
    assert not made.off


def test_flags_that_the_base_lacks_and_all_nodes_have_are_added() -> None:
    extra = "rdrand vaes vpclmulqdq gfni"
    made = proposed(*nodes(host("one", "SandyBridge", more=extra), host("two", "Icelake-Server")))
    assert made.base == "SandyBridge"
    assert set(extra.split()) <= made.on
    # Icelake-Server does not show it, though a node may have it.
    assert "sha_ni" not in made.flags
    assert made.flags >= made.on
    assert not made.on & made.off


def test_of_several_vendors_the_base_is_of_none_and_no_vendors_defences_are_in() -> None:
    made = proposed(
        *nodes(host("one", "EPYC-Rome", more="ssbd"), host("two", "Cascadelake-Server"))
    )
    assert made.base == "kvm64"
    assert made.shows == NEEDS.flags
    assert made.level == 3
    assert not made.on & frozenset[str]().union(*MITIGATIONS.values())


def test_of_one_vendor_its_defences_are_in() -> None:
    made = proposed(*nodes(host("one", "Broadwell", more="ibrs ibpb ssbd stibp md_clear")))
    assert made.base == "Broadwell-noTSX-IBRS"
    assert {"ssbd", "md_clear", "stibp"} <= made.on
    assert {"spec-ctrl", "ibrs", "ibpb"} <= made.flags
    made = proposed(*nodes(host("one", "SandyBridge", more="ibrs ibpb", without="vme")))
    assert "spec-ctrl" in made.flags
    assert properties(made.on) == made.on


def test_tsx_is_never_in_it() -> None:
    made = proposed(*nodes(host("one", "Haswell", without="smep")))
    assert not made.flags & {"hle", "rtm", "mpx"}
    needs = Needs(("rtm", "aes"))
    made = proposed(*nodes(host("one", "Haswell")), needs=needs)
    assert made.lacks == ("rtm",)


def test_on_amd_the_base_is_of_a_family_that_windows_accepts() -> None:
    places = nodes(host("one", "Opteron_G4"), host("two", "EPYC"))
    for windows in (False, True):
        made = proposed(*places, windows=windows)
        assert made.base == "Opteron_G4"
        assert made.off == {"fma4", "xop"}
        assert made.shows == NEEDS.flags
        assert FAMILY_NOTE not in made.notes


def test_an_atom_and_an_epyc_share_more_than_kvm64() -> None:
    """Sites have settled for kvm64, or for no migration, where both CPUs have AES and PCLMULQDQ."""
    made = proposed(*nodes(host("atom", "Denverton"), host("epyc", "EPYC-Milan")))
    assert made.base == "kvm64"
    assert {"aes", "pclmulqdq", "sse4_2", "popcnt", "movbe", "sha_ni"} <= made.flags
    assert made.level == 2


def test_without_aes_the_family_does_not_matter() -> None:
    made = proposed(*nodes(host("one", "Opteron_G3"), host("two", "EPYC", without="aes")))
    assert made.base == "Opteron_G3"
    assert not made.off


def test_of_several_vendors_windows_is_told_that_aes_may_be_ignored() -> None:
    places = nodes(host("one", "EPYC-Rome"), host("two", "Haswell"))
    made = proposed(*places, windows=True)
    assert "aes" in made.flags
    assert made.lacks == ("aes",)
    assert FAMILY_NOTE in made.notes
    assert FAMILY_NOTE not in proposed(*places).notes


def test_what_the_operator_needs_is_in_where_all_have_it() -> None:
    places = nodes(
        host("one", "EPYC-Rome", more="sse4a svm"), host("two", "EPYC", more="sse4a svm")
    )
    made = proposed(*places, needs=Needs(("svm", "avx512f")))
    assert made.shows == ("svm",)
    assert made.lacks == ("avx512f",)
    assert "svm" not in proposed(*places).flags


def test_a_base_that_the_hypervisor_says_is_usable_stays_whole() -> None:
    usable = {"EPYC": True, "kvm64": True}
    place = known(offering("one", "EPYC", usable, without="topoext"))
    made = propose([place], NEEDS, usable)
    assert made
    assert (made.base, made.off) == ("EPYC", frozenset())
    unsure = known(offering("one", "EPYC", {"kvm64": True}, without="topoext"))
    other = propose([unsure], NEEDS, ["EPYC"])
    assert other
    assert other.off == {"topoext"}


def test_a_model_that_is_its_base_says_so() -> None:
    made = proposed(*nodes(host("one", "SandyBridge")))
    assert (made.on, made.off) == (frozenset(), frozenset())
    assert made.notes[0].startswith("It is SandyBridge as it is")


def test_without_a_base_there_is_none() -> None:
    assert propose(nodes(host("one", "Haswell")), NEEDS, ["EPYC"]) is None
    assert propose(nodes(host("one", "Haswell")), NEEDS, []) is None


def test_avx_needs_xsave_and_all_above_avx_needs_avx() -> None:
    made = proposed(*nodes(host("one", "Icelake-Server", without="xsave")))
    assert not made.flags & {"avx", "avx2", "fma", "avx512f", "vaes", "xsaveopt"}
    assert {"aes", "pclmulqdq", "gfni"} <= made.flags
    assert complete(frozenset({"avx512bw", "avx512f", "avx2", "fma", "avx"})) == frozenset()
    assert complete(frozenset({"aes", "ssse3", "sse4_1"})) == {"aes", "ssse3", "sse4_1"}
    assert complete(frozenset({"aes", "ssse3"})) == {"ssse3"}


def test_every_word_is_one_that_qemu_and_libvirt_have() -> None:
    for flag in WORTH.union(*MITIGATIONS.values()):
        assert canonical(flag) == flag
        assert qemu_knows(qemu_name(flag)), flag
        assert canonical(libvirt_name(flag)) == flag
    assert frozenset(REQUIRES) <= WORTH | {"sha_ni"}


def test_what_another_flag_makes_is_not_named_to_qemu() -> None:
    assert properties({"spec-ctrl", "ibrs", "ibpb", "aes"}) == {"spec-ctrl", "aes"}
    assert properties({"ibpb"}) == {"ibpb"}
    assert properties({"constant_tsc"}) == frozenset()


@pytest.mark.parametrize("seed", range(60))
def test_whatever_the_nodes_nothing_in_it_is_beyond_any(seed: int) -> None:
    """Sets of odd nodes: models of all ages with flags struck out and added at random."""
    generator = random.Random(seed)  # noqa: S311 - test data
    flags = sorted(WORTH | {"hle", "rtm", "topoext", "monitor", "pku", "xsaves"})
    places = [
        known(
            host(
                f"n{number}",
                generator.choice(SILICON),
                without=" ".join(generator.sample(flags, generator.randrange(6))),
                more=" ".join(generator.sample(flags, generator.randrange(12))),
            )
        )
        for number in range(generator.randrange(1, 5))
    ]
    windows = bool(seed % 2)
    made = propose(places, NEEDS, LIBVIRT_9_0 if seed % 3 else NAMES, windows=windows)
    assert made
    base = catalogue.find(made.base)
    assert base
    assert made.on.isdisjoint(base.flags)
    assert made.off <= base.flags
    for flag, place in itertools.product(made.flags, places):
        words = {flag} | {other for other in made.on if flag in _made_by(other)}
        assert any(can(place, word) for word in words), (flag, place.name)
    for flag, place in itertools.product(made.on, places):
        assert sure(place, flag), (flag, place.name)
    assert not made.flags & {"hle", "rtm", "mpx"}
    assert all(REQUIRES.get(flag, frozenset()) <= made.flags for flag in made.flags)
    vendors = {place.vendor for place in places}
    if len(vendors) > 1:
        assert made.base in {"kvm64", "qemu64"}
    elif vendors == {"AuthenticAMD"} and all(sure(place, "aes") for place in places):
        assert made.base not in OLD_FAMILY


def _made_by(flag: str) -> frozenset[str]:
    from unmask.cpu.features import flags_of  # noqa: PLC0415

    return flags_of(flag)
