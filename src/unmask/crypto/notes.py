"""What to know about a consumer on a CPU beside its status."""

from __future__ import annotations

from collections.abc import Iterator

from unmask.crypto.consumers import Consumer, Path, Tier
from unmask.crypto.ladder import Flags
from unmask.model.cpu import Accelerator, FeatureView
from unmask.model.finding import Confidence
from unmask.model.outlook import Note, NoteKind

NO_AES = frozenset(("chacha20", "salsa20", "sha", "other"))
"""Families to which the AES flags mean nothing."""
OLD_AMD_FAMILY = frozenset(("qemu64", "kvm64"))
"""QEMU models of CPU family 15; Proxmox VE's x86-64-v2 to v4 are built on qemu64."""
_ARM_GCM = ("aes", "pmull")
"""What Go and BoringSSL look for on ARM where it is several flags on x86."""
_WORTH_SAYING = 1.5
"""How much faster another cipher must be; below, it is within what measurements vary."""

EMULATED = Note(
    NoteKind.EMULATED,
    "QEMU emulates this CPU (TCG): AES instructions are emulated too, and no flag makes it fast.",
    Confidence.CERTAIN,
)


def unasked(tier: Tier, flags: Flags) -> Iterator[Note]:
    """Yield what comes of instructions that are executed although their flag is hidden."""
    emulated = flags.view.accelerator is Accelerator.TCG
    hidden = flags.hidden(dict.fromkeys((*tier.unasked, *(tier.at_load if emulated else ()))))
    if not hidden:
        return
    text = f"It executes {' and '.join(hidden)} without looking for the flag"
    if not emulated:
        text += (
            ": under KVM the silicon executes what is hidden, so that nothing is lost. That is "
            "inferred, not measured."
        )
        yield Note(NoteKind.UNASKED, text, Confidence.TENTATIVE)
    elif tier.at_load:
        text += (
            ": under TCG the guest's kernel crashes when the module aesni_intel is loaded (seen "
            "with Linux 6.1 to 7.3)."
        )
        yield Note(NoteKind.FATAL, text)
    else:
        yield Note(NoteKind.FATAL, f"{text}: under TCG it crashes.", Confidence.TENTATIVE)


def choice(consumer: Consumer, path: Path, flags: Flags) -> Iterator[Note]:
    """Yield what a consumer makes of its choice between AES and ChaCha20."""
    if path.family in NO_AES:
        yield irrelevant(path.family, x86=flags.view.x86)
    looked_for = consumer.chacha_unless
    if looked_for and not flags.view.x86:
        looked_for = _ARM_GCM
    hidden = flags.hidden(looked_for)
    if path.family == "gcm" and hidden:
        text = (
            f"It prefers ChaCha20-Poly1305 by itself where it does not see {' and '.join(hidden)}, "
            "if the other side has it."
        )
        yield Note(NoteKind.CHOICE, text)


def faster(
    consumer: Consumer, family: str, rates: tuple[float | None, float | None]
) -> Iterator[Note]:
    """Yield that another family would be faster, by the rates (MB/s) of this one and that."""
    cipher = {"chacha20": "ChaCha20-Poly1305", "ccm": "AES-CCM"}[family]
    stays = ", and AES is preferred all the same" if consumer.aes_first else ""
    mine, theirs = rates
    if not mine or not theirs:
        text = f"{cipher} is likely to be faster here, as it is in OpenSSL{stays}."
        yield Note(NoteKind.FASTER, text, Confidence.TENTATIVE)
    elif theirs / mine >= _WORTH_SAYING:
        times = f"{theirs / mine:.0f}" if theirs / mine >= 10 else f"{theirs / mine:.1f}"
        figures = f"{theirs:g} against {mine:g} MB/s"
        text = f"{cipher} is {times} times as fast here as measured ({figures}){stays}."
        yield Note(NoteKind.FASTER, text)


def irrelevant(family: str, *, x86: bool = True) -> Note:
    """Return that AES flags play no part in a family."""
    vectors = {
        "chacha20": (
            "; its speed hangs on vectors (without ssse3 it keeps 14 % of OpenSSL's rate with "
            "AVX-512, with ssse3 alone 26 %)"
        ),
        "sha": "; sha_ni does",
    }
    instead = vectors.get(family, "") if x86 else ""
    return Note(NoteKind.IRRELEVANT, f"AES flags play no part{instead}.", Confidence.CERTAIN)


def windows(consumer: Consumer, view: FeatureView) -> Iterator[Note]:
    """Yield that Windows may ignore AES under a model of an old family on an AMD host."""
    if consumer.identity != "windows" or view.model not in OLD_AMD_FAMILY:
        return
    if view.vendor not in ("", "AuthenticAMD") or view.hides("aes"):
        return
    where = "This guest shows an AMD CPU" if view.vendor else "On an AMD host this guest shows one"
    text = (
        f"{where} of family 0Fh, and SymCrypt turns AES-NI off on AMD CPUs of a family below 15h: "
        "Windows may not use AES at all (read in its source, not tested)."
    )
    yield Note(NoteKind.SUSPECTED, text, Confidence.TENTATIVE)


def inferred(consumer: Consumer) -> Iterator[Note]:
    """Yield what about a consumer is only inferred."""
    if consumer.inferred:
        yield Note(NoteKind.SUSPECTED, consumer.inferred, Confidence.TENTATIVE)
