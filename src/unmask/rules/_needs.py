"""What a system or a program needs in order to run at all: which model is enough for it."""

from __future__ import annotations

from unmask.cpu.os_levels import Need
from unmask.model.case import GuestCase
from unmask.model.cpu import Accelerator, FeatureView, State
from unmask.model.inventory import Platform
from unmask.model.reading import Known
from unmask.rules import _advice, _commands, _scope
from unmask.rules._advice import Advice


def seen(case: GuestCase) -> bool:
    """Return whether somebody looked inside and saw which system runs there."""
    inside = _scope.inside(case)
    return inside is not None and isinstance(inside.system, Known)


def hidden(view: FeatureView, need: Need) -> frozenset[str]:
    """Return what it needs and surely does not see."""
    return frozenset(flag for flag in need.flags if view.hides(flag))


def unsure(case: GuestCase, flag: str) -> str:
    """Return why it is not known whether the guest sees a flag."""
    if case.view.state(flag) is State.UNKNOWN:
        return _scope.unresolved(case)
    return f"whether the guest sees {flag} depends on a host whose flags are not known"


def advice(case: GuestCase, need: Need) -> Advice:
    """Return the smallest change that is enough, and the command for it."""
    later = _scope.restart_brings(case)
    if later is not None and later.shows(*need.flags):
        return Advice(_commands.WAITS, _commands.restart(case))
    model = _model(case, need)
    command = _commands.set_model(case, model, shows=need.flags) if model else ""
    arguments = _commands.in_arguments(case)
    if arguments or not model:
        return Advice(arguments or f"Choose a CPU model of at least x86-64-v{need.level}.", command)
    end = "It takes effect after a stop and start."
    return Advice(f"Use {model}, which is enough for {need.system}. {end}", command)


def _model(case: GuestCase, need: Need) -> str:
    """Return the name of a model that is enough and, as far as is known, runs here, or ""."""
    if case.view.accelerator is Accelerator.TCG:
        return ""
    host = _scope.known_host_cpu(case)
    if host and not need.flags <= host.flags:
        return ""
    if case.guest.platform is Platform.LIBVIRT:
        return _advice.smallest(case, need.flags | _advice.BOTH) if host else ""
    if need.level == 3:
        return "x86-64-v3"
    return "x86-64-v2" if host and "aes" not in host.flags else "x86-64-v2-AES"
