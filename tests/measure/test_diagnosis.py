"""Causes, from figures as they were measured on real and emulated CPUs (MB/s)."""

from dataclasses import replace

import pytest

from support.benches import ILLEGAL, environment, plain, result, samples
from unmask.measure.diagnosis import diagnose
from unmask.model.bench import (
    FORCED,
    MASKED,
    PADLOCK,
    PLAIN,
    WITHOUT_PCLMULQDQ,
    Cause,
    Environment,
    Tool,
)
from unmask.model.finding import Confidence
from unmask.model.inside import System
from unmask.model.reading import Known

BOTH = "aes pclmulqdq ssse3 hypervisor"
AES_ALONE = "aes ssse3 hypervisor"
NEITHER = "ssse3 hypervisor"

NATIVE = {
    "aes-256-gcm": {PLAIN: 4261, MASKED: 205, WITHOUT_PCLMULQDQ: 431, FORCED: 2966},
    "aes-256-ctr": {PLAIN: 6317, MASKED: 366, FORCED: 6171},
    "chacha20-poly1305": {PLAIN: 3427},
}
HIDDEN = {
    "aes-256-gcm": {PLAIN: 205, MASKED: 204, WITHOUT_PCLMULQDQ: 206, FORCED: 2966},
    "aes-256-ctr": {PLAIN: 366, MASKED: 365, FORCED: 6171},
    "chacha20-poly1305": {PLAIN: 892},
}
PARTIAL = {
    "aes-256-gcm": {PLAIN: 450, MASKED: 205, WITHOUT_PCLMULQDQ: 449, FORCED: 2966},
    "aes-256-ctr": {PLAIN: 6319, MASKED: 366, FORCED: 6171},
    "chacha20-poly1305": {PLAIN: 892},
}
PARTIAL_1_1_1 = {
    "aes-256-gcm": {PLAIN: 736, MASKED: 139, WITHOUT_PCLMULQDQ: 730, FORCED: 3827},
    "aes-256-ctr": {PLAIN: 6770, MASKED: 137, FORCED: 8517},
}
OLD_SILICON = {
    "aes-256-gcm": {PLAIN: 60, MASKED: 61, WITHOUT_PCLMULQDQ: 60, FORCED: ILLEGAL},
    "aes-256-ctr": {PLAIN: 110, MASKED: 111, FORCED: ILLEGAL},
}
EMULATED = {
    "aes-256-gcm": {PLAIN: 23.9, MASKED: 23.6, WITHOUT_PCLMULQDQ: 20.8, FORCED: ILLEGAL},
    "chacha20-poly1305": {PLAIN: 114},
}


class TestWithEnvironment:
    @pytest.mark.parametrize(
        ("rates", "flags", "cause"),
        [
            (NATIVE, BOTH, Cause.ACTIVE),
            (HIDDEN, NEITHER, Cause.HIDDEN),
            (PARTIAL, AES_ALONE, Cause.PARTIAL),
            (PARTIAL_1_1_1, AES_ALONE, Cause.PARTIAL),
            (OLD_SILICON, NEITHER, Cause.ABSENT),
            (HIDDEN, BOTH, Cause.SLOW),
            (PARTIAL, BOTH, Cause.SLOW),
            (NATIVE, NEITHER, Cause.KERNEL_DIFFERS),
        ],
    )
    def test_cause(self, rates: dict[str, object], flags: str, cause: Cause) -> None:
        found = diagnose(result(rates, environment(flags)))
        assert found.cause is cause
        assert found.sentence.endswith(".")
        assert found.evidence
        assert found.advice or cause is Cause.ACTIVE
        assert found.useless

    def test_active_says_by_how_much(self) -> None:
        found = diagnose(result(NATIVE, environment(BOTH)))
        assert "aes-256-gcm is 20.8 times as fast as without them" in found.sentence
        assert found.confidence is Confidence.CERTAIN

    def test_hidden_shows_the_forced_run_and_where_the_override_ends(self) -> None:
        found = diagnose(result(HIDDEN, environment(NEITHER)))
        assert "14.5 times as fast" in found.sentence
        assert any("205 MB/s as it is, 2966 MB/s forced" in line for line in found.evidence)
        assert any("does not list aes and pclmulqdq" in line for line in found.evidence)
        assert any("LUKS" in line and "Java" in line for line in found.useless)
        assert any("chacha20-poly1305 does 892 MB/s, 4.4 times" in line for line in found.evidence)

    def test_partial_sends_nobody_to_a_higher_level(self) -> None:
        found = diagnose(result(PARTIAL, environment(AES_ALONE)))
        assert "6.6 times as fast" in found.sentence
        assert any("level" in line for line in found.useless)

    def test_absent_in_a_cpu_that_always_has_it(self) -> None:
        name = "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz"
        found = diagnose(result(OLD_SILICON, environment(NEITHER, model_name=name)))
        assert f"although every {name} has it" in found.sentence
        assert any("firmware" in line for line in found.advice)

    def test_nothing_seen_of_the_silicon(self) -> None:
        rates = {"aes-256-gcm": {PLAIN: 205, MASKED: 204}}
        found = diagnose(result(rates, environment(NEITHER)))
        assert found.cause is Cause.SOFTWARE_PATH

    @pytest.mark.parametrize(
        ("detected", "name"), [("qemu", ""), ("kvm", "QEMU TCG CPU version 2.5+")]
    )
    def test_emulated_by_what_the_guest_says(self, detected: str, name: str) -> None:
        where = environment(NEITHER, detected=detected, model_name=name)
        found = diagnose(result(EMULATED, where))
        assert found.cause is Cause.EMULATED
        assert found.confidence is Confidence.CERTAIN
        assert any("SIGILL" in line for line in found.evidence)

    def test_emulated_with_every_flag(self) -> None:
        rates = {"aes-128-gcm": {PLAIN: 21.2, MASKED: 25.6, FORCED: 37.5}}
        found = diagnose(result(rates, environment(BOTH, detected="qemu")))
        assert found.cause is Cause.EMULATED

    def test_an_override_that_forces_reaches_openssl_only(self) -> None:
        where = replace(environment(NEITHER), override="OPENSSL_ia32cap=0x0200020207000000")
        found = diagnose(result(NATIVE, where))
        assert found.cause is Cause.KERNEL_DIFFERS
        assert "OPENSSL_ia32cap=0x0200020207000000" in found.sentence

    def test_an_override_that_hides(self) -> None:
        where = replace(environment(BOTH), override="OPENSSL_ia32cap=~0x200000200000000")
        found = diagnose(result(HIDDEN, where))
        assert found.cause is Cause.SLOW
        assert "keeps OpenSSL from using" in found.sentence
        assert any("Remove the variable" in line for line in found.advice)

    def test_a_masked_guest_with_a_masked_environment_is_hidden(self) -> None:
        where = replace(environment(NEITHER), override="OPENSSL_ia32cap=~0x200000200000000")
        assert diagnose(result(HIDDEN, where)).cause is Cause.HIDDEN

    def test_steal(self) -> None:
        runs = [replace(one, steal=0.3) for one in samples(NATIVE)]
        found = diagnose(replace(result(NATIVE, environment(BOTH)), samples=tuple(runs)))
        assert found.cause is Cause.SLOW
        assert "30 %" in found.sentence

    def test_a_kernel_without_aesni_in_an_active_machine(self) -> None:
        where = replace(environment(BOTH), drivers=(("xts(aes)", "xts(ecb(aes-fixed-time))"),))
        found = diagnose(result(NATIVE, where))
        assert found.cause is Cause.ACTIVE
        assert any("aesni_intel" in line for line in found.advice)

    def test_arm(self) -> None:
        rates = {
            "aes-256-gcm": {PLAIN: 2390, MASKED: 120},
            "aes-256-ctr": {PLAIN: 3000, MASKED: 150},
        }
        found = diagnose(result(rates, environment("aes pmull asimd", arch="aarch64")))
        assert found.cause is Cause.NOT_X86
        assert "in use" in found.sentence
        slow = diagnose(result(plain(aes_256_gcm=33), environment("asimd", arch="aarch64")))
        assert slow.cause is Cause.NOT_X86
        assert any("ChaCha20" in line for line in slow.advice)

    def test_two_runs_of_three_disturbed_decide_nothing(self) -> None:
        rates = {"aes-256-gcm": {PLAIN: [400, 200, 200], MASKED: [205, 90, 80]}}
        found = diagnose(result(rates, environment(NEITHER)))
        assert found.cause is Cause.INCONCLUSIVE
        assert any("Repeat it" in line for line in found.advice)


class TestWithNode:
    def test_flags_of_the_node_stand_in_for_the_forced_run(self) -> None:
        rates = {"aes-256-gcm": {PLAIN: 205, MASKED: 204}}
        guest = result(rates, environment(NEITHER))
        node = result(NATIVE, environment("aes pclmulqdq", detected="none"))
        assert diagnose(guest, node).cause is Cause.HIDDEN
        old = result(OLD_SILICON, environment("ssse3", detected="none"))
        assert diagnose(guest, old).cause is Cause.ABSENT

    def test_the_share_of_the_node(self) -> None:
        node = result(NATIVE, environment("aes pclmulqdq", detected="none"))
        found = diagnose(result(HIDDEN, environment(NEITHER)), node)
        assert "5 % of this node's speed" in found.sentence
        assert any("aes-256-ctr at 6 %" in line for line in found.evidence)

    def test_slower_than_the_node_with_the_same_flags(self) -> None:
        node = result(NATIVE, environment(BOTH, detected="none"))
        slow = {
            "aes-256-gcm": {PLAIN: 1700, MASKED: 82, WITHOUT_PCLMULQDQ: 170},
            "aes-256-ctr": {PLAIN: 2500, MASKED: 146},
        }
        found = diagnose(result(slow, environment(BOTH)), node)
        assert found.cause is Cause.SLOW
        assert "40 %" in found.sentence

    def test_without_wide_vectors_it_is_active_and_less_than_the_node(self) -> None:
        wide = environment(BOTH, detected="none", capabilities="0x1200020200000000:0x60080010020")
        narrow = environment(BOTH, capabilities="0x0200020200000000:0x0")
        node = result({"aes-256-gcm": {PLAIN: 9875, MASKED: 201}}, wide)
        found = diagnose(result(NATIVE, narrow), node)
        assert found.cause is Cause.ACTIVE
        assert any("vaes" in line for line in found.advice)

    def test_nested(self) -> None:
        node = result(NATIVE, environment(BOTH, detected="kvm"))
        found = diagnose(result(HIDDEN, environment(NEITHER)), node)
        assert found.nested
        assert "outer hypervisor" in found.advice[0]
        bare = result(NATIVE, environment(BOTH, detected="none"))
        assert not diagnose(result(HIDDEN, environment(NEITHER)), bare).nested

    def test_a_node_that_is_a_guest_is_nested_by_itself(self) -> None:
        where = replace(environment(BOTH), system=Known(System("Linux", appliance="Proxmox VE")))
        assert diagnose(result(NATIVE, where)).nested


class TestPasted:
    """Output without any environment: only what the figures carry."""

    @pytest.mark.parametrize(
        ("rates", "cause"),
        [
            (NATIVE, Cause.ACTIVE),
            (HIDDEN, Cause.HIDDEN),
            (PARTIAL, Cause.PARTIAL),
            (OLD_SILICON, Cause.ABSENT),
            (plain(aes_256_gcm=6500), Cause.ACTIVE),
            (plain(aes_256_gcm=33), Cause.SOFTWARE_PATH),
            (plain(aes_256_gcm=180), Cause.INCONCLUSIVE),
            ({"aes-256-gcm": {PLAIN: 4261, MASKED: 205}}, Cause.ACTIVE),
            ({"aes-256-gcm": {PLAIN: 205, MASKED: 200}}, Cause.SOFTWARE_PATH),
            ({"aes-256-gcm": {PLAIN: 205, FORCED: 2966}}, Cause.HIDDEN),
            ({"aes-256-gcm": {PLAIN: 205, FORCED: ILLEGAL}}, Cause.ABSENT),
            ({"aes-256-ctr": {PLAIN: 366, MASKED: 365, FORCED: 6171}}, Cause.HIDDEN),
            ({"aes-128-gcm": {PLAIN: 21.2, MASKED: 25.6, FORCED: 37.5}}, Cause.EMULATED),
            ({"sha256": {PLAIN: 300}}, Cause.INCONCLUSIVE),
            ({}, Cause.INCONCLUSIVE),
        ],
    )
    def test_cause(self, rates: dict[str, object], cause: Cause) -> None:
        assert diagnose(result(rates)).cause is cause

    def test_one_rate_is_no_certainty(self) -> None:
        assert diagnose(result(plain(aes_256_gcm=700))).confidence is Confidence.TENTATIVE
        assert diagnose(result(plain(aes_256_gcm=30))).confidence is Confidence.TENTATIVE

    def test_a_plain_run_that_dies(self) -> None:
        found = diagnose(result({"aes-256-gcm": {PLAIN: ILLEGAL}}))
        assert found.cause is Cause.INCONCLUSIVE
        assert "SIGILL" in found.sentence

    def test_a_plain_run_that_dies_by_its_variable(self) -> None:
        where = Environment(override="OPENSSL_ia32cap=0x0200020207000000")
        found = diagnose(result({"aes-256-gcm": {PLAIN: ILLEGAL}}, where))
        assert found.cause is Cause.ABSENT

    def test_without_evp_nothing_is_said_about_the_cpu(self) -> None:
        old = [replace(one, evp=False) for one in samples(plain(aes_256_cbc=49))]
        found = diagnose(replace(result({}), samples=tuple(old)))
        assert found.cause is Cause.INCONCLUSIVE
        assert "-evp" in found.sentence
        assert "49.0 MB/s was done in software" in found.sentence

    def test_an_old_library_on_a_cpu_that_shows_it(self) -> None:
        where = environment(BOTH, version="OpenSSL 0.9.8zh")
        found = diagnose(result(plain(aes_128_cbc=100), where))
        assert found.cause is Cause.SLOW
        assert "0.9.8zh" in found.sentence

    def test_an_engine_in_between(self) -> None:
        runs = [replace(one, engine="afalg") for one in samples(plain(aes_128_cbc=5.2))]
        found = diagnose(replace(result({}), samples=tuple(runs)))
        assert found.cause is Cause.INCONCLUSIVE
        assert "afalg" in found.sentence

    def test_the_mask_that_the_output_itself_names(self) -> None:
        raw = "CPUINFO: OPENSSL_ia32cap=0xfdfa32014f8bffff:0x0 env:~0x200000200000000"
        runs = [replace(one, raw=raw) if one.setting == PLAIN else one for one in samples(HIDDEN)]
        found = diagnose(replace(result({}), samples=tuple(runs)))
        assert found.cause is Cause.SLOW
        assert "~0x200000200000000" in found.sentence


class TestPadLock:
    def test_the_headline(self) -> None:
        rates = {"aes-256-cbc": {PLAIN: 16.7936, PADLOCK: 782.98317}}
        found = diagnose(result(rates))
        assert found.cause is Cause.SLOW
        assert "783 MB/s with it and 16.8 MB/s without (46.6 times as fast)" in found.sentence
        assert any("SSLCryptoDevice" in line for line in found.advice)
        assert any("GHASH" in line for line in found.useless)

    def test_an_engine_without_effect(self) -> None:
        found = diagnose(result({"aes-256-cbc": {PLAIN: 16.8, PADLOCK: 17}}))
        assert found.cause is Cause.INCONCLUSIVE
        assert any("ace_en" in line for line in found.advice)


class TestKernelAlone:
    def test_aes_on_a_slow_cpu_against_serpent(self) -> None:
        runs = samples(plain(aes_xts_512_encrypt=366, serpent_xts_512_encrypt=106), Tool.CRYPTSETUP)
        found = diagnose(replace(result({}), samples=runs))
        assert found.cause is Cause.ACTIVE
        assert any("3.5 times" in line for line in found.evidence)

    def test_software(self) -> None:
        runs = samples(plain(aes_xts_512_encrypt=200, twofish_xts_512_encrypt=210), Tool.CRYPTSETUP)
        assert diagnose(replace(result({}), samples=runs)).cause is Cause.SOFTWARE_PATH
        where = environment(BOTH)
        found = diagnose(replace(result({}, where), samples=runs))
        assert found.cause is Cause.SLOW
        assert any("aesni_intel" in line for line in found.advice)

    def test_one_middling_row(self) -> None:
        runs = samples(plain(aes_xts_512_encrypt=400), Tool.CRYPTSETUP)
        assert diagnose(replace(result({}), samples=runs)).cause is Cause.INCONCLUSIVE
