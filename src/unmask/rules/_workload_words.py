"""What is said of encrypted workloads: what runs, how it runs now, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unmask.crypto.consumers import consumers
from unmask.crypto.notes import NO_AES
from unmask.crypto.sentence import percent
from unmask.model.case import GuestCase
from unmask.model.inventory import Platform
from unmask.model.outlook import NoteKind, Outlook, Status
from unmask.model.workload import Activity, Workload, WorkloadKind
from unmask.rules import _scope, _words
from unmask.rules._gain import Gain
from unmask.rules._rates import Rate

WORK = {
    WorkloadKind.ZFS: "ZFS encryption of",
    WorkloadKind.LUKS: "disk encryption of",
    WorkloadKind.BITLOCKER: "BitLocker on",
    WorkloadKind.GELI: "GELI on",
    WorkloadKind.FILES: "file encryption of",
    WorkloadKind.TLS: "TLS of",
    WorkloadKind.DATABASE: "encryption of the database",
    WorkloadKind.OPENVPN: "OpenVPN",
    WorkloadKind.IPSEC: "IPsec",
    WorkloadKind.WIREGUARD: "WireGuard",
    WorkloadKind.SSH: "SSH of",
    WorkloadKind.SAMBA: "SMB encryption of",
    WorkloadKind.BACKUP: "backup encryption of",
}
RUNS = {
    Status.SOFTWARE: "runs in software",
    Status.PARTIAL: "uses only part of the hardware",
    Status.UNKNOWN: "may run in software",
}
STATES = {
    Activity.CONFIGURED: "It is set up; whether it is used was not seen.",
    Activity.CLOSED: "It is closed now, so that this holds from the moment when it is opened.",
}
NAMED_AT_MOST = 3
EVIDENCE_AT_MOST = 5
NOTED = (
    NoteKind.UNASKED, NoteKind.FATAL, NoteKind.EMULATED, NoteKind.CHOICE, NoteKind.FASTER,
    NoteKind.SUSPECTED, NoteKind.UNDECIDED,
)  # fmt: skip
BY_VECTORS = "AES flags play no part in it: its speed hangs on vector instructions."


def called(members: Sequence[Workload]) -> str:
    """Return the workloads by kind and name: "ZFS encryption of tank/a and tank/b"."""
    names = list(dict.fromkeys(member.name for member in members if member.name))
    work = WORK[members[0].kind]
    return f"{work} {_words.few(names, NAMED_AT_MOST)}" if names else work.removesuffix(" of")


def message(case: GuestCase, members: Sequence[Workload], outlook: Outlook, gain: Gain) -> str:
    """Return the finding's sentence."""
    ciphers = sorted({member.cipher for member in members if member.cipher})
    cipher = f" ({_words.listed(ciphers)})" if ciphers and len(ciphers) <= NAMED_AT_MOST else ""
    text = f"{called(members)}{cipher} {RUNS[outlook.status]}: {_cause(case, gain)}"
    return _words.about(case, text)


def _cause(case: GuestCase, gain: Gain) -> str:
    if gain.emulated:
        return "QEMU emulates the guest's CPU"
    arch = _scope.seen(case).arch
    if not gain.wanted:
        names = _words.flags(gain.lacking, arch)
        if case.guest.platform is Platform.UNSEEN:
            return f"this machine's CPU has no {names}"
        return f"{_words.host(case)} itself has no {names}"
    names = _words.flags(gain.wanted, arch)
    if case.guest.platform is Platform.UNSEEN or case.view.shows(*gain.wanted):
        who = "this machine" if case.guest.platform is Platform.UNSEEN else "the guest"
        return f"{who} does not see {names}"
    given = f", which {_words.host(case)} has" if _scope.known_host_cpu(case) else ""
    return f"{case.view.label} hides {names}{given}"


def evidence(
    case: GuestCase,
    members: Sequence[Workload],
    outlook: Outlook,
    gain: Gain,
    rate: Rate | None,
) -> tuple[str, ...]:
    """Return the facts, a sentence each: what was seen, how it runs, what that costs, why."""
    said = [
        *seen(members),
        _how(members[0], outlook),
        *_rate(outlook, gain, rate),
        *_cpu(case, gain),
        *_notes(case, outlook, gain),
    ]
    return tuple(dict.fromkeys(said))


def seen(members: Sequence[Workload]) -> Iterator[str]:
    """Yield what was seen of workloads, bounded in number."""
    found = list(dict.fromkeys(text for member in members for text in member.evidence))
    more = len(found) - EVIDENCE_AT_MOST
    if more > 1:
        found = [*found[:EVIDENCE_AT_MOST], f"There is more of this kind: {more} facts."]
    yield from found
    for activity in dict.fromkeys(member.activity for member in members):
        if activity in STATES:
            yield STATES[activity]


def _how(workload: Workload, outlook: Outlook) -> str:
    consumer = consumers()[outlook.consumer]
    own = workload.version if consumer.version_of else ""
    release = own.removeprefix(f"{consumer.version_of} ")
    other = f", {consumer.version_of} {release}" if consumer.version_of != consumer.name else ""
    version = (other or f" {release}") if release else ""
    return f"How it runs now ({consumer.name}{version}): {outlook.how}."


def _rate(outlook: Outlook, gain: Gain, rate: Rate | None) -> Iterator[str]:
    if rate:
        yield rate.sentence
    elif not gain.emulated and outlook.status is not Status.UNKNOWN:
        yield "How much speed that costs was not measured."
    best = outlook.of_best
    if outlook.measured_here:
        return  # the other figure is another silicon's
    if rate and best is not None and best < rate.factor / 2 and not gain.lacking:
        yield f"Of what that silicon reaches with all its flags it keeps {percent(best)}."


def _cpu(case: GuestCase, gain: Gain) -> Iterator[str]:
    if case.guest.platform is Platform.UNSEEN:
        yield f"The machine calls its CPU {case.view.label or 'nothing at all'}."
    else:
        yield _words.cpu(case)
    view = _scope.seen(case)
    hidden = [flag for flag in sorted(gain.wanted | gain.lacking) if view.hides(flag)]
    if case.observed and hidden:
        names = _words.listed([_words.name(flag, view.arch) for flag in hidden], "or")
        yield f"The guest itself, asked inside, lists no {names}."
    if _scope.cleared(case) & gain.wanted:
        yield "The kernel's command line in the guest hides flags (clearcpuid)."
    if gain.wanted and gain.lacking:
        yield f"The host's CPU itself has no {_words.flags(gain.lacking, view.arch)}."


def _notes(case: GuestCase, outlook: Outlook, gain: Gain) -> Iterator[str]:
    if outlook.cipher == "chacha20" and outlook.missing:
        yield BY_VECTORS
    if gain.reach and gain.reach.status is Status.PARTIAL:
        yield f"With what its host has it would still use only part: {gain.reach.how}."
    if gain.already:
        yield (
            "OpenSSL in the guest has been made to use them although they are hidden "
            "(OPENSSL_ia32cap): what is started with that setting is fast already."
        )
    if _padlock(case) and outlook.cipher not in NO_AES:
        yield "This CPU has VIA PadLock (ace), which is not AES-NI and does CBC by itself only."
    yield from (note.text for note in outlook.notes if note.kind in NOTED)


def _padlock(case: GuestCase) -> bool:
    return _scope.seen(case).shows("ace", "ace_en")
