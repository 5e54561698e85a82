"""The plan to change one guest's CPU: what becomes of its flags and its work, and what it costs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from shlex import quote

from unmask import plugins
from unmask.cpu import features
from unmask.fixes import constraints, wish
from unmask.fixes.gains import gains
from unmask.fixes.wish import Wished
from unmask.model.case import GuestCase
from unmask.model.change import Place, Plan, Reach, Setting, Step
from unmask.model.change_case import ChangeCase
from unmask.model.finding import Rule
from unmask.model.inventory import Guest, GuestKind, GuestState, Inventory, Platform
from unmask.rules import _commands

RUNS = (GuestState.RUNNING, GuestState.PAUSED, GuestState.UNKNOWN)


def plan(
    inventory: Inventory,
    cases: Sequence[GuestCase],
    guest: str,
    wanted: str,
    acks: Collection[str] = (),
    *,
    target: str = "",
    before: Setting | None = None,
) -> Plan:
    """Return the plan for one guest.

    Args:
        inventory: What was read.
        cases: Its guest cases, with workloads.
        guest: `Guest.subject`.
        wanted: `--cpu`.
        acks: Codes of constraints that the operator takes on.
        target: As the operator wrote it.
        before: What the hypervisor says of the guest's CPU now; what the inventory says of it where
            nobody has asked.

    Raises:
        UsageError: There is no such CPU, or its hypervisor does not take it.
    """
    case = next(case for case in cases if case.guest.subject == guest)
    place = _place(case, target)
    before = before or configured(case.guest)
    asked = _wished(wanted, case, inventory, before)
    then = constraints.as_changed(case, asked.spec)
    change = ChangeCase(case, then, asked.flags, asked.custom_model)
    rules = plugins.load("unmask.rules", "RULE", Rule)
    reach: tuple[Reach, ...] = ()
    if asked.after.value == before.value:
        found = constraints.fatal(rules, change)
    else:
        found, reach = constraints.constraints(
            _with_model(inventory, case, asked), rules, change, acks
        )
    made = Plan(
        place=place,
        wish=wanted,
        before=before,
        after=asked.after,
        gained=_listed(constraints.shown(then.view) - constraints.shown(case.view)),
        lost=_listed(frozenset(
            flag for flag in constraints.shown(case.view) if then.view.hides(flag)
        )),
        gains=gains(change),
        constraints=found,
        custom_model=asked.section,
        reach=reach,
        notes=(*asked.notes, *_waiting(case, asked, before)),
    )  # fmt: skip
    return replace(made, steps=tuple(_steps(made, case, asked)))


def configured(guest: Guest) -> Setting:
    """Return what the inventory says of a guest's CPU, for its next start."""
    spec = guest.pending or guest.configured
    return Setting(spec.written or None)


def _waiting(case: GuestCase, asked: Wished, before: Setting) -> Iterator[str]:
    """Say where the guest has what is wished for already, from its next start."""
    if asked.after.value == before.value and case.guest.pending is not None:
        command = _off_and_on(case)
        yield f"Its configuration has this already, and it waits for a stop and start: {command}."


def _place(case: GuestCase, target: str) -> Place:
    guest = case.guest
    return Place(target, guest.subject, guest.ident, guest.name, guest.platform, guest.node)


def _wished(wanted: str, case: GuestCase, inventory: Inventory, before: Setting) -> Wished:
    """Return what a wish comes to; nothing for what has no CPU model, as a rule will say."""
    machine = case.guest.kind is GuestKind.VM and case.guest.platform is not Platform.UNSEEN
    if not machine:
        return Wished(Setting(before.value), case.guest.configured)
    return wish.wished(wanted, case, inventory, before)


def _with_model(inventory: Inventory, case: GuestCase, asked: Wished) -> Inventory:
    """Return the inventory as it will be once the custom model is made."""
    if not asked.custom_model or case.cluster is None:
        return inventory
    added = (asked.custom_model, asked.spec)
    return replace(
        inventory,
        clusters=tuple(
            replace(item, custom_models=tuple(sorted((*item.custom_models, added), key=_name)))
            if item.subject == case.cluster.subject
            else item
            for item in inventory.clusters
        ),
    )


def _name(model: tuple[str, object]) -> str:
    return model[0]


def _listed(flags: Collection[str]) -> tuple[str, ...]:
    """Return the flags that Linux lists."""
    return tuple(sorted(flag for flag in flags if features.listed(flag)))


def _steps(made: Plan, case: GuestCase, asked: Wished) -> Iterator[Step]:
    if not made.changes:
        return
    guest = case.guest
    proxmox = guest.platform is Platform.PROXMOX
    if asked.custom_model:
        yield Step(
            f"Make the custom model {asked.custom_model}.",
            "editor /etc/pve/virtual-guest/cpu-models.conf",
        )
    if proxmox:
        yield _set(made)
    else:
        yield Step(
            "Exchange the <cpu> of its definition, and nothing else.",
            f"virsh edit {quote(_commands.domain(guest))}",
        )
    yield Step("Read it back, and take it back at once where it did not stick.", _look(guest))
    if guest.state in RUNS:
        yield Step(
            "Shut the guest down and start it again, with --restart or when it suits.",
            _off_and_on(case),
        )


def _set(made: Plan) -> Step:
    ident, value = quote(made.place.ident), made.after.value
    guarded = "where nobody has changed the guest in between"
    if value is None:
        return Step(f"Take the option cpu away, {guarded}.", f"qm set {ident} --delete cpu")
    return Step(f"Set cpu to {value}, {guarded}.", f"qm set {ident} --cpu {quote(value)}")


def _look(guest: Guest) -> str:
    if guest.platform is Platform.PROXMOX:
        return f"qm pending {quote(guest.ident)}"
    return f"virsh dumpxml --inactive {quote(_commands.domain(guest))}"


def _off_and_on(case: GuestCase) -> str:
    if case.guest.platform is Platform.PROXMOX:
        ident = quote(case.guest.ident)
        return f"qm shutdown {ident} && qm start {ident}"
    return _commands.restart(case)
