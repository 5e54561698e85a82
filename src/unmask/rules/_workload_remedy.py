"""What to do about a workload that is slow: outside the guest first, and what helps inside."""

from __future__ import annotations

from collections.abc import Iterator

from unmask.crypto.consumers import consumers
from unmask.crypto.notes import NO_AES
from unmask.model.case import GuestCase
from unmask.model.cpu import Accelerator
from unmask.model.inventory import Platform
from unmask.model.outlook import NoteKind, Outlook
from unmask.model.workload import Workload, WorkloadKind
from unmask.rules import _advice, _gain, _out_of_reach, _peers, _scope, _words
from unmask.rules._advice import Advice
from unmask.rules._gain import CAPABILITIES, Gain

ADIANTUM = "xchacha20,aes-adiantum-plain64"


def remedy(case: GuestCase, workload: Workload, outlook: Outlook, gain: Gain) -> Advice:
    """Return what to do, in a few sentences, and the command that does the first of it."""
    outside = _outside(case, gain)
    inside = _inside(case, workload, outlook, gain)
    return Advice(" ".join((outside.text, *inside)), outside.command)


def _outside(case: GuestCase, gain: Gain) -> Advice:
    if gain.emulated:
        return Advice(_out_of_reach.KVM_FIRST)
    if gain.wanted:
        return _advice.show(case, gain.needs)
    if case.guest.platform is Platform.UNSEEN:
        return Advice(_out_of_reach.explained(case, gain.lacking))
    names = _words.flags(gain.lacking, _scope.seen(case).arch)
    able = _peers.giving(case, gain.lacking)
    where = f" {_words.listed(able)} of its cluster could give it." if able else ""
    page = " (CPU010)" if "aes" in gain.lacking else ""
    return Advice(
        f"No CPU model can show {names} on this host{page}: run the guest on one that has it."
        f"{where}"
    )


def _inside(case: GuestCase, workload: Workload, outlook: Outlook, gain: Gain) -> Iterator[str]:
    """Yield what can be done in the guest itself."""
    if gain.emulated:
        return
    padlock = _padlock(case, outlook)
    if padlock:
        yield padlock
    families = {_family(note.text) for note in outlook.noted(NoteKind.FASTER)}
    if "ChaCha20-Poly1305" in families:
        yield from _chacha20(workload)
    if "AES-CCM" in families and workload.kind is WorkloadKind.ZFS:
        yield (
            "In the guest, encryption=aes-256-ccm is faster for new datasets meanwhile; what is "
            "there keeps its cipher until it is copied without zfs send --raw."
        )
    stuck = not gain.wanted or case.guest.platform is Platform.UNSEEN
    if workload.kind is WorkloadKind.LUKS and stuck and "aes" in outlook.missing and not padlock:
        yield (
            f"In the guest only another cipher would help: a new volume with {ADIANTUM} needs no "
            "AES instructions for its bulk, but vector instructions."
        )
    yield from _forced(case, outlook, gain)


def _padlock(case: GuestCase, outlook: Outlook) -> str:
    """Return how software that knows VIA's instructions is made to use them, "" for all other."""
    if not _scope.seen(case).shows("ace", "ace_en") or outlook.cipher in NO_AES:
        return ""
    consumer = consumers()[outlook.consumer]
    if consumer.version_of == "Linux":
        return (
            "In the guest, see that the module padlock_aes is loaded, and prefer CBC where the "
            "cipher can be chosen: PadLock does that by itself."
        )
    if _gain.uses_openssl(consumer):
        return (
            "In the guest, OpenSSL before 4.0 has an engine for PadLock (openssl engine padlock), "
            "which serves CBC and CTR and not GCM: it has to be turned on in openssl.cnf, and was "
            "broken in most releases of 1.1.1."
        )
    return ""


def _family(note: str) -> str:
    return note.split(" is ", maxsplit=1)[0]


def _chacha20(workload: Workload) -> Iterator[str]:
    if workload.kind is WorkloadKind.OPENVPN:
        yield (
            "In the guest, data-ciphers CHACHA20-POLY1305:AES-256-GCM on both ends is faster "
            "meanwhile; OpenVPN never chooses it by itself."
        )
    elif workload.kind in (WorkloadKind.TLS, WorkloadKind.DATABASE):
        yield (
            "In the guest, putting ChaCha20-Poly1305 first in the server's order of ciphers (TLS "
            "1.2 and 1.3 have lists of their own) is faster meanwhile."
        )
    elif workload.kind is WorkloadKind.SSH:
        yield "In the guest, putting chacha20-poly1305@openssh.com first in Ciphers is faster."
    elif workload.consumer == "gocryptfs":
        yield "In the guest, a new gocryptfs with -xchacha is faster meanwhile."


def _forced(case: GuestCase, outlook: Outlook, gain: Gain) -> Iterator[str]:
    """Yield how OpenSSL is made to use what the silicon is known to have.

    That KVM lets hidden instructions pass is inferred, as for the kernel's GCM; TCG does not
    (seen: SIGILL).
    """
    host, word = _scope.known_host_cpu(case), _gain.capabilities(case)
    if host is None or word is None or gain.already or not gain.wanted:
        return
    told = _gain.openssl(case)
    if told and told.masks:
        return
    if case.view.accelerator is not Accelerator.KVM or not gain.wanted <= CAPABILITIES.keys():
        return
    if not _gain.uses_openssl(consumers()[outlook.consumer]):
        return
    for flag in gain.wanted:
        word |= 1 << CAPABILITIES[flag]
    rest = _rest(case)
    yield (
        f"Where the CPU model has to stay, OPENSSL_ia32cap={word:#x}{rest} in the environment of "
        "the service makes OpenSSL use what the silicon has (inferred, not measured); take it out "
        "before the guest moves to a host without it, where the service would crash."
    )


def _rest(case: GuestCase) -> str:
    """Return the later words as they are: what is left out would be taken for zero."""
    openssl = _gain.openssl(case)
    words = openssl.capabilities.split(":")[1:] if openssl else ()
    return "".join(f":{word}" for word in words)
