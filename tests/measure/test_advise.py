"""What is offered inside a guest, and what is not."""

from dataclasses import replace

import pytest

from support.benches import ILLEGAL, Rates, environment, result
from unmask.crypto import ia32cap
from unmask.measure.advise import Snippet, snippets
from unmask.measure.diagnosis import diagnose
from unmask.model.bench import FORCED, MASKED, PADLOCK, PLAIN, BenchResult, Environment
from unmask.model.inside import System
from unmask.model.reading import Known

HIDDEN = {
    "aes-128-gcm": {PLAIN: 240, MASKED: 240, FORCED: 3200},
    "aes-256-ctr": {PLAIN: 366, MASKED: 365, FORCED: 6171},
    "chacha20-poly1305": {PLAIN: 892},
}


def advised(rates: Rates, *services: str, where: Environment | None = None) -> tuple[Snippet, ...]:
    """Return what is offered for a benchmark's own diagnosis."""
    measured = result(rates, where or environment("ssse3"))
    return snippets(measured, diagnose(measured), services)


def on(system: System) -> Environment:
    """Return a guest without AES-NI under some system."""
    return replace(environment("ssse3"), system=Known(system))


class TestOverride:
    def test_a_drop_in_for_each_service_that_uses_openssl(self) -> None:
        found = advised(HIDDEN, "nginx", "apache2", "caddy")
        paths = [one.path for one in found if "use AES-NI" in one.title]
        assert paths == [
            "/etc/systemd/system/nginx.service.d/openssl-aes.conf",
            "/etc/systemd/system/apache2.service.d/openssl-aes.conf",
        ]
        assert "aes-256-ctr 16.9 times as fast here" in found[0].title
        assert f"[Service]\nEnvironment=OPENSSL_ia32cap={ia32cap.FORCED}\n" in found[0].text
        assert "illegal instruction" in found[0].warning
        assert "host without AES-NI" in found[0].warning

    def test_what_it_does_not_reach_comes_last(self) -> None:
        reach = advised(HIDDEN, "caddy", "sshd", "nginx")[-1]
        for word in ("LUKS", "Go", "Java", "caddy here: it is written in Go", "ssh here: left out"):
            assert word in reach.text

    def test_never_for_sshd(self) -> None:
        assert not any("ssh.service" in one.path for one in advised(HIDDEN, "sshd"))

    def test_a_value_for_a_machine_whose_services_are_not_known(self) -> None:
        found = advised(HIDDEN)
        assert found[0].path == ""
        assert found[0].text.startswith("OPENSSL_ia32cap=0x")

    @pytest.mark.parametrize(
        "rates",
        [
            {"aes-128-gcm": {PLAIN: 60, MASKED: 60, FORCED: ILLEGAL}},
            {"aes-128-gcm": {PLAIN: 240, MASKED: 240}},
            {"aes-128-gcm": {PLAIN: 4000, MASKED: 240, FORCED: 3000}},
        ],
    )
    def test_none_where_the_forced_run_did_not_help(self, rates: Rates) -> None:
        assert advised(rates, "nginx") == ()

    def test_other_systems(self) -> None:
        rocky = on(System("Linux", ident="rocky", like=("rhel", "centos", "fedora")))
        assert advised(HIDDEN, "apache", where=rocky)[0].path.startswith(
            "/etc/systemd/system/httpd.service.d/"
        )
        found = advised(HIDDEN, "apache", where=on(System("FreeBSD")))
        assert found[0].path == "/etc/rc.conf"
        assert found[0].text.startswith('apache24_env="OPENSSL_ia32cap=')


class TestChaCha:
    def test_orders_of_the_three_servers(self) -> None:
        found = advised(HIDDEN, "nginx", "httpd", "haproxy", "postfix")
        orders = [one for one in found if "ChaCha20" in one.title]
        assert [one.path for one in orders] == [
            "/etc/nginx/nginx.conf",
            "/etc/apache2/mods-available/ssl.conf",
            "/etc/haproxy/haproxy.cfg",
        ]
        for one in orders:
            assert "TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256" in one.text
            assert "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:ECDHE-" in one.text
            assert "Clients with AES-NI" in one.warning
        assert "(892 MB/s against 240 MB/s of aes-128-gcm here)" in orders[0].title

    def test_only_where_it_was_faster_here(self) -> None:
        slower: Rates = HIDDEN | {"chacha20-poly1305": {PLAIN: 250}}
        assert not any("ChaCha20" in one.title for one in advised(slower, "nginx"))
        unmeasured = {name: HIDDEN[name] for name in ("aes-128-gcm", "aes-256-ctr")}
        assert not any("ChaCha20" in one.title for one in advised(unmeasured, "nginx"))

    def test_where_the_silicon_has_no_aes_at_all(self) -> None:
        rates = {
            "aes-128-gcm": {PLAIN: 80, MASKED: 80, FORCED: ILLEGAL},
            "chacha20-poly1305": {PLAIN: 300},
        }
        found = advised(rates, "nginx")
        assert ["ChaCha20" in one.title for one in found] == [True]


class TestPadLock:
    RATES = {"aes-256-cbc": {PLAIN: 16.8, PADLOCK: 783}}  # noqa: RUF012 - never changed

    def test_lines(self) -> None:
        cnf, apache = advised(self.RATES, "apache2")
        assert cnf.path == "/etc/ssl/openssl.cnf"
        assert "46.6 times" in cnf.title
        assert "default_algorithms = CIPHERS" in cnf.text
        assert apache.text == "SSLCryptoDevice padlock\n"
        assert "4.0" in apache.warning

    def test_not_where_the_engine_does_nothing(self) -> None:
        assert advised({"aes-256-cbc": {PLAIN: 16.8, PADLOCK: 17}}, "apache2") == ()


def test_pasted_output_of_nothing() -> None:
    empty = BenchResult("pasted")
    assert snippets(empty, diagnose(empty), ("nginx",)) == ()
