"""The whole answer to `unmask baseline`: nodes, guests, a new node, drift."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from support.nodes import HOST, arm, guest, host, model
from unmask.dialects import saved
from unmask.engine import baseline
from unmask.engine.baseline import Question, chosen
from unmask.engine.cases import guest_cases
from unmask.errors import UsageError
from unmask.model.baseline import BaselineDocument
from unmask.model.cpu import Accelerator, CpuSpec, HostCpu, Mode, Origin
from unmask.model.inventory import Cluster, Gap, Guest, Host, Inventory, Platform
from unmask.model.reading import Known

ONE, TWO = host("one", "Haswell-noTSX"), host("two", "Broadwell-noTSX")
BOTH = (ONE, TWO)


def site(*guests: Guest, hosts: tuple[Host, ...] = BOTH) -> Inventory:
    return Inventory(("lab",), hosts, guests, (Cluster("lab", "lab", Platform.PROXMOX),))


def asked(inventory: Inventory, **question: Any) -> BaselineDocument:
    cases = guest_cases(inventory)
    return baseline.build(
        inventory,
        cases,
        Question(**question),
        version="0",
        started="2026-12-01T10:00:00Z",
    )


def test_all_hosts_or_those_that_are_named() -> None:
    document = asked(site())
    assert [place.name for place in document.baseline.nodes] == ["one", "two"]
    assert document.run.complete
    document = asked(site(), nodes=("two",))
    assert [place.name for place in document.baseline.nodes] == ["two"]
    assert [item.name for item in chosen(BOTH, ("lab/one",))] == ["one"]


def test_a_node_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(UsageError, match="no node 'three'; there are one, two"):
        asked(site(), nodes=("one", "three"))
    with pytest.raises(UsageError, match="no host was read"):
        asked(Inventory())


def test_hosts_of_one_name_are_told_apart() -> None:
    other = replace(host("one", "Westmere"), subject="far/one", cluster="far")
    document = asked(site(hosts=(ONE, other)), arriving=(host("far/one", "Haswell"),))
    assert [place.name for place in document.baseline.nodes] == ["lab/one", "far/one"]
    assert "avx" in dict(document.baseline.held_back)["far/one"]
    assert document.arrivals[0].node == "far/one (new)"


def test_an_unknown_node_makes_the_run_incomplete() -> None:
    document = asked(site(hosts=(*BOTH, host("three", None))))
    assert not document.run.complete
    assert [item.host.name for item in document.baseline.unknown] == ["three"]
    assert not asked(replace(site(), gaps=(Gap("x", "y"),))).run.complete


def test_windows_is_sent_to_a_named_model_and_not_to_host() -> None:
    document = asked(site(guest(101, HOST, name="exchange", os="win11")))
    (said,) = [text for text in document.baseline.remarks if "Windows" in text]
    assert said.startswith("Windows runs in exchange: take Haswell-noTSX there rather than host:")
    assert not [text for text in asked(site()).baseline.remarks if "Windows" in text]


def test_windows_without_a_named_model_is_sent_to_the_custom_one() -> None:
    hosts = (host("one", "EPYC"), host("two", "Opteron_G4"))
    document = asked(site(guest(101, HOST, name="exchange", os="win11"), hosts=hosts))
    (said,) = [text for text in document.baseline.remarks if "Windows" in text]
    assert "and the custom model does. Take that rather than host" in said


def test_windows_on_several_vendors_gets_no_false_promise() -> None:
    hosts = (host("one", "EPYC"), host("two", "Haswell"))
    document = asked(site(guest(101, HOST, name="exchange", os="win11"), hosts=hosts))
    (said,) = [text for text in document.baseline.remarks if "Windows" in text]
    assert "no named model shows it AES and PCLMULQDQ on all nodes" in said
    assert "host is no way out" in said


def test_windows_on_a_node_that_is_not_chosen_does_not_count() -> None:
    inventory = site(guest(101, HOST, "one", os="win11"))
    assert not asked(inventory, nodes=("two",)).baseline.remarks


def test_emulated_guests_are_named_as_beyond_reach() -> None:
    names = [guest(100 + n, model("kvm64"), accelerator=Accelerator.TCG) for n in range(7)]
    (said,) = asked(site(*names)).baseline.remarks
    assert said.startswith("QEMU emulates the CPU of vm100, vm101, vm102, vm103, vm104 and 2 more")


def test_arm_has_no_custom_model_and_says_why() -> None:
    document = asked(site(hosts=(arm("one", "aes"),)))
    assert document.proposals == ()
    assert "not of x86" in document.no_proposal


def test_names_of_the_clusters_own_models_are_left_alone() -> None:
    spec = CpuSpec("", Origin.CUSTOM, Mode.MODEL, "custom-baseline", "kvm64")
    cluster = Cluster("lab", "lab", Platform.PROXMOX, (("baseline", spec),))
    document = asked(replace(site(), clusters=(cluster,)))
    assert document.proposals[0].name == "baseline-2"


def test_a_new_node_costs_flags_models_and_guests() -> None:
    guests = (
        guest(101, model("Haswell-noTSX"), name="db"),
        guest(102, model("kvm64"), name="web"),
        guest(103, HOST, name="free"),
        guest(104, model("SandyBridge", enforced=False), name="soft"),
        guest(105, model("Haswell-noTSX"), name="tcg", accelerator=Accelerator.TCG),
    )
    (found,) = asked(site(*guests), arriving=(host("new", "Westmere"),)).arrivals
    assert found.node == "new"
    assert {"avx", "avx2", "movbe"} <= set(found.flags_lost)
    assert not found.flags_open
    assert (found.level_before, found.level_after) == (3, 2)
    assert found.models_lost[0] == found.best_before == "Haswell-noTSX"
    assert "Westmere" not in found.models_lost
    assert found.best_after == "Westmere"
    said = {item.name: item for item in found.guests}
    assert said.keys() == {"db", "free", "soft"}
    assert not said["db"].starts
    assert "avx2" in said["db"].flags
    assert said["free"].starts
    assert "avx" in said["free"].flags
    assert said["soft"].starts
    assert "vanish silently" in said["soft"].reason
    assert "same hypervisor and QEMU as one" in found.remarks[0]


def test_a_new_node_that_is_like_the_others_costs_nothing() -> None:
    inventory = site(guest(101, model("Haswell-noTSX")), guest(102, HOST))
    (found,) = asked(inventory, arriving=(host("new", "Cascadelake-Server"),)).arrivals
    assert not found.guests
    assert found.best_before == found.best_after


def test_a_new_node_of_another_vendor_takes_every_vendors_model() -> None:
    (found,) = asked(site(), arriving=(host("new", "EPYC-Rome"),)).arrivals
    assert "Haswell-noTSX" in found.models_lost
    assert "x86-64-v3" not in found.models_lost
    assert found.best_after == "x86-64-v3"
    assert any("several vendors" in said for said in found.remarks)


def test_what_a_description_does_not_tell_is_open_and_not_lost() -> None:
    cpu = HostCpu("x86_64", frozenset({"lm", "sse2"}), "GenuineIntel", complete=False)
    new = Host("new", "new", Platform.LIBVIRT, "", Known(cpu))
    (found,) = asked(site(), arriving=(new,)).arrivals
    assert "aes" in found.flags_lost
    unseen = replace(new, platform=Platform.PROXMOX)
    (found,) = asked(site(), arriving=(unseen,)).arrivals
    assert "aes" in found.flags_open
    assert "aes" not in found.flags_lost
    assert not found.models_lost
    assert "Haswell-noTSX" in found.models_open


def test_of_a_new_node_without_flags_nothing_is_claimed() -> None:
    (found,) = asked(site(guest(101, HOST)), arriving=(host("new", None),)).arrivals
    assert not found.known
    assert not found.flags_lost
    assert set(found.flags_open) == set(asked(site()).baseline.common)
    assert found.level_after is None
    assert not found.models_lost
    assert not found.guests


def test_arm_as_a_new_node_starts_none_of_the_guests() -> None:
    (found,) = asked(site(guest(101, HOST)), arriving=(arm("new", "aes"),)).arrivals
    (stopped,) = found.guests
    assert not stopped.starts
    assert "not aarch64" in stopped.reason


def test_drift_since_a_saved_inventory() -> None:
    earlier = saved.load(saved.dump(site(hosts=(host("one", "Haswell"), TWO))))
    document = asked(site(), earlier=earlier, compared="old.json")
    assert document.drift is not None
    changed = {item.node: item for item in document.drift if item.changed}
    assert changed.keys() == {"lab/one"}
    assert changed["lab/one"].lost == ("hle", "rtm")
    assert document.compared == "old.json"
    assert asked(site()).drift is None
    some = asked(site(), earlier=earlier, nodes=("two",))
    assert some.drift is not None
    assert [item.node for item in some.drift] == ["lab/two"]
