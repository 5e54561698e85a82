"""One spelling per flag, whatever dialect names it."""

from __future__ import annotations

import pytest

from unmask.cpu import data_file, features

TABLES = data_file.read("flags")
OURS = {
    word
    for table in ("cpuinfo", "cpuinfo_only", "qemu_only", "arm", "elsewhere")
    for word in TABLES[table]
}


@pytest.mark.parametrize(
    ("written", "ours"),
    [
        ("pclmulqdq", "pclmulqdq"),
        ("pclmuldq", "pclmulqdq"),
        ("PCLMULQDQ", "pclmulqdq"),
        ("AESNI", "aes"),
        ("sse4.1", "sse4_1"),
        ("sse4-1", "sse4_1"),
        ("sse4_1", "sse4_1"),
        ("SSE4.1", "sse4_1"),
        ("sse3", "pni"),
        ("SSE3", "pni"),
        ("SSSE3", "ssse3"),
        ("sha-ni", "sha_ni"),
        ("sha_ni", "sha_ni"),
        ("SHA", "sha_ni"),
        ("lahf_lm", "lahf_lm"),
        ("lahf-lm", "lahf_lm"),
        ("LAHF", "lahf_lm"),
        ("fxsr_opt", "fxsr_opt"),
        ("ffxsr", "fxsr_opt"),
        ("FFXSR", "fxsr_opt"),
        ("tsc-deadline", "tsc_deadline_timer"),
        ("TSCDLT", "tsc_deadline_timer"),
        ("xd", "nx"),
        ("i64", "lm"),
        ("ds", "dts"),
        ("DTS", "dts"),
        ("cr8legacy", "cr8_legacy"),
        ("CR8", "cr8_legacy"),
        ("cmp-legacy", "cmp_legacy"),
        ("amd_ssbd", "amd-ssbd"),
        ("arch-facilities", "arch_capabilities"),
        ("avx512vbmi2", "avx512_vbmi2"),
        ("avx512-vpopcntdq", "avx512_vpopcntdq"),
        ("cmt", "cqm"),
        ("cet-ibt", "ibt"),
        ("xcrypt", "ace"),
        ("kvm_pv_eoi", "kvm-pv-eoi"),
        ("hv_time", "hv-time"),
        ("pmull", "pmull"),
    ],
)
def test_every_dialect_names_the_same_flag(written: str, ours: str) -> None:
    assert features.canonical(written) == ours
    assert features.known(written)


def test_an_unknown_word_stays_as_it_is() -> None:
    assert features.canonical("no-such_flag") == "no-such_flag"
    assert not features.known("no-such_flag")
    assert features.flags_of("no-such_flag") == {"no-such_flag"}


def test_qemu_is_exact_where_canonical_is_lenient() -> None:
    assert features.qemu_knows("pclmulqdq")
    assert features.qemu_knows("kvm_pv_unhalt")
    assert features.qemu_knows("sse4_1")
    for foreign in ("AESNI", "AES", "avx512_vbmi2", "arch-facilities", "dts", "constant_tsc"):
        assert not features.qemu_knows(foreign), foreign


@pytest.mark.parametrize(
    ("feature", "flags"),
    [
        ("aes", {"aes"}),
        ("spec-ctrl", {"spec-ctrl", "ibrs", "ibpb"}),
        ("virt-ssbd", {"virt_ssbd", "ssbd"}),
        ("amd-ssbd", {"amd-ssbd", "ssbd"}),
        ("amd-stibp", {"amd-stibp", "stibp"}),
        ("ibrs-all", {"ibrs-all", "ibrs_enhanced"}),
        ("ssbd", {"ssbd"}),
        ("md-clear", {"md_clear"}),
    ],
)
def test_what_one_feature_turns_on(feature: str, flags: set[str]) -> None:
    assert features.flags_of(feature) == flags


def test_a_flag_goes_back_to_the_names_of_qemu_and_libvirt() -> None:
    assert features.qemu_name("pclmuldq") == "pclmulqdq"
    assert features.libvirt_name("pclmulqdq") == "pclmuldq"
    assert features.qemu_name("sha_ni") == features.libvirt_name("sha_ni") == "sha-ni"
    assert features.qemu_name("lahf_lm") == "lahf-lm"
    assert features.libvirt_name("lahf_lm") == "lahf_lm"
    assert features.libvirt_name("sse4_1") == "sse4.1"


@pytest.mark.parametrize("flag", sorted(OURS))
def test_every_flag_survives_the_way_there_and_back(flag: str) -> None:
    assert features.canonical(flag) == flag
    assert features.canonical(features.qemu_name(flag)) == flag
    assert features.canonical(features.libvirt_name(flag)) == flag


def test_the_tables_name_only_flags_that_exist() -> None:
    named = [*TABLES["aliases"].values(), *TABLES["formerly"].values(), *TABLES["qemu"]]
    named += [*TABLES["libvirt"], *TABLES["freebsd"].values(), *TABLES["turns_on"]]
    named += [flag for more in TABLES["turns_on"].values() for flag in more]
    assert set(named) <= OURS


def test_no_word_of_ours_is_another_flags_alias() -> None:
    foreign = {*TABLES["aliases"], *TABLES["formerly"], *TABLES["libvirt"].values()}
    assert {name for name in foreign & OURS if features.canonical(name) != name} == set()


def test_only_words_of_proc_cpuinfo_are_listed() -> None:
    assert all(map(features.listed, ("aes", "pclmulqdq", "ibrs", "tsc_deadline_timer", "ibt")))
    for silent in ("spec-ctrl", "amd-ssbd", "invtsc", "osxsave", "sha512", "pmull", "rdctl-no"):
        assert not features.listed(silent), silent


def test_reports_show_flags_that_belong_to_the_architecture() -> None:
    x86 = features.reported("x86_64")
    assert x86[:4] == ("aes", "pclmulqdq", "ssse3", "sse4_1")
    assert len(set(x86)) == len(x86)
    assert set(features.MITIGATION_FLAGS) <= set(x86)
    assert features.reported("i686") == x86
    assert features.reported("aarch64")[:2] == ("aes", "pmull")
    assert set(features.reported("aarch64")) <= set(TABLES["arm"])
    for other in ("s390x", "ppc64", "riscv64", ""):
        assert features.reported(other) == ()


def test_everything_reported_is_spelled_our_way() -> None:
    for flag in (*features.REPORTED_X86, *features.KVM_PROVIDES, *features.REPORTED_ARM):
        assert features.canonical(flag) == flag
        assert features.known(flag)
