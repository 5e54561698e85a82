"""What nodes have in common, and which models all of them can run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support.nodes import PROXMOX_9, arm, host, known, nodes, offering
from unmask.cpu import catalogue
from unmask.cpu.baseline import baseline, common, held_back, running
from unmask.cpu.model_fit import FAMILY_NOTE, candidates, fits, known_to
from unmask.model.baseline import Baseline, ModelFit, Needs, Verdict
from unmask.model.inventory import Host, Platform, Software

NEEDS = Needs(("aes", "pclmulqdq", "avx"))


def names(found: Baseline) -> list[str]:
    return [fit.name for fit in running(found.models)]


def fit(found: Baseline, name: str) -> ModelFit:
    return next(item for item in found.models if item.name == name)


def test_flags_level_and_who_holds_what_back() -> None:
    one, two = host("one", "Broadwell-noTSX"), host("two", "SandyBridge")
    three = host("three", "Skylake-Client-noTSX-IBRS")
    found = baseline([one, two, three], NEEDS)
    assert found.level == 2
    assert "avx" in found.common
    assert not found.common & {"avx2", "movbe", "adx"}
    held = dict(found.held_back)
    assert {"avx2", "movbe", "adx"} <= held["two"]
    assert held["one"] == held["three"] == frozenset()
    assert not found.remarks


def test_what_two_lack_no_single_node_holds_back() -> None:
    places = nodes(host("a", "Westmere"), host("b", "Nehalem"), host("c", "Haswell-noTSX"))
    held = dict(held_back(places))
    assert held["b"] >= {"aes", "pclmulqdq"}
    assert "avx" not in held["a"] | held["b"]


def test_one_node_holds_back_nothing() -> None:
    found = baseline([host("one", "Haswell")], NEEDS)
    assert found.held_back == (("one", frozenset()),)
    assert found.common == known(host("one", "Haswell")).given


def test_the_best_model_shows_the_needs_then_has_the_level_then_the_flags() -> None:
    found = baseline([host("one", "Cascadelake-Server-noTSX"), host("two", "Broadwell")], NEEDS)
    assert found.best
    # x86-64-v3 has the same level, and no PCLMULQDQ.
    assert found.best.name == "Broadwell-noTSX"
    assert found.best.shows == NEEDS.flags
    assert names(found).index(found.best.name) < names(found).index("x86-64-v3")
    assert fit(found, "x86-64-v3").lacks == ("pclmulqdq",)
    assert names(found).index("Haswell-noTSX") < names(found).index("SandyBridge")


def test_a_model_with_tsx_comes_after_its_brother_without() -> None:
    found = baseline([host("one", "Haswell")], NEEDS)
    assert names(found).index("Haswell-noTSX") < names(found).index("Haswell")
    assert any("TSX" in note for note in fit(found, "Haswell").notes)


def test_other_needs_rank_otherwise() -> None:
    hosts = [host("one", "Westmere"), host("two", "Haswell-noTSX")]
    found = baseline(hosts, Needs(("popcnt",)))
    assert found.best
    assert found.best.shows == ("popcnt",)
    found = baseline(hosts, Needs(("avx512f",)))
    assert all(item.lacks == ("avx512f",) for item in running(found.models))


def test_what_helps_decides_between_models_of_one_level() -> None:
    hosts = [host("one", "Skylake-Client-noTSX-IBRS")]
    plain, helped = Needs(("aes",)), Needs(("aes",), helpful=("rdseed", "adx"))
    best = baseline(hosts, helped).best
    assert best
    assert {"rdseed", "adx"} <= best.flags
    order = names(baseline(hosts, helped))
    assert order.index("Broadwell-noTSX") < order.index("x86-64-v3")
    assert baseline(hosts, plain).best


def test_each_obstacle_names_the_node_and_the_flags() -> None:
    found = baseline([host("one", "SandyBridge"), host("two", "Westmere")], NEEDS)
    (obstacle,) = fit(found, "SandyBridge").obstacles
    assert (obstacle.node, obstacle.verdict) == ("two", Verdict.LACKS)
    assert obstacle.reason == "lacks " + " ".join(obstacle.flags)
    assert {"avx", "xsave"} <= set(obstacle.flags)
    assert "SandyBridge" not in names(found)


def test_equal_nodes_are_all_named() -> None:
    weak = [host(f"n{number}", "Westmere") for number in range(3)]
    found = baseline([host("one", "Haswell"), *weak], NEEDS)
    assert [item.node for item in fit(found, "Haswell").obstacles] == ["n0", "n1", "n2"]


def test_models_that_fit_come_before_all_others() -> None:
    found = baseline([host("one", "Haswell"), host("two", "Westmere")], NEEDS)
    order = [item.fits for item in found.models]
    assert order == sorted(order, reverse=True)
    assert not all(order)


def test_a_node_that_alone_stands_in_the_way_is_named() -> None:
    hosts = [host("one", "Haswell-noTSX"), host("two", "Haswell-noTSX"), host("old", "Nehalem")]
    assert baseline(hosts, NEEDS).unlocked == (("old", "Haswell-noTSX"),)
    # Two weak nodes: without either of them nothing would be gained.
    assert baseline([*hosts, host("older", "Nehalem")], NEEDS).unlocked == ()
    mixed = [*hosts[:2], host("amd", "EPYC")]
    assert baseline(mixed, NEEDS).unlocked == (("amd", "Haswell-noTSX"),)
    assert baseline(hosts[:1], NEEDS).unlocked == ()


def test_nodes_that_are_alike_are_told_for_guests_of_type_host() -> None:
    hosts = [
        host("a", "Haswell", microcode="0x28"),
        host("b", "Haswell", microcode="0x28"),
        host("c", "Haswell", microcode="0x10"),
        host("d", "Haswell", microcode="0x28", without="rtm"),
        host("e", "Broadwell", microcode="0x28"),
    ]
    assert baseline(hosts, NEEDS).alike == (("a", "b"),)
    # Without its microcode nobody knows what a node takes from guests next.
    assert baseline([host("a", "Haswell"), host("b", "Haswell")], NEEDS).alike == ()


def test_a_node_without_flags_is_never_assumed() -> None:
    found = baseline([host("one", "Haswell"), host("two", None)], NEEDS)
    assert [item.host.name for item in found.unknown] == ["two"]
    assert [place.name for place in found.nodes] == ["one"]
    assert "two are not known (the node is offline)" in found.remarks[0]
    nothing = baseline([host("two", None)], NEEDS)
    assert nothing.level is None
    assert not nothing.models
    assert "nothing can be said" in nothing.remarks[-1]


def test_of_several_vendors_only_models_of_none_fit() -> None:
    found = baseline([host("one", "EPYC-Rome"), host("two", "Cascadelake-Server")], NEEDS)
    assert set(names(found)) <= {
        "x86-64-v2", "x86-64-v2-AES", "x86-64-v3", "kvm64", "qemu64", "kvm32", "qemu32",
    }  # fmt: skip
    assert found.best
    assert found.best.name == "x86-64-v3"
    assert "AuthenticAMD, GenuineIntel" in found.remarks[0]
    (obstacle,) = fit(found, "EPYC").obstacles
    assert (obstacle.node, obstacle.reason) == ("two", "has no CPU of AMD, for which it is made")


def test_models_for_another_vendors_cpus_are_not_looked_at() -> None:
    found = {item.name for item in candidates(nodes(host("one", "EPYC-Rome")))}
    assert "EPYC" in found
    assert "Haswell" not in found
    assert "host" not in found
    assert "max" not in found


def test_for_windows_on_amd_old_families_show_no_aes() -> None:
    places = nodes(host("one", "EPYC-Rome"))
    by_name = {item.name: item for item in fits(places, NEEDS, windows=True)}
    assert "aes" in by_name["x86-64-v3"].lacks
    assert by_name["x86-64-v3"].notes == (FAMILY_NOTE,)
    assert "aes" in by_name["EPYC"].shows
    assert "aes" in {item.name: item for item in fits(places, NEEDS)}["x86-64-v3"].shows
    intel = {item.name: item for item in fits(nodes(host("one", "Haswell")), NEEDS, windows=True)}
    assert "aes" in intel["x86-64-v3"].shows


@pytest.mark.parametrize(
    ("qemu", "verdict"),
    [
        ("7.2.22", Verdict.LACKS),
        ("9.2", Verdict.UNKNOWN),  # between the releases that the catalogue was read from
        ("", Verdict.UNKNOWN),
        ("10.0", None),
        ("11.0.1", None),
    ],
)
def test_a_qemu_without_the_model_is_an_obstacle(qemu: str, verdict: Verdict | None) -> None:
    model = catalogue.find("GraniteRapids")
    assert model
    assert model.since == "10.0"
    place = host("two", "GraniteRapids", software=Software("Proxmox VE 9.0", qemu))
    found = baseline([host("one", "GraniteRapids"), place], NEEDS)
    obstacles = {item.node: item for item in fit(found, "GraniteRapids").obstacles}
    assert obstacles.keys() == ({"two"} if verdict else set())
    if verdict:
        assert obstacles["two"].verdict is verdict
        assert "since QEMU 10.0" in obstacles["two"].reason or f"QEMU {qemu}," in (
            obstacles["two"].reason
        )
    assert known_to(known(place), "GraniteRapids") is (verdict is None)


def test_each_platform_takes_its_own_names() -> None:
    proxmox = {item.name for item in candidates(nodes(host("one", "Haswell")))}
    assert "x86-64-v3" in proxmox
    assert "Denverton" not in proxmox
    usable = {"Haswell": True, "Westmere": True, "SandyBridge": False}
    libvirt = {item.name for item in candidates(nodes(offering("one", "Haswell", usable)))}
    assert libvirt == set(usable)


def test_an_old_proxmox_has_no_models_of_its_own() -> None:
    old = Software("Proxmox VE 7.4", "7.2")
    found = {item.name for item in candidates(nodes(host("one", "Haswell", software=old)))}
    assert "x86-64-v3" not in found
    assert "Haswell" in found


def test_the_hypervisors_answer_on_a_model_goes_before_its_flags() -> None:
    usable = {"Haswell": False, "Westmere": True, "Skylake-Client": True}
    found = baseline([offering("one", "Haswell", usable)], NEEDS)
    assert set(names(found)) == {"Westmere", "Skylake-Client"}
    (obstacle,) = fit(found, "Haswell").obstacles
    assert obstacle.reason == "cannot run it, says its libvirt"


def test_a_libvirt_that_does_not_know_a_name_cannot_run_it() -> None:
    one = offering("one", "Haswell", {"Haswell": True, "Westmere": True})
    two = offering("two", "Haswell", {"Westmere": True})
    found = baseline([one, two], NEEDS)
    assert names(found) == ["Westmere"]
    assert fit(found, "Haswell").obstacles[0].reason == "has a libvirt that does not know the name"


def test_a_description_by_libvirts_map_leaves_models_open_and_not_possible() -> None:
    from unmask.model.cpu import HostCpu  # noqa: PLC0415
    from unmask.model.reading import Known  # noqa: PLC0415

    model = catalogue.find("Haswell-noTSX")
    assert model
    cpu = HostCpu("x86_64", frozenset({"aes", "lm"}), "GenuineIntel", complete=False)
    some = replace(host("one", None), cpu=Known(cpu))
    found = baseline([some], NEEDS)
    assert not names(found)
    assert fit(found, "Haswell").obstacles[0].verdict is Verdict.UNKNOWN
    assert any("only some flags are known" in said for said in found.remarks)
    assert found.common == known(some).given


def test_open_flags_are_told_apart_from_common_and_lacking() -> None:
    from unmask.model.cpu import HostCpu  # noqa: PLC0415
    from unmask.model.reading import Known  # noqa: PLC0415

    cpu = HostCpu("x86_64", frozenset({"aes"}), "GenuineIntel", complete=False)
    some = replace(host("one", None), cpu=Known(cpu))
    found = baseline([some, host("two", "Westmere")], NEEDS)
    assert "aes" in found.common
    assert "pclmulqdq" in found.open
    assert not found.open & found.common


def test_arm_gets_a_clear_answer() -> None:
    found = baseline([arm("one", "aes pmull sha2"), arm("two", "aes pmull")], NEEDS)
    assert found.common == {"aes", "pmull"}
    assert found.level is None
    assert not found.models
    assert "no named model serves" in found.remarks[0]
    assert dict(found.held_back) == {"one": frozenset(), "two": frozenset({"sha2"})}


def test_several_architectures_have_nothing_in_common() -> None:
    found = baseline([arm("one", "aes"), host("two", "Haswell")], NEEDS)
    assert not found.common
    assert not found.models
    assert "aarch64, x86_64" in found.remarks[0]


def test_a_node_that_is_a_guest_itself_is_told() -> None:
    found = baseline([host("one", "Haswell", more="hypervisor")], NEEDS)
    assert "is a virtual machine itself" in found.remarks[0]


@pytest.mark.parametrize("platform", [Platform.PROXMOX, Platform.LIBVIRT])
def test_no_model_is_listed_twice(platform: Platform) -> None:
    hosts: list[Host] = [host("one", "Haswell", platform=platform, software=PROXMOX_9)]
    listed = [item.name for item in baseline(hosts, NEEDS).models]
    assert len(set(listed)) == len(listed)
    assert "Haswell-v1" not in listed
    assert common(nodes(*hosts))
