"""The configuration asks for CPU flags that a host cannot give, or cannot start at all.

## Why it matters

What happens depends on a word. Proxmox VE adds `enforce` for every model except `host`, and
libvirt checks by default: a flag that the host lacks then keeps the guest from starting, which
shows at the next stop and start, perhaps months after the change. Without enforcement the flag
vanishes without a message, and the guest runs slower, or its software does not run.

## How it decides

It resolves the CPU of the guest's next start, with the change that is pending, on its host. High:
a flag is missing and the flags are enforced, or the source has found that the guest cannot start
anywhere. Medium: a flag is missing and nothing enforces it, or the guest runs already, so that only
its next start is in danger. Low: its own host can run it, and other nodes of the cluster cannot;
the finding names them.

Where the host's flags are not known, libvirt's own answer decides, if it was asked: whether this
host can run the model (`usable` in its domain capabilities). Without one the check is skipped for
every model that asks for more than all 64-bit hosts have. Models whose only missing flags are those
of TSX are CPU008's.

## Remedy

Choose a model that the host, and every node that the guest may move to, can run; or remove the
flag from the configuration.

## What fix does

`unmask fix --vm 101 --cpu MODEL` plans the change, keeps the other settings of the guest's CPU, and
writes it once everything that it costs is acknowledged. It refuses a CPU with which the guest would
not start (RST006).

## When to accept it

Where the guest is meant for some nodes only, for instance by a high-availability rule.

## References

- Proxmox VE documentation, qm.adoc: "If the CPU flags passed to the guest are missing, the QEMU
  process will stop"
- qemu-server, src/PVE/QemuServer/CPUConfig.pm (`enforce`); libvirt, "CPU model and topology",
  check
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.cpu import catalogue
from unmask.cpu.features import listed
from unmask.errors import UnreadError
from unmask.model.case import GuestCase
from unmask.model.cpu import Mode, RemarkKind, State
from unmask.model.finding import About, Confidence, Problem, Rule, Severity
from unmask.model.reading import Known
from unmask.rules import _advice, _commands, _models, _next_start, _peers, _scope, _words

EVERYWHERE = frozenset({"lahf_lm", "sep", "syscall", "nx", "hypervisor", "vme"})
"""Beside qemu64's flags, every 64-bit CPU that has virtualisation has these."""


def check(case: GuestCase) -> Iterator[Problem]:
    """Yield problems where the next start fails, or does not give what is configured."""
    yield from _next_start.judged(case, _problems)


def _problems(case: GuestCase) -> Iterator[Problem]:
    if not _scope.has_cpu(case):
        return
    texts = _start_remarks(case)
    for text in texts:
        yield Problem(
            severity=Severity.HIGH,
            message=_words.about(case, f"the guest cannot start with this configuration: {text}"),
            remedy="Correct the configuration before the next start.",
        )
    told = case.guest.current.remarked(RemarkKind.NO_START)
    if not texts and not told and not case.view.starts and not case.view.lost:
        yield _cannot_start(case)
    if not _scope.on_kvm_x86(case):
        return
    lost = case.view.lost - _models.TSX
    if lost:
        yield _lost(case, case.view.lost)
    elif not case.view.lost:
        if _refused(case):
            yield _told(case)
            return
        _require_host(case)
        yield from _elsewhere(case)


def _start_remarks(case: GuestCase) -> tuple[str, ...]:
    """Return why the guest cannot start; a missing custom model is CPU006's."""
    guest = case.guest
    remarks = [remark for remark in guest.remarks if remark.kind is RemarkKind.NO_START]
    if not guest.configured.remarked(RemarkKind.CUSTOM_MISSING):
        remarks = [*guest.configured.remarked(RemarkKind.NO_START), *remarks]
    return tuple(dict.fromkeys(remark.text.rstrip(".") for remark in remarks))


def _cannot_start(case: GuestCase) -> Problem:
    reason = case.view.steps[-1] if case.view.steps else f"{case.view.label} does not start here"
    return Problem(
        severity=Severity.HIGH,
        message=_words.about(case, f"the guest cannot start with this CPU: {reason}"),
        remedy="Choose a model that this accelerator and host can run.",
    )


def _lost(case: GuestCase, lost: frozenset[str]) -> Problem:
    enforced = not case.view.starts
    model = _smallest(case, own_host=True)
    return Problem(
        severity=_words.severity_of_loss(case, enforced=enforced),
        message=_words.about(
            case,
            f"{case.view.label} asks for {_words.flags(lost)}, which {_words.host(case)} "
            f"does not have, {_words.outcome_of_loss(case, enforced=enforced)}",
        ),
        evidence=(
            "The configuration enforces its flags: a start fails where one is missing."
            if enforced
            else "Nothing enforces the flags: the guest starts without them.",
        ),
        remedy=_commands.in_arguments(case) or _remedy(case, lost, model),
        command=_command(case, lost, model),
        confidence=(Confidence.TENTATIVE if enforced and _scope.runs(case) else Confidence.FIRM),
        flags=tuple(sorted(lost)),
    )


def _smallest(case: GuestCase, *, own_host: bool) -> str:
    shown = frozenset(flag for flag in _advice.BOTH if case.view.shows(flag))
    everywhere = _advice.smallest(case, shown)
    return everywhere or (_advice.smallest(case, shown, own_host=True) if own_host else "")


def _remedy(case: GuestCase, lost: frozenset[str], model: str) -> str:
    added = _added(case, lost)
    drop = f"remove {_words.flags(added)} from the configuration" if added else ""
    change = f"use {model}, which {case.host.value.name} can run" if model else ""
    if added != lost:  # to remove them would not be enough
        change = change or "choose a model that this host can run"
        drop, change = change, f" and {drop}" if drop else ""
    elif change:
        change = f" or {change}"
    text = f"{drop}{change}"
    return f"{text[0].upper()}{text[1:]}. It takes effect after a stop and start."


def _added(case: GuestCase, lost: frozenset[str]) -> frozenset[str]:
    """Return what of `lost` is asked for beside the model."""
    own = catalogue.proxmox_model(case.guest.current.label)
    return lost & case.guest.current.on - (own.on if own else frozenset())


def _command(case: GuestCase, lost: frozenset[str], model: str) -> str:
    drop = _commands.drop_flags(case, lost) if _added(case, lost) == lost else ""
    return drop or (_commands.set_model(case, model, lacks=lost) if model else "")


def _open(case: GuestCase) -> bool:
    """Return whether the host's own list of flags leaves open what it can give."""
    cpu = _scope.known_host_cpu(case)
    return not case.guest.current.exact and not (cpu and cpu.complete)


def _refused(case: GuestCase) -> bool:
    """Return whether the hypervisor says that the model cannot run, and no flag of it is off."""
    asked_whole = case.guest.current.mode is Mode.MODEL and not case.guest.current.off
    return asked_whole and _open(case) and _scope.model_usable(case) is False


def _told(case: GuestCase) -> Problem:
    enforced = case.guest.current.enforced
    return Problem(
        severity=_words.severity_of_loss(case, enforced=enforced),
        message=_words.about(
            case,
            f"{case.view.label} has flags that {case.host.value.name} cannot give, "
            f"{_words.outcome_of_loss(case, enforced=enforced)}",
        ),
        evidence=(f"libvirt says that {case.view.model} is not usable on {case.host.value.name}.",),
        remedy=(
            "Choose a model that virsh domcapabilities lists as usable, or host-model. It takes "
            "effect after a shutdown and start."
        ),
    )


def _require_host(case: GuestCase) -> None:
    """Raise `UnreadError` where the guest asks for flags and the host's are not known."""
    asked = _asked(case) if _open(case) else frozenset()
    if not asked:
        return
    if _scope.known_host_cpu(case):
        raise UnreadError("the host's list of flags is not complete", "its /proc/cpuinfo")
    raise UnreadError(f"whether the host has {_words.flags(asked)} is not known", _needs(case))


def _needs(case: GuestCase) -> str:
    cpu = case.host.value.cpu if isinstance(case.host, Known) else case.host
    return getattr(cpu, "needs", "") or "the host's /proc/cpuinfo"


def _asked(case: GuestCase) -> frozenset[str]:
    """Return what the guest asks for beyond what every 64-bit host with KVM has."""
    spec = case.guest.current
    whole = _scope.model_usable(case) is True
    shown = spec.on if whole or _commands.passes_host(spec) else _shown(case)
    every = catalogue.find("qemu64")
    return frozenset(filter(listed, shown)) - EVERYWHERE - (every.flags if every else frozenset())


def _shown(case: GuestCase) -> frozenset[str]:
    return frozenset(flag for flag, state in case.view.states.items() if state is State.SHOWN)


def _elsewhere(case: GuestCase) -> Iterator[Problem]:
    """Yield a problem where other nodes of the cluster cannot run the guest."""
    unable = _peers.unable(case)
    if not unable:
        return
    lacking = frozenset[str]().union(*(lost for _, lost in unable))
    names = _words.listed(name for name, _ in unable)
    model = _smallest(case, own_host=False)
    yield Problem(
        severity=Severity.LOW,
        message=_words.about(case, f"{case.view.label} cannot be run in full on {names}"),
        evidence=tuple(f"{name} lacks {_words.flags(lost)}." for name, lost in unable),
        remedy=_commands.in_arguments(case) or _elsewhere_remedy(model, lacking),
        command=_commands.set_model(case, model, lacks=lacking) if model else "",
        flags=tuple(sorted(lacking)),
    )


def _elsewhere_remedy(model: str, lacking: frozenset[str]) -> str:
    tsx = " TSX flags can be avoided with a model's noTSX variant." if lacking & _models.TSX else ""
    if model:
        return f"If it must move there, use {model}, which all known nodes can run.{tsx}"
    return f"Keep it on nodes that can, or choose a CPU that all nodes have in common.{tsx}"


RULE = Rule("CPU005", "A host cannot give what the configuration asks", About.GUEST, check)
