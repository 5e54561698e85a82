"""What a workload would gain if its guest saw more of what its host has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from unmask.cpu.passthrough import gives
from unmask.crypto.consumers import Consumer, consumers
from unmask.crypto.outlook import judge
from unmask.model.case import GuestCase
from unmask.model.cpu import Accelerator, FeatureView, Mode, State
from unmask.model.inside_programs import OpenSsl
from unmask.model.inventory import Platform
from unmask.model.outlook import NoteKind, Outlook, Status
from unmask.model.reading import Known
from unmask.model.workload import Workload
from unmask.rules import _out_of_reach, _scope

RANKS = (Status.UNKNOWN, Status.SOFTWARE, Status.PARTIAL, Status.HARDWARE)
CAPABILITIES = {"pclmulqdq": 33, "ssse3": 41, "aes": 57}
"""Bits of the first word of OPENSSL_ia32cap: CPUID leaf 1, EDX and then ECX."""


@dataclass(frozen=True, slots=True)
class Gain:
    """What more flags would bring."""

    wanted: frozenset[str] = frozenset()
    """The hidden flags that its host can give, as far as is known, and that would help."""
    needs: frozenset[str] = frozenset()
    """The same with those that it sees already and has to keep."""
    reach: Outlook | None = None
    """How it fares with them."""
    lacking: frozenset[str] = frozenset()
    """Hidden flags that would help and that the silicon itself does not have."""
    emulated: bool = False
    """It is emulation that makes it slow, whatever the flags."""
    already: bool = False
    """The guest's OpenSSL was made to use them although they are hidden."""

    @property
    def possible(self) -> bool:
        """Return whether anything can be done where the guest runs."""
        return self.emulated or bool(self.wanted)


def of(case: GuestCase, workload: Workload, outlook: Outlook) -> Gain | None:
    """Return what there is to gain; None where no flag would change anything."""
    if outlook.noted(NoteKind.EMULATED):
        return Gain(emulated=True)
    consumer = consumers().get(outlook.consumer)
    if consumer is None or not outlook.missing:
        return None
    view = seen_by(case, consumer)
    lacking = frozenset(flag for flag in outlook.missing if not _given(case, flag))
    wanted = frozenset(outlook.missing) - lacking
    reach = _with(consumer, view, wanted, workload)
    if wanted and _better(reach, outlook):
        needs = wanted | _seen(needed(consumer, reach.cipher, workload.version), view)
        already = wanted <= told_to_openssl(case, consumer)
        return Gain(wanted, needs, reach, lacking, already=already)
    if not _better(_with(consumer, view, outlook.missing, workload), outlook):
        return None
    return Gain(lacking=lacking or wanted)


def seen_by(case: GuestCase, consumer: Consumer) -> FeatureView:
    """Return what a consumer sees: the kernel may have been told to overlook flags."""
    view = _scope.seen(case)
    if consumer.version_of not in ("Linux", "OpenZFS"):
        return view
    return replace(
        view, states={**view.states, **dict.fromkeys(_scope.cleared(case), State.HIDDEN)}
    )


def needed(consumer: Consumer, family: str, version: str) -> frozenset[str]:
    """Return the flags of the fast path, its own or of all whose code it may use."""
    path = consumer.paths.get(family)
    if path is not None and path.uses:
        return frozenset[str]().union(
            *(needed(consumers()[used], family, version) for used in path.uses)
        )
    return frozenset(consumer.needs(family, version))


def uses_openssl(consumer: Consumer) -> bool:
    """Return whether it is OpenSSL's code that encrypts."""
    return consumer.identity == "openssl" or any(
        path.uses == ("openssl",) for path in consumer.paths.values()
    )


def told_to_openssl(case: GuestCase, consumer: Consumer) -> frozenset[str]:
    """Return the hidden flags that the guest's OpenSSL uses all the same."""
    view, word = _scope.seen(case), capabilities(case)
    if not uses_openssl(consumer) or word is None or not view.x86:
        return frozenset()
    return frozenset(
        flag for flag, bit in CAPABILITIES.items() if word >> bit & 1 and view.hides(flag)
    )


def openssl(case: GuestCase) -> OpenSsl | None:
    """Return what was read of the guest's OpenSSL; None where nobody looked."""
    inside = _scope.inside(case)
    known = inside is not None and isinstance(inside.openssl, Known)
    return inside.openssl.value if inside is not None and known else None


def capabilities(case: GuestCase) -> int | None:
    """Return the first word of what OpenSSL sees of an x86 CPU; None where that is not known."""
    told = openssl(case)
    word = told.capabilities.split(":")[0] if told else ""
    try:
        return int(word, 0) if word else None
    except ValueError:
        return None


def _given(case: GuestCase, flag: str) -> bool:
    """Return whether the guest could see a flag here, as far as is known."""
    if case.guest.platform is Platform.UNSEEN:
        return not _out_of_reach.physical(case)
    if case.view.shows(flag):
        return True
    host = _scope.known_host_cpu(case)
    if host is None:
        return True
    if not host.complete:
        return not _shares_its_hosts(case, flag)
    return gives(flag, host.flags) if case.view.x86 else flag in host.flags


def _shares_its_hosts(case: GuestCase, flag: str) -> bool:
    """Return whether the guest has an ARM host's own CPU and does not see a flag of it."""
    own = case.guest.current.mode is Mode.HOST and case.view.accelerator is Accelerator.KVM
    return own and not case.view.x86 and _scope.seen(case).hides(flag)


def _with(
    consumer: Consumer, view: FeatureView, flags: Iterable[str], workload: Workload
) -> Outlook:
    """Judge as if `flags` were shown."""
    more = replace(view, states={**view.states, **dict.fromkeys(flags, State.SHOWN)})
    return judge(consumer, more, version=workload.version, cipher=workload.cipher)


def _better(reach: Outlook, outlook: Outlook) -> bool:
    if RANKS.index(reach.status) != RANKS.index(outlook.status):
        return RANKS.index(reach.status) > RANKS.index(outlook.status)
    return reach.how != outlook.how and (reach.of_best or 0) > (outlook.of_best or 0)


def _seen(flags: frozenset[str], view: FeatureView) -> frozenset[str]:
    return frozenset(flag for flag in flags if view.shows(flag))
