"""A program in the guest needs an instruction that the CPU hides, and does not start.

## Why it matters

MongoDB is built with AVX since release 5.0. On a CPU that hides it, as Proxmox VE's kvm64 and
x86-64-v2-AES do, it dies at once with "Illegal instruction" (exit code 132 in a container) and
writes no line into its log. On ARM it needs ARMv8.2-A, which a Raspberry Pi 4 does not have. Unlike
encryption, where a hidden flag costs speed, nothing runs here at all.

## How it decides

It takes the database servers that are installed in the guest, with their versions, and the CPU that
the guest sees now and after its next start. It fires where that surely hides what the program
needs: high, or low and tentative where the version is not known. A server that was seen listening
although the flag is hidden is a build that does without it, which is low too. What runs in
containers inside the guest is not looked into. Where the databases could not be read, or the flag
is not known, the check is skipped.

## Remedy

The smallest model with the flag: `x86-64-v3` on Proxmox VE, or a named model that shows PCLMULQDQ
too. Otherwise MongoDB 4.4, the last that runs without.

## What fix does

`unmask fix --vm 101 --cpu MODEL` plans the change, keeps the other settings of the guest's CPU, and
writes it once everything that it costs is acknowledged.

## When to accept it

Where the program is installed and not meant to run.

## References

- MongoDB documentation, production notes, "Platform Support Notes"
- A report from the field: docker-library/mongo issue 485
- Origin of each line of the table: src/unmask/cpu/data/os_levels.json
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from unmask.cpu import os_levels
from unmask.cpu.os_levels import Need
from unmask.errors import UnreadError
from unmask.model.case import GuestCase
from unmask.model.cpu import Accelerator, FeatureView, State
from unmask.model.finding import About, Confidence, Problem, Rule, Severity
from unmask.model.inside import UNASKED, Inside
from unmask.model.inside_programs import Database
from unmask.model.reading import Known
from unmask.rules import _advice, _needs, _scope, _words

UNTOLD = ", of a version that is not known,"
SERVERS = {"mongodb": ("mongod", "mongos")}
"""What a database is called as a program."""


def check(case: GuestCase) -> Iterator[Problem]:
    """Yield a problem for each program that cannot start."""
    inside = _scope.inside(case)
    if inside is None or inside.databases == UNASKED:
        return
    view, ahead = _scope.seen(case), _scope.at_next_start(case).view
    for database in inside.databases.value:
        need = os_levels.need_of_program(database.name, database.version, view.arch)
        if need is None:
            continue
        now = _needs.hidden(view, need)
        later = _needs.hidden(ahead, need) if case.pending else frozenset()
        if now or later:
            yield _problem(case, inside, database, need, now=bool(now))
        elif not view.shows(*need.flags):
            raise UnreadError(_unknown(view, need))


def _unknown(view: FeatureView, need: Need) -> str:
    open_ = [flag for flag in sorted(need.flags) if view.state(flag) is not State.SHOWN]
    return f"whether the guest sees {_words.flags(open_, view.arch)} is not known"


def _problem(
    case: GuestCase, inside: Inside, database: Database, need: Need, *, now: bool
) -> Problem:
    runs = now and _listens(inside, database)
    judged = case if now else _scope.at_next_start(case)
    view = _scope.seen(case) if now else judged.view
    names = _words.flags(need.flags, view.arch)
    advice = _now(case, need) if now else _next(case, need)
    release = f" {database.version}" if database.version else ""
    what = "will not start after the next start" if not now else "does not start"
    verb = "runs although" if runs else f"{what}, as"
    return Problem(
        severity=Severity.LOW if runs or need.several else Severity.HIGH,
        message=_words.about(
            case, f"{need.system.split()[0]}{release} {verb} {view.label} hides {names}"
        ),
        evidence=(
            f"{need.system.split()[0]}{release or UNTOLD} is set up in the guest.",
            f"{need.reason} ({need.origin}).",
            _words.cpu(judged),
            *(["It listens all the same: this build does without."] if runs else []),
        ),
        remedy=advice.text,
        command=advice.command,
        confidence=Confidence.TENTATIVE if runs or need.several else Confidence.FIRM,
        flags=tuple(sorted(need.flags)),
    )


def _now(case: GuestCase, need: Need) -> _advice.Advice:
    if case.view.accelerator is Accelerator.TCG and not _scope.restart_brings(case):
        names = _words.flags(need.flags)
        return _advice.Advice(f"Let KVM run the guest (CPU004), with a CPU that shows {names}.")
    return _advice.show(case, need.flags)


def _next(case: GuestCase, need: Need) -> _advice.Advice:
    """Advise on a change that is pending and would take the flag away."""
    ahead = _scope.at_next_start(case)
    advice = _advice.show(replace(ahead, observed=None), need.flags)
    return _advice.Advice(
        f"Do not stop the guest as it is configured. {advice.text}", advice.command
    )


def _listens(inside: Inside, database: Database) -> bool:
    if not isinstance(inside.listeners, Known):
        return False
    programs = SERVERS[database.name]
    return any(set(programs) & set(each.processes) for each in inside.listeners.value)


RULE = Rule("REQ003", "A program does not start on this CPU", About.GUEST, check)
