"""Custom models in each platform's words: read back, they start everywhere and show the promise."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from support.nodes import host, known, offering
from unmask.cpu.baseline import baseline
from unmask.dialects.libvirt import xml
from unmask.dialects.proxmox import custom_models as section_parser
from unmask.dialects.proxmox import custom_section
from unmask.engine.custom_models import broken, proposals, read_back
from unmask.model.baseline import Needs, Proposal
from unmask.model.inventory import Platform

NEEDS = Needs(("aes", "pclmulqdq", "avx"))
SILICON = (
    "Westmere", "SandyBridge-IBRS", "Haswell-IBRS", "Skylake-Server-IBRS", "Cascadelake-Server",
    "Icelake-Server", "Opteron_G2", "Opteron_G4", "EPYC-IBPB", "EPYC-Rome", "EPYC-Milan", "Dhyana",
    "Denverton", "KnightsMill",
)  # fmt: skip


def made(*names: str, windows: bool = False) -> dict[str, Proposal]:
    found = baseline([host(f"n{i}", name) for i, name in enumerate(names)], NEEDS, windows=windows)
    return {item.platform: item for item in proposals(found, windows=windows)}


@pytest.mark.parametrize("names", list(itertools.combinations_with_replacement(SILICON, 2)))
def test_both_forms_hold_for_every_pair_of_silicon(names: tuple[str, str]) -> None:
    found = made(*names)
    assert found.keys() == {"proxmox", "libvirt"}
    places = [known(host(name, name)) for name in names]
    for item in found.values():
        assert not list(broken(item, places))
        assert frozenset(item.model.shows) <= item.model.flags


def test_the_section_is_as_proxmox_keeps_it() -> None:
    item = made("EPYC-Rome", "Skylake-Server-IBRS")["proxmox"]
    parsed = section_parser.parse(item.text)
    assert not parsed.faults
    option = parsed.models["baseline"]
    assert option.reported_model == "kvm64"
    assert ("+", "sse4.1") in option.flags
    assert ("+", "pclmulqdq") in option.flags
    assert not option.phys_bits
    assert not option.hidden
    assert item.text.startswith("cpu-model: baseline\n\tflags +")
    assert item.text.endswith("\treported-model kvm64\n\n")
    # Two sections one after the other stay two.
    again = section_parser.parse(item.text + item.text.replace("baseline", "other")).models
    assert set(again) == {"baseline", "other"}


def test_proxmox_starts_it_with_enforce_and_every_flag_once() -> None:
    words = made("EPYC-Rome", "Skylake-Server-IBRS")["proxmox"].command.split(",")
    assert words[0] == "kvm64"
    assert "enforce" in words
    names = [word.lstrip("+-").replace("_", "-") for word in words[1:]]
    assert len(set(names)) == len(names)


def test_the_element_is_in_libvirts_words() -> None:
    item = made("EPYC-Rome", "Skylake-Server-IBRS")["libvirt"]
    root = xml.parse(item.text, "element")
    assert (root.get("mode"), root.get("match"), root.get("check")) == (
        "custom", "exact", "partial",
    )  # fmt: skip
    model = root.find("model")
    assert model is not None
    assert (model.text, model.get("fallback")) == ("kvm64", "forbid")
    policies = {each.get("name"): each.get("policy") for each in root.iterfind("feature")}
    assert policies["pclmuldq"] == policies["sse4.1"] == "require"
    assert "pclmulqdq" not in policies


def test_what_libvirts_map_counts_and_kvm_does_not_give_is_disabled() -> None:
    policies = _policies(made("EPYC", "EPYC-Rome")["libvirt"])
    assert policies["svm"] == "disable"


def test_what_libvirts_map_leaves_out_and_is_needed_is_required() -> None:
    item = made("Westmere", "Westmere")["libvirt"]
    assert item.model.base == "Westmere"
    assert "pclmulqdq" not in item.model.on
    assert _policies(item)["pclmuldq"] == "require"


def test_proxmox_takes_rdtscp_from_opterons_and_nothing_is_promised_of_it() -> None:
    item = made("Opteron_G4", "EPYC")["proxmox"]
    assert item.model.base == "Opteron_G4"
    assert "-rdtscp" in item.command
    assert "rdtscp" not in item.model.flags
    assert not list(broken(item, [known(host("one", "EPYC"))]))


def test_a_name_that_is_taken_is_not_proposed() -> None:
    found = baseline([host("one", "Haswell")], NEEDS)
    taken = proposals(found, {"baseline", "baseline-2"})
    assert taken[0].name == "baseline-3"
    assert "cpu-model: baseline-3\n" in taken[0].text
    assert custom_section.free_name(["other"]) == "baseline"


def test_the_bases_are_those_that_every_hypervisor_knows() -> None:
    one = offering("one", "Skylake-Server", {"Westmere": True, "Skylake-Server": True})
    two = offering("two", "Skylake-Server", {"Westmere": True, "SandyBridge": True})
    found = {item.platform: item for item in proposals(baseline([one, two], NEEDS))}
    assert found["libvirt"].model.base == "Westmere"
    assert "avx" in found["libvirt"].model.on


def test_the_check_finds_what_does_not_hold() -> None:
    """Each of the ways in which a proposal could be wrong is seen when it is read back."""
    item = made("Haswell-IBRS", "Icelake-Server")["proxmox"]
    weak = known(host("weak", "Westmere"))
    assert any("does not start on weak" in said for said in broken(item, [weak]))
    lying = replace(item, model=replace(item.model, flags=item.model.flags | {"avx512f"}))
    good = known(host("good", "Icelake-Server"))
    assert any("does not show avx512f" in said for said in broken(lying, [good]))
    unknown = replace(item, model=replace(item.model, on=frozenset({"rdctl-no"})))
    assert any("is not known to have rdctl-no" in said for said in broken(unknown, [good]))
    element = made("Haswell-IBRS", "Icelake-Server")["libvirt"]
    misspelt = element.text.replace("</cpu>", "<feature policy='require' name='sse4_1'/></cpu>")
    assert any("sse4.1" in said for said in broken(replace(element, text=misspelt), [good]))


def test_reading_back_gives_the_model_that_was_proposed() -> None:
    for item in made("EPYC-Rome", "EPYC-Milan").values():
        spec = read_back(item)
        assert spec.model == item.model.base
        assert item.model.on <= spec.on | frozenset({"sep", "lahf_lm"})
        assert item.model.off <= spec.off
        assert spec.enforced


def test_other_architectures_have_none() -> None:
    assert proposals(baseline([host("one", None)], NEEDS)) == ()


def test_libvirt_nodes_of_a_proxmox_name_are_not_mixed_up() -> None:
    found = baseline([host("one", "Haswell", platform=Platform.LIBVIRT)], NEEDS)
    assert {item.platform for item in proposals(found)} == {"proxmox", "libvirt"}


def _policies(item: Proposal) -> dict[str | None, str | None]:
    root = xml.parse(item.text, "element")
    return {each.get("name"): each.get("policy") for each in root.iterfind("feature")}
