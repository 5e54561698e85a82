"""`--cpu` in words, and what becomes of a guest's configuration: nothing of it is lost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from support import move_case, rule_case
from unmask.engine.cases import guest_cases
from unmask.errors import UsageError
from unmask.fixes import _wish_words
from unmask.fixes._wish_words import Words
from unmask.fixes.wish import Wished, proxmox_value, wished
from unmask.model.change import Setting
from unmask.model.inventory import Inventory

ZFS = {
    "kind": "zfs", "name": "tank", "consumer": "openzfs", "cipher": "aes-256-gcm",
    "version": "2.3.2", "activity": "active",
}  # fmt: skip
LUKS = {"kind": "luks", "name": "root", "consumer": "dm-crypt", "cipher": "aes-xts-plain64"}
HOSTS = {"lab/one": "broadwell", "lab/two": "broadwell"}


def asked(
    wish: str, before: str | None = None, hosts: dict[str, Any] | None = None, **guest: Any
) -> Wished:
    """Return what a wish comes to for the guest lab/101."""
    read, entry = move_case.inventory(hosts or HOSTS, [guest]), guest
    (case,) = guest_cases(read, rule_case.finders([entry]))
    return wished(wish, case, read, Setting(before))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("host", Words("host")),
        ("x86-64-v3", Words("x86-64-v3")),
        ("+aes", Words(on=("aes",))),
        ("+aes,-pcid", Words(on=("aes",), off=("pcid",))),
        ("Haswell-noTSX,+sse4.1", Words("Haswell-noTSX", on=("sse4_1",))),
        ("kvm64,flags=+aes;-pcid", Words("kvm64", on=("aes",), off=("pcid",))),
        ("cputype=host,hidden=1", Words("host", rest={"hidden": "1"})),
        ("+nested-virt", Words(on=("nested-virt",))),
        ("+hv-tlbflush", Words(on=("hv-tlbflush",))),
    ],
)
def test_words_are_read(text: str, words: Words) -> None:
    assert _wish_words.parse(text) == words


@pytest.mark.parametrize(
    "text", ["", "+", "+nosuchflag", "host,kvm64", "+aes,-aes", "a b", "host;rm", "host\x1b[31m"]
)
def test_what_is_no_cpu_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--cpu"):
        _wish_words.parse(text)


@pytest.mark.parametrize(
    ("before", "wish", "after"),
    [
        (None, "host", "host"),
        (None, "+aes", "kvm64,flags=+aes"),
        ("x86-64-v2", "+aes", "x86-64-v2,flags=+aes"),
        ("kvm64,flags=+pcid;-aes,hidden=1,phys-bits=host", "+aes",
         "kvm64,flags=+pcid;+aes,hidden=1,phys-bits=host"),
        ("kvm64,flags=+pcid", "host", "host,flags=+pcid"),
        # Of a flag that is there twice the last one counts.
        ("kvm64,flags=-aes;+pcid;-aes", "+aes", "kvm64,flags=+aes;+pcid"),
        ("kvm64,flags=-aes;+aes", "-aes", "kvm64,flags=-aes"),
        ("cputype=host,hidden=1", "x86-64-v3", "x86-64-v3,hidden=1"),
        ("hidden=1,cputype=host", "+aes", "host,hidden=1,flags=+aes"),
        ("host,hv-vendor-id=me,level=30", "kvm64,-pcid",
         "kvm64,hv-vendor-id=me,level=30,flags=-pcid"),
        ("host,hidden=1", "host,hidden=0", "host,hidden=0"),
    ],
)  # fmt: skip
def test_a_wish_is_merged_into_what_is_there(before: str | None, wish: str, after: str) -> None:
    words = _wish_words.parse(wish)
    names = {flag: flag for flag in (*words.on, *words.off)}
    assert proxmox_value(before, words, names, "kvm64") == after


def test_the_specification_is_what_proxmox_makes_of_it() -> None:
    found = asked("+aes", "x86-64-v2,flags=+pcid")
    assert found.after == Setting("x86-64-v2,flags=+pcid;+aes")
    assert {"aes", "pcid"} <= found.spec.on
    assert found.flags == ("aes",)


@pytest.mark.parametrize(
    "value",
    [
        "kvm64,flags=+pcid;-aes,hidden=1,phys-bits=host",
        "host,flags=+hv-tlbflush;+nested-virt;-virt-ssbd,hv-vendor-id=me",
        "custom-nas,flags=+aes",
    ],
)
def test_a_value_of_proxmox_is_a_wish_that_gives_it_again(value: str) -> None:
    """A plan is made again right before it is done, from the value that was planned."""
    for before in (value, "x86-64-v2"):
        assert asked(value, before).after.value == value


@pytest.mark.parametrize("before", ["host,flags=+vmx", "custom-gone", "a,b", "host,nonsense=1"])
def test_nothing_is_kept_of_a_value_that_proxmox_does_not_take(before: str) -> None:
    found = asked("host", before)
    assert found.after == Setting("host")
    assert before in found.notes[0]


def test_a_flag_that_one_guest_may_not_have_names_both_ways_out() -> None:
    with pytest.raises(UsageError) as caught:
        asked("+pclmulqdq", "kvm64")
    said = str(caught.value)
    assert "no pclmulqdq among the flags of a single guest" in said
    assert "--cpu Westmere" in said
    assert "--cpu custom-NAME" in said


@pytest.mark.parametrize("wish", ["host-model", "host-passthrough", "maximum", "NoSuchModel"])
def test_proxmox_has_models_of_its_own(wish: str) -> None:
    with pytest.raises(UsageError, match=wish):
        asked(wish)


def test_a_custom_model_that_is_not_there_is_made_for_the_nodes() -> None:
    found = asked("custom-nas", "kvm64,hidden=1")
    assert found.after == Setting("custom-nas,hidden=1")
    assert found.custom_model == "nas"
    assert found.section.startswith("cpu-model: nas\n")
    assert "reported-model" in found.section


@pytest.mark.parametrize(
    ("wish", "element"),
    [
        ("host", "<cpu mode='host-passthrough' check='none' migratable='on'/>"),
        ("host-passthrough", "<cpu mode='host-passthrough' check='none' migratable='on'/>"),
        ("host-model", "<cpu mode='host-model' check='partial'/>"),
        ("max", "<cpu mode='maximum' check='none' migratable='on'/>"),
    ],
)
def test_modes_of_libvirt(wish: str, element: str) -> None:
    found = asked(wish, "<cpu mode='custom'><model>qemu64</model></cpu>", platform="libvirt")
    assert found.after.value == element


def test_libvirt_keeps_what_stands_beside_the_model() -> None:
    before = (
        "<cpu mode='custom' match='exact'><model>qemu64</model><topology sockets='1' cores='2' "
        "threads='1'/><feature policy='disable' name='pcid'/></cpu>"
    )
    found = asked("Westmere,+aes,+pclmulqdq", before, platform="libvirt")
    text = found.after.value or ""
    for part in ("<topology sockets='1' cores='2' threads='1'/>", "name='pcid'", "name='pclmuldq'"):
        assert part in text
    assert found.spec.model == "Westmere"


@pytest.mark.parametrize("wish", ["custom-nas", "x86-64-v3", "host,hidden=1"])
def test_what_libvirt_does_not_have(wish: str) -> None:
    with pytest.raises(UsageError, match="--cpu"):
        asked(wish, "<cpu mode='host-model'/>", platform="libvirt")


def test_recommended_is_one_flag_where_that_is_enough() -> None:
    found = asked("recommended", "x86-64-v2", cpu="x86-64-v2", sees="x86-64-v2", workloads=[LUKS])
    assert found.after == Setting("x86-64-v2,flags=+aes")


def test_recommended_is_a_model_with_avx_for_encrypted_zfs() -> None:
    found = asked("recommended", "x86-64-v2", cpu="x86-64-v2", sees="x86-64-v2", workloads=[ZFS])
    assert found.after == Setting("SandyBridge")
    assert "zfs tank" in found.notes[0]


def test_recommended_is_a_model_with_both_where_nobody_looked_inside() -> None:
    found = asked("recommended", None)
    assert found.after == Setting("Westmere")
    assert "is not known" in found.notes[0]


def test_recommended_changes_nothing_where_all_is_there() -> None:
    found = asked("recommended", "host", cpu="host")
    assert found.after == Setting("host")
    assert "already" in found.notes[0]


def test_recommended_is_a_model_that_the_host_runs_where_a_node_has_no_aes() -> None:
    hosts = {"lab/one": "broadwell", "lab/two": {"like": "broadwell", "without": "aes"}}
    found = asked("recommended", "kvm64", hosts, cpu="kvm64")
    assert found.after == Setting("Westmere")
    assert "not on all other nodes" in found.notes[0]


def test_recommended_turns_back_on_what_is_turned_off_by_name() -> None:
    off = {"like": "kvm64", "written": "kvm64,flags=-aes", "off": "aes"}
    found = asked("recommended", "kvm64,flags=-aes", cpu=off)
    assert found.after == Setting("Westmere,flags=+aes")


@pytest.mark.parametrize("platform", ["proxmox", "libvirt"])
def test_recommended_is_a_whole_model_for_an_emulated_guest(platform: str) -> None:
    before = None if platform == "proxmox" else "<cpu mode='custom'><model>qemu64</model></cpu>"
    found = asked("recommended", before, platform=platform, accelerator="tcg", cpu="qemu64")
    assert found.spec.model == "Westmere"


def test_recommended_needs_a_host_that_is_known() -> None:
    with pytest.raises(UsageError, match="not known"):
        asked("recommended", None, {"lab/one": None})


def test_recommended_says_where_the_host_has_nothing_to_give() -> None:
    without = {"lab/one": {"like": "broadwell", "without": "aes pclmulqdq"}}
    with pytest.raises(UsageError, match="lab/101"):
        asked("recommended", None, without)


def test_a_host_that_is_not_in_the_inventory_stops_nothing_but_the_recommendation() -> None:
    read = rule_case.inventory({"lab/one": "broadwell"}, [{}])
    alone: Inventory = replace(read, hosts=())
    (case,) = guest_cases(alone)
    assert wished("host", case, alone, Setting(None)).after == Setting("host")
