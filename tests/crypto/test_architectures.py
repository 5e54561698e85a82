"""ARMv8, VIA PadLock, emulation, and architectures whose flags say nothing."""

from __future__ import annotations

import pytest

from support.feature_views import of_model, view
from unmask.crypto.consumers import consumers
from unmask.crypto.outlook import judge
from unmask.model.cpu import Accelerator, State
from unmask.model.outlook import NoteKind, Status

N1 = ("fp", "asimd", "aes", "pmull", "sha1", "sha2", "crc32")
VIA = ("rng", "rng_en", "ace", "ace_en", "phe", "phe_en", "sse2")


@pytest.mark.parametrize(
    ("consumer", "flags", "status", "missing"),
    [
        ("openssl", N1, Status.HARDWARE, ()),
        ("openssl", ("asimd", "aes"), Status.PARTIAL, ("pmull",)),
        ("openssl", ("asimd",), Status.SOFTWARE, ("aes", "pmull")),
        ("dm-crypt", N1, Status.HARDWARE, ()),
        ("dm-crypt", ("asimd",), Status.SOFTWARE, ("aes",)),
        ("ipsec", N1, Status.HARDWARE, ()),
        ("go", N1, Status.HARDWARE, ()),
        ("wireguard", (), Status.HARDWARE, ()),
        ("rustls", N1, Status.HARDWARE, ()),
        ("openzfs", N1, Status.UNKNOWN, ()),
        ("windows", N1, Status.UNKNOWN, ()),
        ("padlock-linux", N1, Status.NOT_APPLICABLE, ()),
    ],
)
def test_armv8(
    consumer: str, flags: tuple[str, ...], status: Status, missing: tuple[str, ...]
) -> None:
    outlook = judge(consumers()[consumer], view(flags, arch="aarch64"))
    assert (outlook.status, outlook.missing) == (status, missing)
    assert outlook.factor in (None, 1.0)
    assert not outlook.noted(NoteKind.UNASKED)


def test_an_arm_guest_of_which_nothing_is_known_is_unknown() -> None:
    dark = view(rest=State.UNKNOWN, arch="aarch64")
    assert judge(consumers()["openssl"], dark).status is Status.UNKNOWN
    assert judge(consumers()["wireguard"], dark).status is Status.HARDWARE


def test_arm_of_32_bits_has_neon_or_not() -> None:
    wireguard = consumers()["wireguard"]
    assert judge(wireguard, view(("neon",), arch="arm")).status is Status.HARDWARE
    assert judge(wireguard, view(arch="arm")).status is Status.SOFTWARE


@pytest.mark.parametrize("arch", ["arm", "armv6l", "armv7l", "armv8l"])
def test_arm_of_32_bits_by_every_name(arch: str) -> None:
    luks = consumers()["dm-crypt"]
    plain = judge(luks, view(("neon",), arch=arch))
    assert (plain.status, plain.missing) == (Status.SOFTWARE, ("aes",))
    whole = view(("neon", "aes", "pmull"), arch=arch)
    assert judge(luks, whole).status is Status.HARDWARE
    assert judge(consumers()["openssl"], whole).status is Status.HARDWARE
    assert judge(consumers()["go"], whole).status is Status.UNKNOWN
    assert judge(consumers()["restic"], whole).status is Status.UNKNOWN


@pytest.mark.parametrize("consumer", ["go", "boringssl"])
def test_what_would_make_a_program_prefer_chacha20_on_arm(consumer: str) -> None:
    whole = judge(consumers()[consumer], view(N1, arch="aarch64"))
    assert not whole.noted(NoteKind.CHOICE)
    (note,) = judge(consumers()[consumer], view(("asimd",), arch="aarch64")).noted(NoteKind.CHOICE)
    assert "does not see aes and pmull," in note.text


@pytest.mark.parametrize(
    ("arch", "reason"),
    [("s390x", "CPACF"), ("ppc64", "vcrypto"), ("ppc64le", "vcrypto"), ("riscv64", "riscv64")],
)
def test_architectures_without_such_flags(arch: str, reason: str) -> None:
    outlook = judge(consumers()["openssl"], view(arch=arch))
    assert (outlook.status, outlook.missing) == (Status.NOT_APPLICABLE, ())
    assert reason in outlook.how


def test_notes_on_arm_do_not_speak_of_x86() -> None:
    outlook = judge(consumers()["wireguard"], view(N1, arch="aarch64"))
    assert [note.text for note in outlook.notes] == ["AES flags play no part."]


def test_an_unknown_architecture_is_unknown() -> None:
    outlook = judge(consumers()["dm-crypt"], view(("aes",), arch=""))
    assert (outlook.status, outlook.how) == (Status.UNKNOWN, "the architecture is not known")


def test_padlock_is_not_aes_ni() -> None:
    eden = view(VIA, vendor="CentaurHauls")
    for consumer, status in (
        ("padlock-linux", Status.HARDWARE),
        ("dm-crypt", Status.PARTIAL),
        ("libgcrypt", Status.PARTIAL),
        ("openssl", Status.SOFTWARE),
        ("ipsec", Status.SOFTWARE),
        ("go", Status.SOFTWARE),
    ):
        assert judge(consumers()[consumer], eden).status is status, consumer
    assert judge(consumers()["dm-crypt"], eden, cipher="aes-cbc").status is Status.HARDWARE
    assert judge(consumers()["dm-crypt"], eden).missing == ("aes",)
    assert "padlock_aes" in judge(consumers()["dm-crypt"], eden).how


def test_padlock_that_the_firmware_has_not_enabled_does_not_count() -> None:
    outlook = judge(consumers()["padlock-linux"], view(("ace",)))
    assert (outlook.status, outlook.missing) == (Status.SOFTWARE, ("ace_en",))


def test_aes_beside_padlock_is_judged_as_aes() -> None:
    zhaoxin = view((*VIA, "aes", "pclmulqdq", "ssse3"))
    assert judge(consumers()["dm-crypt"], zhaoxin).how == "AES-NI"
    assert judge(consumers()["openssl"], zhaoxin).status is Status.HARDWARE


def test_openssl_4_has_no_engines() -> None:
    padlock = consumers()["padlock-openssl"]
    assert judge(padlock, view(VIA), version="3.5.1").status is Status.HARDWARE
    assert judge(padlock, view(VIA), version="4.0.0").status is Status.SOFTWARE
    assert judge(padlock, view(VIA)).status is Status.UNKNOWN


@pytest.mark.parametrize("model", ["kvm64", "Westmere", "SapphireRapids"])
@pytest.mark.parametrize("consumer", ["openssl", "dm-crypt", "wireguard", "openzfs"])
def test_an_emulated_cpu_runs_everything_in_software(consumer: str, model: str) -> None:
    outlook = judge(consumers()[consumer], of_model(model, accelerator=Accelerator.TCG))
    assert (outlook.status, outlook.missing, outlook.factor) == (Status.SOFTWARE, (), None)
    assert outlook.noted(NoteKind.EMULATED)
    assert outlook.better == ()


def test_an_emulated_cpu_of_unknown_flags_is_emulated_all_the_same() -> None:
    dark = view(rest=State.UNKNOWN, accelerator=Accelerator.TCG)
    assert judge(consumers()["dm-crypt"], dark).status is Status.SOFTWARE
    assert not judge(consumers()["dm-crypt"], dark).noted(NoteKind.FATAL)
