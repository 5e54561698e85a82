"""Causes from output without environment, of engines, and of the kernel alone."""

from dataclasses import replace

import pytest

from support.benches import ILLEGAL, Rates, environment, plain, result, samples
from support.measured import BOTH, HIDDEN, NATIVE, OLD_SILICON, PARTIAL
from unmask.dialects.bench import pasted
from unmask.measure.diagnosis import diagnose
from unmask.model.bench import FORCED, MASKED, PADLOCK, PLAIN, Cause, Environment, Tool
from unmask.model.finding import Confidence


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
    def test_cause(self, rates: Rates, cause: Cause) -> None:
        assert diagnose(result(rates)).cause is cause

    @pytest.mark.parametrize(
        ("rates", "said"),
        [
            ({"aes-256-gcm": {PLAIN: 300, MASKED: 5400}}, "mixed up"),
            ({"aes-256-gcm": {PLAIN: 300, MASKED: 5400, FORCED: 3528}}, "mixed up"),
            ({"aes-256-gcm": {PLAIN: 5400, MASKED: 5400}}, "nothing was masked"),
            ({"aes-256-ctr": {PLAIN: 700, MASKED: 690}}, "nothing was masked"),
        ],
    )
    def test_masked_runs_that_are_none(self, rates: Rates, said: str) -> None:
        found = diagnose(replace(result(rates), method="pasted"))
        assert found.cause is Cause.INCONCLUSIVE
        assert said in found.sentence

    def test_outputs_of_two_settings_in_one_file(self) -> None:
        runs = [
            replace(one, rate=rate)
            for one in samples(plain(aes_256_gcm=1))
            for rate in (5.4e9, 0.3e9)
        ]
        assert diagnose(replace(result({}), samples=tuple(runs))).cause is Cause.INCONCLUSIVE

    def test_what_is_no_output_is_said_once(self) -> None:
        found = diagnose(pasted.result("odd.txt", {PLAIN: "hello\n"}))
        assert len([line for line in found.evidence if "is not the output" in line]) == 1

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
