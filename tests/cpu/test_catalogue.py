"""QEMU's models and Proxmox's additions, as the data files hold them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from unmask.cpu import catalogue, features
from unmask.cpu.catalogue import CpuModel, ProxmoxModel
from unmask.cpu.levels import level

SHARED = Path(__file__).parents[3] / "shared"


def model(name: str) -> CpuModel:
    found = catalogue.find(name)
    assert found is not None, name
    return found


def built_in(name: str) -> ProxmoxModel:
    found = catalogue.proxmox_model(name)
    assert found is not None, name
    return found


def shared(path: str) -> Path:
    if not SHARED.is_dir():
        pytest.skip("../shared is not there")
    return SHARED / path


def test_names_are_exact_and_sorted() -> None:
    names = catalogue.names()
    assert list(names) == sorted(set(names))
    assert len(names) == 187
    assert all(catalogue.find(name) for name in names)
    for other in ("haswell", "KVM64", "host", "max", "x86-64-v3", "cortex-a57", "Icelake-Client"):
        assert catalogue.find(other) is None, other


def test_an_alias_is_the_version_that_it_stands_for() -> None:
    alias, version = model("Haswell-noTSX"), model("Haswell-v2")
    assert alias.resolved == version.name == version.resolved
    assert alias.flags == version.flags
    assert model("EPYC-IBPB").resolved == "EPYC-v2"


def test_versions_build_on_each_other() -> None:
    first, second, third = (model(f"Haswell-v{number}") for number in (1, 2, 3))
    assert first.flags - second.flags == {"hle", "rtm"}
    assert third.flags - first.flags == {"spec-ctrl", "ibrs", "ibpb"}
    assert model("EPYC-Milan-v2").flags - model("EPYC-Milan-v1").flags > {"vaes", "vpclmulqdq"}


@pytest.mark.parametrize(
    ("name", "shown", "hidden"),
    [
        ("kvm64", "cx16 x2apic vme", "aes pclmulqdq ssse3 lahf_lm"),
        ("qemu64", "cx16 lahf_lm x2apic", "aes pclmulqdq ssse3 svm vme"),
        ("Westmere", "aes pclmulqdq sse4_2 popcnt", "avx movbe pcid"),
        ("Haswell", "aes pclmulqdq avx2 abm f16c rdrand pcid", "vaes sha_ni ssbd"),
        ("Nehalem", "ssse3 sse4_2 popcnt", "aes pclmulqdq"),
        ("Dhyana", "avx2 bmi2", "aes pclmulqdq"),
        ("EPYC", "aes pclmulqdq sha_ni", "vaes ssbd svm npt monitor"),
        ("Icelake-Server", "vaes vpclmulqdq avx512f spec-ctrl ibrs", "sha_ni"),
    ],
)
def test_what_a_guest_sees_under_kvm(name: str, shown: str, hidden: str) -> None:
    assert model(name).flags.issuperset(shown.split())
    assert model(name).flags.isdisjoint(hidden.split())


def test_no_model_of_qemu_shows_aes_without_pclmulqdq() -> None:
    flags = [model(name).flags for name in catalogue.names()]
    assert all(("aes" in each) == ("pclmulqdq" in each) for each in flags)


def test_tcg_shows_what_it_implements() -> None:
    epyc = model("EPYC")
    assert {"svm", "npt", "monitor", "aes", "pclmulqdq"} <= epyc.tcg_flags
    assert epyc.tcg_flags.isdisjoint({"vme", "sha_ni", "topoext", "x2apic"})
    assert "sha_ni" in catalogue.under_tcg(epyc.defined, "10.0.13")
    assert "vpclmulqdq" not in model("Icelake-Server").tcg_flags


@pytest.mark.parametrize(
    ("release", "same"),
    [("", "7.2"), ("6.0", "7.2"), ("8.2.1", "7.2"), ("10.0.13", "10.0"), ("11.0", "10.0")],
)
def test_the_newest_release_that_is_not_newer_decides(release: str, same: str) -> None:
    assert catalogue.emulated(release) == catalogue.emulated(same)
    assert catalogue.emulated("12.0") == catalogue.emulated("11.1") != catalogue.emulated("7.2")


def test_where_models_come_from() -> None:
    assert catalogue.releases() == ("7.2", "10.0", "11.1")
    assert [model(name).since for name in ("Haswell", "SapphireRapids", "EPYC-Turin")] == [
        "7.2",
        "10.0",
        "11.1",
    ]
    vendors = {model(name).vendor for name in catalogue.names()}
    assert vendors == {"", "GenuineIntel", "AuthenticAMD", "HygonGenuine", "CentaurHauls"}


def test_proxmox_models_are_qemu64_with_flags() -> None:
    assert catalogue.proxmox_names() == ("x86-64-v2", "x86-64-v2-AES", "x86-64-v3", "x86-64-v4")
    v2, aes, v3, v4 = (built_in(name) for name in catalogue.proxmox_names())
    assert v2.qemu_flags == ("pni", "popcnt", "sse4.1", "sse4.2", "ssse3")
    assert aes.on - v2.on == {"aes"}
    assert v2.on < aes.on < v3.on < v4.on
    for each in (v2, aes, v3, v4):
        assert (each.reported_model, each.since) == ("qemu64", "8.0")
        assert "pclmulqdq" not in each.on
    assert catalogue.proxmox_model("x86-64-v1") is catalogue.proxmox_model("kvm64") is None


def test_proxmox_models_reach_the_levels_in_their_names() -> None:
    for name in catalogue.proxmox_names():
        profile = built_in(name)
        flags = model(profile.reported_model).flags | profile.on
        assert level(flags) == int(name.removesuffix("-AES")[-1])


def test_which_cputypes_validate() -> None:
    every = catalogue.proxmox_cpu_names()
    assert {"host", "max", "kvm64", "x86-64-v2-AES", "cortex-a57", "Icelake-Client"} <= every
    assert every.isdisjoint({"base", "x86-64-v1", "KVM64", "Denverton", "Haswell-v4", "n270"})
    assert every == catalogue.proxmox_cpu_names("x86_64") | catalogue.proxmox_cpu_names("aarch64")
    assert catalogue.proxmox_cpu_names("aarch64").isdisjoint({"kvm64", "x86-64-v3"})
    assert catalogue.proxmox_cpu_names("s390x") == frozenset()


def test_qemu_has_every_x86_model_that_proxmox_takes() -> None:
    named = catalogue.proxmox_cpu_names("x86_64") - {*catalogue.proxmox_names(), "host", "max"}
    assert {name for name in named if catalogue.find(name) is None} == {
        "Icelake-Client",
        "Icelake-Client-noTSX",
    }
    for name in ("Icelake-Client", "Icelake-Client-noTSX"):
        assert catalogue.find(catalogue.proxmox_deprecated(name) or "")
    assert catalogue.proxmox_deprecated("Icelake-Server") is None


def test_proxmox_asks_for_the_vendor_that_a_model_is_of() -> None:
    for name in catalogue.proxmox_cpu_names("x86_64"):
        vendor = catalogue.proxmox_vendor(name)
        found = catalogue.find(catalogue.proxmox_deprecated(name) or name)
        assert not vendor or (found and found.vendor == vendor)
    for generic in ("kvm64", "kvm32", "qemu64", "qemu32", "host", "max", "x86-64-v3"):
        assert not catalogue.proxmox_vendor(generic)


@pytest.mark.parametrize(
    ("version", "count"),
    [("7", 12), ("7.4", 12), ("8.4.1", 12), ("9.0.26", 12), ("9.0.27", 13), ("9.1", 13), ("9", 13)],
)
def test_flags_at_guest_level_by_version(version: str, count: int) -> None:
    flags = catalogue.proxmox_vm_flags(version)
    assert len(flags) == count
    assert ("nested-virt" in flags) == (count == 13)
    assert "aes" in flags
    assert "pclmulqdq" not in flags


def test_what_proxmox_adds_by_itself() -> None:
    assert catalogue.proxmox_added("kvm64") == ("+lahf_lm", "+sep")
    assert catalogue.proxmox_added("kvm32") == ("+sep",)
    assert catalogue.proxmox_added("Opteron_G3") == ("-rdtscp",)
    assert catalogue.proxmox_added("Haswell") == ()
    assert catalogue.proxmox_added_when("kvm") == ("+kvm_pv_eoi", "+kvm_pv_unhalt")
    assert catalogue.proxmox_added_when("solaris") == ("-x2apic",)
    with pytest.raises(KeyError):
        catalogue.proxmox_added_when("weekend")


def test_defaults_of_proxmox() -> None:
    assert catalogue.proxmox_default("x86_64", kvm=True) == "kvm64"
    assert catalogue.proxmox_default("x86_64", kvm=False) == "qemu64"
    assert catalogue.proxmox_default("aarch64", kvm=True) == "host"
    assert catalogue.proxmox_default("aarch64", kvm=False) == "max"


def test_loading_is_quick() -> None:
    code = (
        "import time; from unmask.cpu import catalogue; start = time.process_time();"
        "catalogue.find('Haswell'); catalogue.proxmox_names();"
        "print(time.process_time() - start)"
    )
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
            for _ in range(3)]  # fmt: skip
    assert min(float(run.stdout) for run in runs) < 0.02


def test_models_agree_with_the_recorded_truth() -> None:
    truth = json.loads(shared("truth/models.json").read_text(encoding="utf-8"))
    # The record folds these into no word, or gives them as bits of CPUID only.
    renamed = {"ibt", "perfmon_v2", "split_lock_detect"}
    compared = 0
    for name, entry in truth.items():
        if "qemu_version" not in entry or name == "max":
            continue
        mine = model(name)
        words = {flag for flag in mine.flags if features.listed(flag)}
        assert words - renamed == set(entry["flags"]), name
        assert (mine.vendor, mine.level) == (entry["vendor"], entry["x86_64_level"]), name
        assert mine.resolved == entry.get("alias_of", name)
        assert entry["qemu_version"].startswith(mine.since)
        compared += 1
    assert compared == len(catalogue.names())


def test_cputypes_agree_with_the_recorded_answers_of_a_cluster() -> None:
    for name, arch in (("068-caps-cpu", "x86_64"), ("074-caps-cpu-aarch64", "aarch64")):
        answer = json.loads(shared(f"pve-api/recorded/{name}.json").read_text(encoding="utf-8"))
        listed = {
            entry["name"]: entry["vendor"]
            for entry in answer["response"]["json"]["data"]
            if not entry["custom"]
        }
        # A node of another architecture does not list `host`, which validates all the same.
        assert catalogue.proxmox_cpu_names(arch) - listed.keys() <= {"host"}
        assert listed.keys() <= catalogue.proxmox_cpu_names(arch)
        if arch == "x86_64":
            vendors = {cpu: vendor.replace("default", "") for cpu, vendor in listed.items()}
            assert vendors == {cpu: catalogue.proxmox_vendor(cpu) for cpu in listed}


def test_guest_level_flags_agree_with_the_recorded_schema() -> None:
    schema = json.loads(shared("pve-api/schema.json").read_text(encoding="utf-8"))
    assert catalogue.proxmox_vm_flags("9") == set(schema["_formats"]["vm_specific_flags"])
