"""Consumers under the CPU models that guests have, and under what is not known of them."""

from __future__ import annotations

import pytest

from support.feature_views import of_model, view
from unmask.crypto.consumers import consumers
from unmask.crypto.outlook import judge
from unmask.model.cpu import Accelerator, State
from unmask.model.outlook import NoteKind, Outlook, Status

MODELS = (
    "kvm64", "x86-64-v2", "x86-64-v2-AES", "Westmere", "x86-64-v3", "Haswell", "x86-64-v4",
    "Skylake-Server", "EPYC-Milan-v2", "SapphireRapids",
)  # fmt: skip
LETTERS = {
    "H": Status.HARDWARE,
    "P": Status.PARTIAL,
    "S": Status.SOFTWARE,
    "U": Status.UNKNOWN,
}
EXPECTED = {
    # consumer, cipher, version: one letter a model, in the order of MODELS
    ("dm-crypt", "aes-xts-plain64", ""): "SSHHHHHHHH",
    ("dm-crypt", "aes-cbc-essiv:sha256", ""): "SSHHHHHHHH",
    ("linux", "gcm(aes)", ""): "SSHHHHHHHH",
    ("linux", "ghash", ""): "SSSHSHSHHH",
    ("linux", "sha256", ""): "SSSSSSSSHH",
    ("ipsec", "rfc4106(gcm(aes))", "6.12.107"): "SSHHHHHHHH",
    ("openvpn-dco", "", ""): "SSHHHHHHHH",
    ("wireguard", "", "6.1.0-50-amd64"): "SPPPHHHHHH",
    ("openzfs", "aes-256-gcm", "2.2.9"): "SSSPSHSHHH",
    ("openzfs", "on", "2.4.0"): "SSSPSHSHHH",
    ("openzfs", "aes-256-ccm", ""): "SSHHHHHHHH",
    ("openssl", "TLS_AES_256_GCM_SHA384", ""): "SSPHPHPHHH",
    ("openssl", "AES-256-GCM", "1.1.1w"): "SSPHPHPHHH",
    ("openssl", "aes-256-gcm", "3.5.7"): "SSPHPHPHHH",
    ("openssl", "aes256-ctr", ""): "SSHHHHHHHH",
    ("openssl", "chacha20-poly1305@openssh.com", ""): "SPPPHHHHHH",
    ("openvpn", "AES-256-GCM", ""): "SSPHPHPHHH",
    ("openvpn", "AES-256-CBC", ""): "SSHHHHHHHH",
    ("go", "", ""): "SSPHPHPHHH",
    ("java", "", "17.0.15"): "SSPHPHPHHH",
    ("boringssl", "", ""): "SSPHPHPHHH",
    ("aws-lc", "", ""): "SSPHPHPHHH",
    ("ring", "", ""): "SSSHSHSHHH",
    ("nss", "", ""): "SSPPPHPHHH",
    ("gnutls", "", ""): "SSPHPHPHHH",
    ("nettle", "", ""): "SSPHPHPHHH",
    ("libgcrypt", "", ""): "SSPHPHPHHH",
    ("mbedtls", "", ""): "SSPHPHPHHH",
    ("wolfssl", "", ""): "SSHHHHHHHH",
    ("libsodium", "aes256gcm", "1.0.18"): "SSSHSHSHHH",
    ("libsodium", "aes256gcm", "1.0.22"): "SSSSSHSHHH",
    ("libsodium", "xchacha20poly1305", ""): "SPPPHHHHHH",
    ("strongswan", "", ""): "SSUHUHUHHH",
    ("freebsd", "AES-XTS", ""): "SSHHHHHHHH",
    ("freebsd", "AES-GCM", ""): "SSHHHHHHHH",
    ("windows", "XTS-AES 128", ""): "SSHHHHHHHH",
    ("windows", "AES-GCM", ""): "SSPHPHPHHH",
    ("restic", "", ""): "SSHHHHHHHH",
    ("borg", "", ""): "SSHHHHHHHH",
    ("kopia", "", ""): "SSPHPHPHHH",
    ("gocryptfs", "", "2.4.0"): "SSPHPHPHHH",
    ("gocryptfs", "", "2.5.1"): "SSPHPHPHHH",
    ("gocryptfs", "", ""): "SSPHPHPHHH",
    ("padlock-linux", "", ""): "SSSSSSSSSS",
    ("padlock-openssl", "", ""): "SSSSSSSSSS",
}
CASES = [
    pytest.param(*what, model, LETTERS[letter], id=f"{'/'.join(what)}-{model}")
    for what, row in EXPECTED.items()
    for model, letter in zip(MODELS, row, strict=True)
]


@pytest.mark.parametrize(("consumer", "cipher", "version", "model", "status"), CASES)
def test_models(consumer: str, cipher: str, version: str, model: str, status: Status) -> None:
    outlook = judge(consumers()[consumer], of_model(model), version=version, cipher=cipher)
    assert outlook.status is status
    assert outlook.consumer == consumer
    assert outlook.how
    assert bool(outlook.missing) is (status is not Status.HARDWARE)
    assert (outlook.factor == 1.0) is (outlook.factor is not None and not outlook.missing)


def test_every_consumer_is_in_the_table() -> None:
    judged = {identity for identity, _, _ in EXPECTED}
    assert judged | {"rclone", "rustls"} == set(consumers())


def test_rclone_asks_no_flag() -> None:
    outlook = judge(consumers()["rclone"], of_model("kvm64"))
    assert (outlook.status, outlook.missing) == (Status.NOT_APPLICABLE, ())
    assert outlook.noted(NoteKind.IRRELEVANT)


def test_rustls_hangs_on_its_library_where_they_differ() -> None:
    outlook = judge(consumers()["rustls"], of_model("x86-64-v2-AES"))
    assert (outlook.status, outlook.missing) == (Status.UNKNOWN, ("pclmulqdq",))
    assert outlook.how == "partial with AWS-LC; software with rustls with ring"
    assert judge(consumers()["rustls"], of_model("Haswell")).status is Status.HARDWARE
    assert judge(consumers()["rustls"], of_model("kvm64")).status is Status.SOFTWARE


def test_the_next_tier_is_named_where_nothing_is_lost() -> None:
    def better(model: str, version: str, consumer: str = "openssl") -> tuple[str, ...]:
        return judge(consumers()[consumer], of_model(model), version=version).better

    avx512 = ("avx512f", "avx512bw", "avx512dq", "avx512vl")
    assert better("Westmere", "3.0.20") == ("avx", "movbe")
    assert better("Haswell", "3.0.20") == ()
    assert better("Haswell", "3.5.7") == ("vaes", "vpclmulqdq", *avx512)
    assert better("SapphireRapids", "3.5.7") == ()
    assert better("x86-64-v2-AES", "3.5.7") == ()
    assert better("Haswell", "2.3.9", "openzfs") == ()
    assert better("Haswell", "2.4.0", "openzfs") == ("vaes", "vpclmulqdq")
    assert better("x86-64-v2-AES", "6.1.0", "dm-crypt") == ()
    assert better("x86-64-v2-AES", "6.12.0", "dm-crypt") == ("avx",)
    assert better("EPYC-Milan", "2.4.0", "openzfs") == ("vaes", "vpclmulqdq")


def unsure(consumer: str, **settings: str) -> Outlook:
    return judge(consumers()[consumer], view(rest=State.HOST), **settings)


def test_what_depends_on_an_unknown_host_is_unknown() -> None:
    outlook = unsure("openssl")
    assert (outlook.status, outlook.missing, outlook.factor) == (Status.UNKNOWN, (), None)
    assert outlook.how == "it depends on flags that are not known: aes, pclmulqdq"
    assert outlook.noted(NoteKind.UNDECIDED)


def test_a_decided_flag_decides_although_others_are_not_known() -> None:
    without_aes = view(rest=State.HIDDEN, unknown=("avx", "ssse3"))
    assert judge(consumers()["openssl"], without_aes).status is Status.SOFTWARE
    with_aes = view(("aes",), unknown=("avx", "vaes", "pclmulqdq"))
    assert judge(consumers()["dm-crypt"], with_aes).status is Status.HARDWARE
    assert judge(consumers()["dm-crypt"], with_aes, cipher="aes-cbc").status is Status.HARDWARE
    gcm = judge(consumers()["openssl"], with_aes)
    assert (gcm.status, gcm.how) == (
        Status.UNKNOWN,
        "it depends on flags that are not known: pclmulqdq",
    )


def test_a_hidden_flag_is_missing_although_the_status_is_open() -> None:
    half = view((), unknown=("pclmulqdq", "ssse3"))
    outlook = judge(consumers()["openssl"], half)
    assert (outlook.status, outlook.missing) == (Status.UNKNOWN, ("aes",))


def test_an_unknown_version_counts_only_where_versions_differ() -> None:
    westmere = of_model("Westmere")
    sodium = judge(consumers()["libsodium"], westmere, cipher="aes256gcm")
    assert (sodium.status, sodium.how) == (
        Status.UNKNOWN,
        "it depends on the version of libsodium",
    )
    assert judge(consumers()["gocryptfs"], of_model("x86-64-v3")).status is Status.PARTIAL


@pytest.mark.parametrize("accelerator", [Accelerator.OTHER, Accelerator.UNKNOWN])
def test_a_hidden_flag_that_is_executed_is_open_where_it_is_not_kvm(
    accelerator: Accelerator,
) -> None:
    outlook = judge(consumers()["ipsec"], of_model("x86-64-v2-AES", accelerator=accelerator))
    assert outlook.status is Status.UNKNOWN
    assert "the hypervisor" in outlook.how
    whole = judge(consumers()["ipsec"], of_model("Westmere", accelerator=accelerator))
    assert whole.status is Status.HARDWARE


@pytest.mark.parametrize(
    ("consumer", "cipher", "status"),
    [
        ("dm-crypt", "serpent-xts-plain64", Status.NOT_APPLICABLE),
        ("openssl", "CAMELLIA-256-GCM", Status.NOT_APPLICABLE),
        ("dm-crypt", "camellia-xts-plain64", Status.UNKNOWN),
        ("dm-crypt", "aegis128-random", Status.UNKNOWN),
        ("libsodium", "aegis256", Status.UNKNOWN),
        ("dm-crypt", "foo-bar", Status.UNKNOWN),
        ("openzfs", "aes-256-xts", Status.UNKNOWN),
        ("dm-crypt", "xchacha12,aes-adiantum-plain64", Status.HARDWARE),
        ("java", "ChaCha20-Poly1305", Status.SOFTWARE),
    ],
)
def test_other_ciphers(consumer: str, cipher: str, status: Status) -> None:
    outlook = judge(consumers()[consumer], of_model("Haswell"), cipher=cipher)
    assert outlook.status is status
    assert outlook.missing == ()


def test_a_version_that_was_not_looked_at_is_unknown() -> None:
    java = consumers()["java"]
    outlook = judge(java, of_model("Haswell"), cipher="chacha20", version="21.0.2")
    assert (outlook.status, outlook.how) == (
        Status.UNKNOWN,
        "chacha20 of a version not looked at",
    )
