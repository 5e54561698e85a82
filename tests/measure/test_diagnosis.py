"""Causes, from figures as they were measured on real and emulated CPUs (MB/s)."""

from dataclasses import replace

import pytest

from support.benches import Rates, environment, plain, result, samples
from support.measured import (
    AES_ALONE,
    BOTH,
    EMULATED,
    HIDDEN,
    NATIVE,
    NEITHER,
    OLD_SILICON,
    PARTIAL,
    PARTIAL_1_1_1,
)
from unmask.measure.diagnosis import diagnose
from unmask.model.bench import (
    FORCED,
    MASKED,
    PLAIN,
    WITHOUT_PCLMULQDQ,
    Cause,
)
from unmask.model.cpu import Accelerator
from unmask.model.finding import Confidence
from unmask.model.inside import System
from unmask.model.reading import Known


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
    def test_cause(self, rates: Rates, flags: str, cause: Cause) -> None:
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
        assert any("lists neither aes nor pclmulqdq" in line for line in found.evidence)
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

    def test_emulated_by_what_the_hypervisor_says(self) -> None:
        where = replace(environment(NEITHER), accelerator=Accelerator.TCG)
        found = diagnose(result(EMULATED, where))
        assert found.cause is Cause.EMULATED
        assert "without KVM" in found.evidence[0]

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

    def test_partial_is_not_taken_for_unused_where_the_masked_runs_do_not_tell(self) -> None:
        rates: Rates = {**PARTIAL, "aes-256-ctr": {PLAIN: [6319, 300], MASKED: [366, 380]}}
        found = diagnose(result({"aes-256-ctr": rates["aes-256-ctr"]}, environment(AES_ALONE)))
        assert found.cause is Cause.INCONCLUSIVE
        assert diagnose(result(rates, environment(AES_ALONE))).cause is Cause.PARTIAL

    def test_hidden_although_one_forced_run_was_disturbed(self) -> None:
        rates: Rates = {
            **HIDDEN,
            "aes-256-ctr": {PLAIN: 366, MASKED: 365, FORCED: [6171, 350, 700]},
        }
        assert diagnose(result(rates, environment(NEITHER))).cause is Cause.HIDDEN

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
