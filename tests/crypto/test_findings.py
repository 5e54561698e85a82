"""Each finding of the field study is a verdict or a note."""

from __future__ import annotations

import pytest

from support.feature_views import of_model, view
from unmask.cpu import catalogue
from unmask.crypto.consumers import consumers
from unmask.crypto.drivers import meaning
from unmask.crypto.outlook import judge
from unmask.model.cpu import Accelerator
from unmask.model.finding import Confidence
from unmask.model.outlook import NoteKind, Outlook, Status

HALF = ("x86-64-v2-AES", "x86-64-v3", "x86-64-v4")
"""Proxmox VE's models that show AES without PCLMULQDQ."""


def under(model: str, consumer: str, **settings: str) -> Outlook:
    return judge(consumers()[consumer], of_model(model), **settings)


@pytest.mark.parametrize("model", HALF)
def test_half_of_what_gcm_needs_and_all_that_disks_need(model: str) -> None:
    for consumer in ("openssl", "go", "java", "gnutls", "openvpn", "kopia"):
        outlook = under(model, consumer)
        assert (outlook.status, outlook.missing) == (Status.PARTIAL, ("pclmulqdq",)), consumer
    for consumer in ("dm-crypt", "windows", "freebsd", "restic", "borg"):
        assert under(model, consumer).status is Status.HARDWARE, consumer
    for cipher in ("aes-256-ctr", "aes-256-cbc", "aes-256-xts"):
        assert under(model, "openssl", cipher=cipher).status is Status.HARDWARE


def test_no_other_model_is_half_and_proxmox_cannot_add_the_flag() -> None:
    halves = {
        name
        for name in (*catalogue.names(), *catalogue.proxmox_names())
        if of_model(name).shows("aes") and of_model(name).hides("pclmulqdq")
    }
    assert halves == set(HALF)
    assert "pclmulqdq" not in catalogue.proxmox_vm_flags("9.2")


@pytest.mark.parametrize(("model", "times"), [("x86-64-v2-AES", "2.1"), ("x86-64-v3", "4.0")])
def test_chacha20_is_faster_and_openssl_prefers_aes_all_the_same(model: str, times: str) -> None:
    (note,) = under(model, "openssl", version="3.0.20").noted(NoteKind.FASTER)
    assert note.text.startswith(f"ChaCha20-Poly1305 is {times} times as fast here as measured")
    assert "AES is preferred all the same" in note.text
    assert not under("Haswell", "openssl").noted(NoteKind.FASTER)


def test_ring_and_gnutls_do_not_go_over_to_chacha20_either() -> None:
    for consumer in ("ring", "gnutls"):
        (note,) = under("x86-64-v3", consumer).noted(NoteKind.FASTER)
        assert note.confidence is Confidence.TENTATIVE


@pytest.mark.parametrize("consumer", ["go", "boringssl"])
def test_go_and_boringssl_go_over_to_chacha20_by_themselves(consumer: str) -> None:
    (note,) = under("x86-64-v3", consumer).noted(NoteKind.CHOICE)
    assert "where it does not see pclmulqdq" in note.text
    assert not under("Haswell", consumer).noted(NoteKind.CHOICE)


def test_gnutls_looks_at_aes_alone_and_programs_with_one_cipher_choose_nothing() -> None:
    assert under("x86-64-v2", "gnutls").noted(NoteKind.CHOICE)
    assert not under("x86-64-v2-AES", "gnutls").noted(NoteKind.CHOICE)
    for consumer in ("kopia", "restic", "openvpn"):
        assert not under("x86-64-v2", consumer).noted(NoteKind.CHOICE)


@pytest.mark.parametrize("consumer", ["linux", "ipsec", "openvpn-dco", "freebsd", "wolfssl"])
def test_gcm_that_executes_pclmulqdq_unasked_is_not_slow_under_kvm(consumer: str) -> None:
    outlook = under("x86-64-v2-AES", consumer, cipher="gcm")
    assert (outlook.status, outlook.missing) == (Status.HARDWARE, ())
    (note,) = outlook.noted(NoteKind.UNASKED)
    assert (note.confidence, "pclmulqdq" in note.text) == (Confidence.TENTATIVE, True)
    assert not under("Westmere", consumer, cipher="gcm").noted(NoteKind.UNASKED)


@pytest.mark.parametrize(
    ("consumer", "cipher", "confidence"),
    [
        ("linux", "gcm", Confidence.FIRM),
        ("dm-crypt", "aes-xts-plain64", Confidence.FIRM),
        ("ipsec", "", Confidence.FIRM),
        ("freebsd", "gcm", Confidence.TENTATIVE),
        ("wolfssl", "gcm", Confidence.TENTATIVE),
    ],
)
def test_the_same_crashes_under_tcg(consumer: str, cipher: str, confidence: Confidence) -> None:
    emulated = of_model("x86-64-v2-AES", accelerator=Accelerator.TCG)
    outlook = judge(consumers()[consumer], emulated, cipher=cipher)
    assert outlook.status is Status.SOFTWARE
    assert [note.confidence for note in outlook.noted(NoteKind.FATAL)] == [confidence]
    whole = of_model("Westmere", accelerator=Accelerator.TCG)
    assert not judge(consumers()[consumer], whole, cipher=cipher).noted(NoteKind.FATAL)
    without = of_model("kvm64", accelerator=Accelerator.TCG)
    assert not judge(consumers()[consumer], without, cipher=cipher).noted(NoteKind.FATAL)


def test_freebsds_xts_executes_nothing_unasked_under_tcg() -> None:
    emulated = of_model("x86-64-v2-AES", accelerator=Accelerator.TCG)
    assert not judge(consumers()["freebsd"], emulated).noted(NoteKind.FATAL)


def test_freebsd_needs_sse4_1_beside_aes() -> None:
    outlook = judge(consumers()["freebsd"], of_model("kvm64", "aes"))
    assert (outlook.status, outlook.missing) == (Status.SOFTWARE, ("sse4_1",))


def test_wireguard_of_freebsd_is_not_known_and_aes_is_not_its_cause() -> None:
    outlook = judge(consumers()["freebsd"], of_model("kvm64"), cipher="chacha20-poly1305")
    assert (outlook.status, outlook.missing) == (Status.UNKNOWN, ())
    assert [note.text for note in outlook.notes] == ["AES flags play no part."]


@pytest.mark.parametrize(
    ("vendor", "model", "flags", "suspected"),
    [
        ("AuthenticAMD", "qemu64", ("aes", "ssse3"), "This guest shows an AMD CPU"),
        ("", "qemu64", ("aes", "ssse3"), "On an AMD host"),
        ("AuthenticAMD", "kvm64", ("aes", "ssse3"), "This guest shows an AMD CPU"),
        ("GenuineIntel", "qemu64", ("aes", "ssse3"), ""),
        ("AuthenticAMD", "EPYC", ("aes", "ssse3"), ""),
        ("AuthenticAMD", "qemu64", (), ""),
    ],
)
def test_windows_on_amd_hosts(
    vendor: str, model: str, flags: tuple[str, ...], suspected: str
) -> None:
    outlook = judge(consumers()["windows"], view(flags, model=model, vendor=vendor))
    found = [note for note in outlook.noted(NoteKind.SUSPECTED) if "SymCrypt turns" in note.text]
    assert [note.confidence for note in found] == [Confidence.TENTATIVE] * bool(suspected)
    assert all(note.text.startswith(suspected) for note in found)
    linux = judge(consumers()["dm-crypt"], view(flags, model=model, vendor=vendor))
    assert not linux.noted(NoteKind.SUSPECTED)


def test_ring_does_not_use_aes_alone_and_libsodium_has_nothing_instead() -> None:
    ring = under("x86-64-v3", "ring")
    assert (ring.status, ring.missing) == (Status.SOFTWARE, ("pclmulqdq",))
    assert "only together" in ring.how
    sodium = under("x86-64-v3", "libsodium", cipher="aes256gcm")
    assert (sodium.status, sodium.how) == (Status.SOFTWARE, "not available at all")


def test_what_openssl_ia32cap_does_not_show() -> None:
    pitfalls = " ".join(consumers()["openssl"].pitfalls)
    for fact in ("~0x200000200000000", "only its first word leaves it running", ":~0x20000000000"):
        assert fact in pitfalls


def test_openssls_vaes_code_asks_for_neither_aes_nor_pclmulqdq() -> None:
    flags = of_model("SapphireRapids").states.keys() - {"aes", "pclmulqdq"}
    assert judge(consumers()["openssl"], view(flags), version="3.5").status is Status.HARDWARE
    assert judge(consumers()["openssl"], view(flags), version="3.0").status is Status.SOFTWARE


def test_zfs_is_fast_with_avx_only_and_ccm_is_then_faster_than_gcm() -> None:
    westmere, v3 = under("Westmere", "openzfs"), under("x86-64-v3", "openzfs")
    assert (westmere.status, westmere.missing) == (Status.PARTIAL, ("avx",))
    (note,) = v3.noted(NoteKind.FASTER)
    assert note.text.startswith("AES-CCM is 20 times as fast here")
    assert not westmere.noted(NoteKind.FASTER)
    assert under("x86-64-v3", "openzfs", cipher="aes-256-ccm").status is Status.HARDWARE


def test_flags_are_qemus_and_not_those_of_libvirts_map() -> None:
    assert of_model("Westmere").shows("aes", "pclmulqdq")
    assert of_model("Haswell").shows("abm", "f16c")


def test_a_level_says_nothing_about_aes() -> None:
    dhyana = of_model("Dhyana")
    assert (dhyana.level, dhyana.shows("aes")) == (3, False)
    assert judge(consumers()["dm-crypt"], dhyana).status is Status.SOFTWARE
    assert of_model("EPYC-Milan").hides("vaes")
    assert of_model("EPYC-Milan-v2").shows("vaes")


@pytest.mark.parametrize("driver", ["sha256-lib", "chacha20-lib", "crc32c-lib", "xts-aes-lib"])
def test_drivers_of_the_kernels_library_prove_nothing(driver: str) -> None:
    assert meaning(driver) is Status.UNKNOWN
    assert any("-lib" in text for text in consumers()["linux"].pitfalls)


def test_openssl_1_1_1_is_slower_with_ssse3_than_without() -> None:
    def share(model: str, version: str) -> float:
        return under(model, "openssl", version=version).of_best or 0

    assert share("x86-64-v2", "1.1.1w") < share("kvm64", "1.1.1w")
    assert share("x86-64-v2", "3.0.20") > share("kvm64", "3.0.20")


def test_chacha20_hangs_on_vectors_and_says_that_aes_is_not_the_cause() -> None:
    for model, missing in (("kvm64", ("ssse3", "avx2")), ("x86-64-v2-AES", ("avx2",))):
        outlook = under(model, "wireguard")
        assert outlook.missing == missing
        (note,) = outlook.noted(NoteKind.IRRELEVANT)
        assert note.text.startswith("AES flags play no part")
        assert "14 %" in note.text
    assert under("kvm64", "wireguard").status is under("qemu64", "wireguard").status
    with_aes = judge(consumers()["wireguard"], of_model("kvm64", "aes", "pclmulqdq"))
    assert with_aes.status is Status.SOFTWARE


def test_avx_matters_to_zfs_nss_and_new_libsodium() -> None:
    assert under("Westmere", "nss").missing == ("avx",)
    assert under("Westmere", "libsodium", cipher="gcm", version="1.0.22").missing == ("avx",)
    assert under("Westmere", "openssl").better == ("avx", "movbe")
