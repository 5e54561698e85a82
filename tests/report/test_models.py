"""The models' table and pages say what QEMU and Proxmox VE define."""

from __future__ import annotations

import json

import pytest

from unmask.cpu import catalogue
from unmask.errors import UsageError
from unmask.report import _models
from unmask.report._model_facts import facts, listing
from unmask.report._paint import Paint

PLAIN = Paint(enabled=False)


def cells(text: str, name: str) -> list[str]:
    return next(line.split() for line in text.splitlines() if line.split()[:1] == [name])


def test_the_table_tells_aes_from_clmul() -> None:
    text = _models.table(listing(versions=False), 0, PLAIN)
    heads = text.splitlines()[0].split()
    for name, aes, clmul, level in (
        ("x86-64-v2-AES", "yes", "no", "v2"),
        ("x86-64-v2", "no", "no", "v2"),
        ("kvm64", "no", "no", "v1"),
        ("Westmere", "yes", "yes", "v2"),
        ("486", "no", "no", "<v1"),
    ):
        row = dict(zip(heads, cells(text, name), strict=False))
        assert (row["AES"], row["CLMUL"], row["LEVEL"]) == (aes, clmul, level), name
    assert "x86-64-v3: It shows AES without PCLMULQDQ" in text
    assert "Haswell: It shows" not in text


@pytest.mark.parametrize("width", [80, 100, 120])
def test_the_table_fits(width: int) -> None:
    text = _models.table(listing(versions=True), width, PLAIN)
    assert max(map(len, text.splitlines())) <= width
    assert {"MODEL", "AES", "CLMUL", "LEVEL"} <= set(text.splitlines()[0].split())


def test_versions_are_listed_when_asked_for() -> None:
    brief = {model.name for model in listing(versions=False)}
    whole = {model.name for model in listing(versions=True)}
    assert whole == {*catalogue.names(), *catalogue.proxmox_names()}
    assert "Haswell" in brief
    assert "Haswell-v2" in whole - brief


def test_a_page_shows_all_flags_and_names() -> None:
    text = _models.page(facts("Haswell"), 0, PLAIN)
    model = catalogue.find("Haswell")
    assert model
    assert f"flags:     {' '.join(sorted(model.flags))}\n" in text
    assert "same as:   Haswell-v1\n" in text
    assert "versions:  Haswell-v1, Haswell-v2, Haswell-v3, Haswell-v4\n" in text
    assert "for x86-64-v4 it lacks avx512bw avx512cd avx512dq avx512f avx512vl" in text


def test_a_page_of_proxmox_says_what_it_is_built_on() -> None:
    text = _models.page(facts("x86-64-v2-AES"), 100, PLAIN)
    assert "built on:  qemu64 plus aes pni popcnt sse4_1 sse4_2 ssse3" in text
    assert "libsodium (AES-GCM): lacks pclmulqdq: not available at all" in text
    assert "OpenSSL (AES-GCM): lacks pclmulqdq: AES-NI, with GHASH from a table" in text
    assert "MongoDB 5.0 and newer: lacks avx: does not start" in text
    assert "LUKS and fscrypt on Linux (AES-XTS): has what it needs" in text
    assert max(map(len, text.splitlines())) <= 100


def test_a_page_judges_software_by_the_flags_of_its_model() -> None:
    westmere, kvm64 = (_models.page(facts(name), 0, PLAIN) for name in ("Westmere", "kvm64"))
    zfs = "OpenZFS native encryption (AES-GCM): lacks"
    assert "OpenSSL (AES-GCM): has what it needs" in westmere
    assert f"{zfs} avx: AES-NI and PCLMULQDQ block by block (10 % of the speed)" in westmere
    assert f"{zfs} aes, pclmulqdq, avx: " in kvm64
    assert "Windows 11 24H2 or Server 2025: lacks popcnt, sse4_2: does not start" in kvm64


def test_the_json_form_has_the_same_facts() -> None:
    body = json.loads(_models.as_json([facts("x86-64-v3"), facts("EPYC-Milan")]))
    assert body["schema"] == "unmask.models/1"
    v3, milan = body["models"]
    assert (v3["platform"], v3["level"], v3["built_on"]) == ("proxmox", "x86-64-v3", "qemu64")
    assert "aes" in v3["flags"]
    assert "pclmulqdq" not in v3["flags"]
    assert (milan["vendor"], milan["same"]) == ("AMD", ["EPYC-Milan-v1"])
    assert v3.keys() == milan.keys()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("haswel", "did you mean Haswell"),
        ("host", "host is no model"),
        ("x86-64-v2-aes", "did you mean x86-64-v2-AES"),
        ("zzzzzz", "unmask models lists them"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        facts(name)


def test_notes_name_defaults_and_replacements() -> None:
    assert "default where no cpu is configured" in facts("kvm64").notes[0]
    assert "emulated" in facts("qemu64").notes[0]
    assert facts("Westmere").notes == ()
    assert facts("Westmere").since == "QEMU 7.2 or older"
