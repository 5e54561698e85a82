"""From a consumer and a guest's CPU to what to expect of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from unmask.crypto import ciphers, ladder, notes, versions
from unmask.crypto.consumers import Consumer, Path, Tier, arm, consumers
from unmask.crypto.ladder import Flags
from unmask.model.cpu import Accelerator, FeatureView
from unmask.model.outlook import Note, NoteKind, Outlook, Status

_ARM = ("aarch64", "arm", "armv6l", "armv7l", "armv8l")
"""QEMU's names, and those of `uname -m` for 32 bits, which Linux shows the same words in."""
_ARM_32 = ("OpenSSL", "Linux")
"""Whose code for 32 bits uses ARMv8's instructions; Go has none, and others were not looked at."""
_NO_FLAGS = {
    "s390x": "the CPU's own functions (CPACF, msa in /proc/cpuinfo), which no CPU flag hides",
    "ppc64": "POWER's vector instructions (vcrypto, since POWER8), which no CPU flag hides",
}


def judge(consumer: Consumer, view: FeatureView, *, version: str = "", cipher: str = "") -> Outlook:
    """Return what to expect of a consumer on the CPU that a guest sees.

    Args:
        consumer: One of `consumers()`.
        view: What the guest sees.
        version: The version of what `consumer.version_of` names, as a package or program writes
            it; "" where it is not known: the answer is then UNKNOWN where it depends on it.
        cipher: The cipher as any program writes it; "" for the consumer's own default.
    """
    return _judge(consumer, view, version, ciphers.family(cipher) or consumer.default)


@lru_cache(maxsize=4096)
def _judge(consumer: Consumer, view: FeatureView, version: str, family: str) -> Outlook:
    """Judge; guests of one model on equal hosts share their view, and so their outlook."""
    outlook = Outlook(consumer.identity, family, Status.UNKNOWN, "")
    path = consumer.paths.get(family)
    if path is None:
        return _without_path(consumer, outlook, family)
    if path.uses:
        return _through(consumer, path, view, version)
    if view.arch in _ARM:
        known = consumer.arm and (view.arch == "aarch64" or consumer.version_of in _ARM_32)
        path = arm().get(family) if known else None
        if path is None:
            return _elsewhere(consumer, outlook, view.arch)
    elif not view.x86:
        return _foreign(outlook, view.arch)
    if all(tier.status is Status.NOT_APPLICABLE for tier in path.tiers):
        note = notes.irrelevant(family)
        return replace(outlook, status=Status.NOT_APPLICABLE, how=path.tiers[0].how, notes=(note,))
    return _Judgement(consumer, path, Flags(view), version).outlook(outlook)


def _without_path(consumer: Consumer, outlook: Outlook, family: str) -> Outlook:
    if family == "relative" and consumer.version_of == "Linux":
        how = "a cipher of which Linux has drivers with AES instructions, which were not looked at"
        return replace(outlook, how=how)
    if family in ("other", "relative"):
        how = "a cipher that no AES instruction serves"
        note = notes.irrelevant("other")
        return replace(outlook, status=Status.NOT_APPLICABLE, how=how, notes=(note,))
    if family == "unrecognised":
        return replace(outlook, cipher="", how="a cipher whose name is not known")
    aside = (notes.irrelevant(family, x86=False),) if family in notes.NO_AES else ()
    how = f"{family} in {consumer.name}, which has not been looked at"
    return replace(outlook, how=how, notes=aside)


def _elsewhere(consumer: Consumer, outlook: Outlook, arch: str) -> Outlook:
    if consumer.x86_only:
        how = f"x86 only: there is no such thing on {arch}"
        return replace(outlook, status=Status.NOT_APPLICABLE, how=how)
    return replace(outlook, how=f"{consumer.name} has not been looked at on {arch}")


def _foreign(outlook: Outlook, arch: str) -> Outlook:
    if not arch:
        return replace(outlook, how="the architecture is not known")
    known = _NO_FLAGS.get("ppc64" if arch.startswith("ppc64") else arch)
    how = known or f"neither x86's nor ARM's flags mean anything on {arch}"
    return replace(outlook, status=Status.NOT_APPLICABLE, how=how)


def _through(consumer: Consumer, path: Path, view: FeatureView, version: str) -> Outlook:
    """Judge what a consumer uses; where that is one of several, they have to agree."""
    found = [
        judge(consumers()[used], view, version=version, cipher=path.family) for used in path.uses
    ]
    chosen = found[-1]
    # Which suite a TLS library would choose says nothing about a program with a cipher of its own.
    said = tuple(note for note in chosen.notes if note.kind is not NoteKind.CHOICE)
    chosen = replace(chosen, consumer=consumer.identity, notes=said)
    if len({outlook.status for outlook in found}) == 1:
        return chosen
    ways = zip(path.uses, found, strict=True)
    how = "; ".join(f"{outlook.status} with {consumers()[used].name}" for used, outlook in ways)
    note = Note(NoteKind.UNDECIDED, f"It depends on the library: {how}.")
    return chosen.left_open(how, (*said, note))


class _Judgement:
    """One path on one CPU."""

    def __init__(self, consumer: Consumer, path: Path, flags: Flags, version: str) -> None:
        self.consumer = consumer
        self.path = path
        self.flags = flags
        self.known = versions.parse(version)
        self.shown = self.known or versions.parse(consumer.assumed)
        """The version whose code and figures are shown."""

    def outlook(self, empty: Outlook) -> Outlook:
        """Return the outlook of this path."""
        possible = ladder.possible(self.path, self.flags, self.known)
        if not possible:
            return replace(empty, how=f"{self.path.family} of a version not looked at")
        tier = ladder.taken(self.path, self.flags, self.shown) or possible[-1]
        fast = self.path.fast(self.shown)
        missing = self.flags.hidden(fast.flags) if fast else ()
        said = (*notes.choice(self.consumer, self.path, self.flags), *self._suspicions())
        if self.flags.view.accelerator is Accelerator.TCG:
            return self._emulated(replace(empty, notes=said), tier)
        if self._undecided(possible, tier):
            depends = self._depends(possible, tier)
            how = f"it depends on {depends}"
            note = Note(NoteKind.UNDECIDED, f"It depends on {depends}.")
            return replace(empty, how=how, missing=missing, notes=(*said, note))
        known = replace(empty, status=tier.status, how=tier.how)
        if tier.status is Status.HARDWARE:
            known = replace(known, better=self._better(tier))
        else:
            known = replace(known, missing=missing)
        said += tuple(notes.unasked(tier, self.flags))
        said += tuple(self._faster(tier))
        return self._measured(replace(known, notes=said), tier)

    def _suspicions(self) -> Iterator[Note]:
        yield from notes.inferred(self.consumer)
        yield from notes.windows(self.consumer, self.flags.view)

    def _undecided(self, possible: tuple[Tier, ...], tier: Tier) -> bool:
        """Return whether the status hangs on something that is not known."""
        if len({each.status for each in possible}) > 1 or tier.status is Status.UNKNOWN:
            return True
        kvm = self.flags.view.accelerator is Accelerator.KVM
        return bool(self.flags.hidden(tier.unasked)) and not kvm

    def _depends(self, possible: tuple[Tier, ...], tier: Tier) -> str:
        flags = dict.fromkeys(flag for each in possible for flag in self.flags.open(each.flags))
        fast = self.path.fast(self.shown)
        told = [flag for flag in flags if not fast or flag in fast.flags] or list(flags)
        if told:
            return f"flags that are not known: {', '.join(told)}"
        if any(each.present_in(self.known) is None for each in possible):
            return f"the version of {self.consumer.version_of}"
        if self.flags.hidden(tier.unasked):
            return "the hypervisor: it executes what is hidden, which only KVM is known to let pass"
        return tier.how

    def _emulated(self, empty: Outlook, tier: Tier) -> Outlook:
        said = (notes.EMULATED, *notes.unasked(tier, self.flags), *empty.notes)
        how = "QEMU's emulation of the CPU, whatever the flags"
        return replace(empty, status=Status.SOFTWARE, how=how, notes=said)

    def _better(self, tier: Tier) -> tuple[str, ...]:
        above = ladder.next_better(self.path, tier, self.known)
        if above is None:
            return ()
        return tuple(flag for flag in above.flags if not self.flags.all_shown((flag,)))

    def _measured(self, outlook: Outlook, tier: Tier) -> Outlook:
        """Add how much of the speed is kept, where both ends were measured."""
        figures = ladder.measurement(self.path, self.shown)
        rate = figures.rates.get(tier.name) if figures else None
        if figures is None or rate is None:
            return outlook
        whole = Flags(self.flags.view, frozenset(outlook.missing))
        reference = ladder.taken(self.path, whole, self.shown)
        reached = figures.rates.get(reference.name) if reference else None
        of_best = min(1.0, rate / figures.native) if figures.native else None
        setting = f"{figures.release} {figures.what}, on {figures.where}"
        if reached is None or outlook.status is Status.HARDWARE:
            factor = 1.0 if outlook.status is Status.HARDWARE else None
            text = f"{setting}: {rate:g} MB/s"
        else:
            factor = min(1.0, rate / reached)
            text = f"{setting}: {rate:g} of {reached:g} MB/s"
        return replace(outlook, factor=factor, of_best=of_best, factor_origin=text)

    def _faster(self, tier: Tier) -> Iterator[Note]:
        alternative = self.path.alternative
        if not alternative or tier.status is Status.HARDWARE or self.flags.view.arch in _ARM:
            return
        if self.flags.hidden(self.consumer.chacha_unless):
            return
        other = self.consumer.paths.get(alternative)
        there = ladder.taken(other, self.flags, self.shown) if other else None
        rates = (self._rate(self.path, tier), self._rate(other, there) if other else None)
        yield from notes.faster(self.consumer, alternative, rates)

    def _rate(self, path: Path, tier: Tier | None) -> float | None:
        figures = ladder.measurement(path, self.shown)
        return figures.rates.get(tier.name) if figures and tier else None
