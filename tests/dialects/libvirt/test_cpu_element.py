"""What a <cpu> becomes: another model or other flags, and all else as it was."""

from __future__ import annotations

import pytest

from unmask.dialects.libvirt.cpu_element import Wish, build
from unmask.dialects.libvirt.xml import parse
from unmask.errors import InputError
from unmask.model.cpu import Accelerator

KVM, TCG = Accelerator.KVM, Accelerator.TCG

PLAIN = """<cpu mode='custom' match='exact' check='none'>
    <model fallback='forbid'>qemu64</model>
  </cpu>"""

RICH = """<cpu mode='custom' match='exact' check='partial'>
    <model fallback='allow' vendor_id='GenuineIntel'>Haswell-noTSX</model>
    <vendor>Intel</vendor>
    <topology sockets='1' dies='1' cores='2' threads='2'/>
    <cache level='3' mode='emulate'/>
    <maxphysaddr mode='emulate' bits='42'/>
    <feature policy='disable' name='aes'/>
    <feature policy='force' name='x2apic'/>
    <numa>
      <cell id='0' cpus='0-3' memory='2097152' unit='KiB'/>
    </numa>
  </cpu>"""

PASSED = """<cpu mode='host-passthrough' check='none' migratable='off'>
    <cache mode='passthrough'/>
    <maxphysaddr mode='passthrough'/>
    <feature policy='disable' name='hle'/>
  </cpu>"""


def test_flags_are_merged_and_all_else_stays_to_the_character() -> None:
    built = build(RICH, Wish(on=("aes", "pclmulqdq", "x2apic"), off=("sse4_2",)), KVM)
    assert built.notes == ()
    assert built.element == RICH.replace(
        "<feature policy='disable' name='aes'/>", "<feature policy='require' name='aes'/>"
    ).replace(
        "    <numa>",
        "    <feature policy='require' name='pclmuldq'/>\n"
        "    <feature policy='disable' name='sse4.2'/>\n    <numa>",
    )


def test_a_wish_that_is_fulfilled_changes_nothing() -> None:
    assert build(RICH, Wish(on=("x2apic",), off=("aes",)), KVM).element == RICH
    assert build(PASSED, Wish(off=("hle",)), KVM).element == PASSED


def test_a_misspelt_feature_is_replaced_and_not_doubled() -> None:
    odd = PLAIN.replace("</model>", "</model><feature policy='require' name='sse4_1'/>")
    built = build(odd, Wish(on=("sse4_1",)), TCG).element
    assert [item.get("name") for item in parse(built, "").iterfind("feature")] == ["sse4.1"]


def test_another_model_keeps_what_was_asked_for() -> None:
    built = build(RICH, Wish(model="Westmere"), TCG)
    assert built.notes == ()
    assert built.element == RICH.replace("check='partial'", "check='none'").replace(
        "fallback='allow' vendor_id='GenuineIntel'>Haswell-noTSX",
        "fallback='forbid' vendor_id='GenuineIntel'>Westmere",
    )


@pytest.mark.parametrize(("accelerator", "check"), [(KVM, "partial"), (TCG, "none")])
def test_the_check_of_a_new_model_is_said(accelerator: Accelerator, check: str) -> None:
    built = build(PLAIN, Wish(model="Westmere", on=("aes",)), accelerator).element
    assert built == (
        f"<cpu mode='custom' match='exact' check='{check}'>\n"
        "    <model fallback='forbid'>Westmere</model>\n"
        "    <feature policy='require' name='aes'/>\n  </cpu>"
    )


def test_flags_alone_leave_the_check_as_it_is() -> None:
    """With check='partial' libvirt would refuse qemu64 on every host without svm."""
    assert "check='none'" in build(PLAIN, Wish(on=("aes",)), KVM).element


def test_what_libvirt_counts_to_a_model_and_kvm_does_not_give_is_disabled() -> None:
    built = build(PLAIN, Wish(model="Skylake-Server"), KVM)
    assert "<feature policy='disable' name='mpx'/>" in built.element
    assert built.notes[0].startswith("mpx is disabled by name")
    assert "mpx" not in build(PLAIN, Wish(model="Skylake-Server"), TCG).element
    wanted = build(PLAIN, Wish(model="Skylake-Server", on=("mpx",)), KVM).element
    assert wanted.count("mpx") == 1
    assert "<feature policy='require' name='mpx'/>" in wanted


def test_modes_of_the_host() -> None:
    built = build(RICH, Wish(mode="host-passthrough"), KVM)
    assert built.element == (
        "<cpu mode='host-passthrough' check='none' migratable='on'>\n    "
        + RICH.partition("</vendor>\n    ")[2]
    )
    assert len(built.notes) == 2
    assert all("mode='host-passthrough'" in note for note in built.notes)
    model = build(PLAIN, Wish(mode="host-model", off=("vmx",)), KVM)
    assert model.element == (
        "<cpu mode='host-model' check='partial'>\n"
        "    <feature policy='disable' name='vmx'/>\n  </cpu>"
    )
    assert model.notes == ()
    assert build(PASSED, Wish(mode="maximum"), KVM).element.startswith(
        "<cpu mode='maximum' check='none' migratable='off'>"
    )


def test_what_is_passed_on_from_the_host_cannot_stay_beside_a_model() -> None:
    built = build(PASSED, Wish(model="Westmere"), KVM)
    assert "passthrough" not in built.element
    assert "<feature policy='disable' name='hle'/>" in built.element
    assert [note.split()[0] for note in built.notes] == ["cache", "maxphysaddr"]


def test_a_whole_element_takes_over_what_it_does_not_speak_of() -> None:
    own = (
        "<cpu mode='custom' match='exact' check='partial'><model fallback='forbid'>Nehalem</model>"
        "<topology sockets='4' cores='1' threads='1'/><feature policy='require' name='aes'/></cpu>"
    )
    built = build(RICH, Wish(element=own), KVM).element
    root = parse(built, "")
    assert root.findtext("model") == "Nehalem"
    assert [child.get("sockets") for child in root.iterfind("topology")] == ["4"]
    assert [child.tag for child in root][-1] == "numa"
    assert {item.get("name"): item.get("policy") for item in root.iterfind("feature")} == {
        "aes": "require",
        "x2apic": "force",
    }


@pytest.mark.parametrize("current", [None, "<cpu/>", "<cpu mode='custom'/>"])
def test_flags_without_a_model_are_added_to_libvirts_default(current: str | None) -> None:
    assert build(current, Wish(on=("aes",)), TCG).element == PLAIN.replace(
        "</model>", "</model>\n    <feature policy='require' name='aes'/>"
    )
    with pytest.raises(InputError, match="names no model to add flags to"):
        build(current, Wish(on=("sve",)), TCG, x86=False)


def test_names_of_another_architecture_are_taken_as_they_are() -> None:
    arm = "<cpu mode='custom'><model>cortex-a57</model></cpu>"
    assert "name='pmull'" in build(arm, Wish(on=("pmull",)), TCG, x86=False).element


def test_names_are_escaped() -> None:
    built = build(PLAIN, Wish(model="a<b", on=("x'y",)), TCG).element
    assert ">a&lt;b</model>" in built
    assert "name='x&apos;y'" in built
    assert parse(built, "").findtext("model") == "a<b"


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        (Wish(mode="bogus"), "no CPU mode"),
        (Wish(mode="host-model", model="Westmere"), "takes no model"),
        (Wish(mode="custom"), "needs a model"),
        (Wish(on=("pclmulqdq",), off=("pclmuldq",)), "both given and withheld"),
        (Wish(element="<cpu><feature name='aes'/></cpu>"), "neither a mode"),
        (Wish(element="<domain/>"), "is a <domain>"),
        (Wish(element="<cpu"), "not well-formed"),
    ],
)
def test_wishes_that_make_no_sense(wish: Wish, said: str) -> None:
    with pytest.raises(InputError, match=said):
        build(PLAIN, wish, KVM)
