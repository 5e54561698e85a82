"""From the forms of one domain's XML to a `Guest`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from unmask.cpu import features
from unmask.cpu.resolve import resolve
from unmask.dialects import start_ties
from unmask.dialects.declared import Declared
from unmask.dialects.excerpt import excerpt
from unmask.dialects.libvirt import request, ties
from unmask.dialects.libvirt.domain import Domain
from unmask.dialects.libvirt.request import Change
from unmask.model.cpu import CpuSpec, HypervisorCpu, Mode, Origin, Remark, RemarkKind
from unmask.model.inventory import Guest, GuestKind, GuestState, Platform
from unmask.model.reading import Known, Missing, Reading
from unmask.model.tie import Tie

NOT_ASKED = Missing("libvirt expands host-model without the host's own list")


@dataclass(frozen=True, slots=True)
class Forms:
    """What libvirt says of one domain; at least one of `live` and `inactive` is there."""

    live: Domain | None = None
    """Of a running domain: the CPU as QEMU made it."""
    inactive: Domain | None = None
    """The persistent configuration; None for a transient domain or a lone live dump."""
    started: Domain | None = None
    """The CPU as asked for at start; None over a read-only connection."""
    saved: Domain | None = None
    """The managed save image with which a stopped domain resumes."""

    @property
    def main(self) -> Domain:
        """Return the form that describes the domain as it is now."""
        found = self.live or self.inactive
        if found is None:
            raise ValueError("a domain needs its live or its inactive form")
        return found


def guest(
    forms: Forms,
    host: str,
    state: GuestState,
    offers: tuple[HypervisorCpu, ...] = (),
    name: str = "",
    location: str = "",
) -> Guest:
    """Return the guest that the forms describe.

    Args:
        forms: What libvirt says of the domain.
        host: The host's subject.
        state: Whether it runs, as far as the source can tell.
        offers: The host's domain capabilities, to tell what host-model would be expanded to.
        name: Its name where the XML has none: the file's.
        location: Where the XML was read.
    """
    main = forms.main
    waiting, remarks = _waiting(forms, offers)
    configured = _configured(forms, waiting)
    named = main.name or name
    said = _declared(forms)
    return Guest(
        subject=f"{host}/{named}",
        ident=main.uuid,
        name=named,
        platform=Platform.LIBVIRT,
        kind=GuestKind.CONTAINER if main.container else GuestKind.VM,
        host=host,
        state=GuestState.SUSPENDED if forms.saved and not forms.live else state,
        arch=main.arch,
        accelerator=main.accelerator,
        configured=configured,
        running=_running(forms, configured),
        pending=forms.inactive.cpu if waiting and forms.inactive else None,
        os_declared=main.os_declared,
        remarks=main.remarks + remarks + said.remarks,
        location=location,
        declared=said.declarations,
        machine=excerpt(main.machine, 80),
        ties=_ties(forms),
        confined=Known(()),
    )


def _ties(forms: Forms) -> Reading[tuple[Tie, ...]]:
    """Return what holds the domain: alive as it runs, stopped as it is configured."""
    now, then = forms.main.ties, (forms.inactive or forms.main).ties
    if isinstance(now, Missing) or isinstance(then, Missing):
        return now
    return Known(start_ties.merged(now.value, then.value))


def with_snapshots(found: Guest, *, kept: bool | None) -> Guest:
    """Return the guest with what its snapshots tie it to; `kept` is None where nobody looked."""
    if not isinstance(found.ties, Known) or found.kind is GuestKind.CONTAINER:
        return found
    return replace(found, ties=Known((*found.ties.value, *ties.of_snapshots(kept=kept))))


def _declared(forms: Forms) -> Declared:
    """Return what the persistent configuration and the running domain declare.

    Notes may be changed in either: the running one's come last, and so count.
    """
    both = [form.declared for form in (forms.inactive, forms.live) if form]
    declarations = dict.fromkeys(item for found in both for item in found.declarations)
    remarks = dict.fromkeys(item for found in both for item in found.remarks)
    return Declared(tuple(declarations), tuple(remarks))


def _configured(forms: Forms, waiting: bool) -> CpuSpec:  # noqa: FBT001 - the state, not a switch
    """Return the CPU configured for the guest as it is now, not for its next start."""
    now = forms.live or forms.saved
    if now is None:
        return forms.main.cpu
    if forms.inactive is not None and not waiting:
        return forms.inactive.cpu
    return (forms.started or now).cpu


def _running(forms: Forms, configured: CpuSpec) -> CpuSpec | None:
    if forms.live is None:
        return None
    running = forms.live.cpu
    if running.origin is not Origin.LIVE:
        return None  # nothing but a default or a container: the live XML does not tell
    if configured.mode is Mode.HOST_MODEL and running.mode is Mode.MODEL:
        return replace(running, label=f"{configured.label} ({running.label})")
    return running


def _waiting(forms: Forms, offers: tuple[HypervisorCpu, ...]) -> tuple[bool, tuple[Remark, ...]]:
    """Return whether the configured CPU waits for a stop and start, and what is to be said."""
    inactive = forms.inactive
    if inactive is None or (forms.live is None and forms.saved is None):
        return False, ()
    if forms.live is None and forms.saved is not None:
        text = "A managed save image exists: the guest resumes with the CPU it was saved with."
        remark = Remark(RemarkKind.NOTE, text)
        found = request.since_start(forms.saved.request, inactive.request)
        return found is Change.WAITING, (remark,)
    live = forms.main
    if forms.started is not None:
        found = request.since_start(forms.started.request, inactive.request)
    else:
        found = request.since_live(live.request, inactive.request)
    if found is not Change.UNSURE:
        return found is Change.WAITING, ()
    if inactive.cpu.mode is Mode.HOST_MODEL:
        return _expands_otherwise(live, inactive, offers)
    return False, ()


def _expands_otherwise(
    live: Domain, inactive: Domain, offers: tuple[HypervisorCpu, ...]
) -> tuple[bool, tuple[Remark, ...]]:
    """Compare the running expansion of host-model with the one of today, by what matters."""
    fitting = tuple(
        offer
        for offer in offers
        if (offer.arch, offer.accelerator) == (live.arch, live.accelerator) and offer.host_model
    )
    if not fitting:
        text = "Whether host-model would be expanded differently now is not known."
        return False, (Remark(RemarkKind.NOTE, text),)
    now = resolve(live.cpu, live.arch, live.accelerator, NOT_ASKED)
    then = resolve(inactive.cpu, live.arch, live.accelerator, NOT_ASKED, fitting)
    changed = [
        flag for flag in features.reported(live.arch) if now.state(flag) is not then.state(flag)
    ]
    if not changed:
        return False, ()
    text = f"host-model would be expanded differently now: {' '.join(changed)}."
    return True, (Remark(RemarkKind.NOTE, text),)
