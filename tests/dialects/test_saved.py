"""A saved inventory comes back exactly, and a damaged one is refused with its place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.inventories import random_inventory
from unmask.dialects.saved import LIMIT, dump, load, looks_saved
from unmask.errors import InputError
from unmask.model.cpu import Accelerator, CpuSpec, HostCpu, Mode, Origin
from unmask.model.inventory import Guest, GuestKind, GuestState, Host, Inventory, Platform
from unmask.model.reading import Known, Missing

SPEC = CpuSpec("kvm64,flags=+aes", Origin.CONFIG, Mode.MODEL, "kvm64", "kvm64", frozenset({"aes"}))
GUEST = Guest(
    "lab/100",
    "100",
    "vpn",
    Platform.PROXMOX,
    GuestKind.VM,
    "lab/one",
    GuestState.RUNNING,
    "x86_64",
    Accelerator.KVM,
    SPEC,
)
HOST = Host(
    "lab/one", "one", Platform.PROXMOX, "lab", Known(HostCpu("x86_64", frozenset({"sse2", "aes"})))
)
SMALL = Inventory(targets=("/etc/pve",), hosts=(HOST,), guests=(GUEST,))


def small(**changes: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(dump(SMALL))
    return {**document, **changes}


@pytest.mark.parametrize("seed", range(200))
def test_any_inventory_comes_back_exactly(seed: int) -> None:
    inventory = random_inventory(seed)
    text = dump(inventory)
    again = load(text)
    assert again == inventory
    assert dump(again) == text
    assert text.isascii()


def test_random_inventories_are_worth_the_name() -> None:
    texts = [dump(random_inventory(seed)) for seed in range(200)]
    assert len(set(texts)) > 150
    for word in ('"missing":', '"known":', '"optional":', '"running":', '"host_model":'):
        assert any(word in text for text in texts), word


def test_the_text_is_readable_and_short() -> None:
    document = small()
    assert document["schema"] == "unmask.inventory/1"
    assert document["hosts"][0]["cpu"] == {"known": {"arch": "x86_64", "flags": ["aes", "sse2"]}}
    assert document["guests"][0]["configured"] == {
        "written": "kvm64,flags=+aes",
        "origin": "config",
        "mode": "model",
        "label": "kvm64",
        "model": "kvm64",
        "on": ["aes"],
    }
    assert "gaps" not in document


def test_a_missing_reading_keeps_reason_and_need() -> None:
    host = Host("h", "h", Platform.LIBVIRT, "", Missing("not allowed", "Sys.Audit"))
    document = json.loads(dump(Inventory(hosts=(host,))))
    assert document["hosts"][0]["cpu"] == {"missing": "not allowed", "needs": "Sys.Audit"}
    assert load(json.dumps(document)).hosts[0].cpu == Missing("not allowed", "Sys.Audit")


def test_an_empty_inventory_is_a_valid_one() -> None:
    assert load('{"schema": "unmask.inventory/1"}') == Inventory()


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("guests", 0, "configured", "mode"), "fast", "guests[0].configured.mode: 'fast' is none"),
        (("guests", 0, "template"), 1, "guests[0].template: 1 is not true or false"),
        (("guests", 0, "name"), None, "guests[0].name: None is not a string"),
        (("guests", 0, "configured", "on"), "aes", "guests[0].configured.on: 'aes' is not a list"),
        (("guests", 0, "configured", "on"), [1], "guests[0].configured.on: 1 is not a string"),
        (("guests", 0, "colour"), "red", "guests[0]: unknown key 'colour'"),
        (("guests", 0, "configured", "properties"), [["a"]], "properties[0]: ['a'] is not a list"),
        (("hosts", 0, "cpu"), {"value": 1}, "hosts[0].cpu: {'value': 1} has neither"),
        (("hosts", 0, "cpu"), {"missing": "x", "reason": "y"}, "has neither"),
        (("hosts", 0, "cpu", "known", "family"), True, "cpu.known.family: True is not an integer"),
        (("hosts", 0, "cpu", "known", "flags"), {}, "hosts[0].cpu.known.flags: {} is not a list"),
        (("hosts",), {}, "hosts: {} is not a list"),
        (("hosts", 0), [], "hosts[0]: [] is not an object"),
        (("targets",), "abc", "targets: 'abc' is not a list"),
    ],
)
def test_a_wrong_value_is_named_with_its_place(
    path: tuple[str | int, ...], value: object, message: str
) -> None:
    document: Any = small()
    place = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(InputError) as caught:
        load(json.dumps(document))
    assert str(caught.value).startswith("not a valid saved inventory: ")
    assert message in str(caught.value)


def test_a_missing_key_is_named() -> None:
    document = small()
    del document["guests"][0]["kind"]
    with pytest.raises(InputError, match=r"guests\[0\]: the key 'kind' is missing"):
        load(json.dumps(document))


@pytest.mark.parametrize("what", ["hosts", "guests"])
def test_a_subject_that_appears_twice_is_refused(what: str) -> None:
    document = small()
    document[what] *= 2
    with pytest.raises(InputError, match=f"{what}: 'lab/.*' appears twice"):
        load(json.dumps(document))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a saved inventory"),
        ("[]", "not an object"),
        ("{}", 'schema" is not'),
        ('{"schema": 1}', 'schema" is not'),
        ('{"schema": "unmask.audit/1"}', 'schema" is not'),
        ('{"schema": "unmask.inventory/2"}', "use the unmask that wrote it"),
        ('{"schema": "unmask.inventory/1", "hosts": [], "hosts": []}', "'hosts' appears twice"),
        ("[" * 100_000, "nested too deeply"),
        ('{"schema": "unmask.inventory/1"', "no JSON from line 1, column 32 on"),
    ],
)
def test_text_that_is_no_inventory_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(text)


def test_a_truncated_inventory_is_refused_wherever_it_ends() -> None:
    text = dump(SMALL).rstrip()
    for end in range(0, len(text), 7):
        with pytest.raises(InputError):
            load(text[:end])


def test_a_huge_text_is_refused_before_it_is_parsed() -> None:
    class Huge(str):
        __slots__ = ()

        def __len__(self) -> int:
            return LIMIT + 1

    with pytest.raises(InputError, match="is not read"):
        load(Huge("{}"))


@pytest.mark.parametrize(
    ("start", "answer"),
    [
        (dump(SMALL)[:100], True),
        ('\ufeff{ "schema" : "unmask.inventory/1"}', True),
        ('{"schema": "unmask.audit/1"}', False),
        ('{"name": "unmask.inventory"}', False),
        ("<domain/>", False),
        ("", False),
        ("{", False),
        ('{"schema', False),
        ('{"other": "unmask.inventory"}', False),
    ],
)
def test_a_saved_inventory_is_told_by_its_start(start: str, *, answer: bool) -> None:
    assert looks_saved(start) is answer
