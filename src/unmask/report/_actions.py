"""One guest, one command: what to do first, worst guest first.

Several rules speak of one guest, and what they advise does not add up: each command that sets a CPU
replaces what another one has set. Here they come out as one.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from unmask.model.case import GuestCase
from unmask.model.cpu import Accelerator, Origin
from unmask.model.finding import Finding, Problem, Severity
from unmask.model.inventory import Guest, GuestKind, GuestState, Platform
from unmask.model.reading import Known
from unmask.model.report import Document
from unmask.report._findings import worst_first
from unmask.report._text import clean
from unmask.report._workloads import badness

SERVED = re.compile(r"CRY\d+|CPU00[12]")
"""Codes that `unmask fix --cpu recommended` is made for: flags that encryption wants."""
FIRST = ("CPU012", "CPU006", "CPU003", "CPU004")
"""Codes of what decides whether any other change has an effect, or outlives it."""
NEXT = ("REQ001", "REQ002", "REQ003")
"""Codes of systems and programs that do not run: they ask for more than encryption does."""
FLAGS = "SEC001"
"""The code of flags that are added beside a model."""
RENTED = "CPU013"
CHANGE = " --cpu "
"""What tells a command that sets a guest's CPU (Proxmox VE's qm set)."""
RESTARTS = ("qm reboot ", "virsh shutdown ")
PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/-]{0,120}")
"""Words that no shell, and no option of ours, takes for anything else."""
TARGET = "TARGET"
"""What stands for a target where several were read and it is not known which one has the guest."""
CUT = 200
MOST = "Show it the flags that most encryption needs"
BASELINE = "unmask baseline"
AGAIN = "Stop it and start it again: the change that is pending cures it."


@dataclass(frozen=True, slots=True)
class Action:
    """What to do for one guest."""

    subject: str
    name: str
    codes: tuple[str, ...]
    """Of the findings that say that something is to be done, the worst first."""
    severity: Severity
    """Of the worst of them."""
    what: str
    """One sentence."""
    command: str
    """One line for a shell; "" where no command does it."""


def actions(document: Document) -> tuple[Action, ...]:
    """Return an action for each guest that has something to do, the worst first."""
    findings: dict[str, list[Finding]] = defaultdict(list)
    for finding in document.outcome.findings:
        if _tells(finding.problem):
            findings[finding.subject].append(finding)
    made = []
    words = _Words(document)
    for case in document.cases:
        found = worst_first(findings[case.guest.subject])
        if found:
            made.append(_action(case, found, words))
    return tuple(sorted(made, key=lambda action: -action.severity))  # stable


def _tells(problem: Problem) -> bool:
    """Return whether anything is to be done about it."""
    return problem.severity > Severity.INFO and bool(problem.remedy or problem.command)


class _Words:
    """Says targets and guests in a command line."""

    def __init__(self, document: Document) -> None:
        self.targets = document.run.targets
        self.called = document.run.called or self.targets
        guests = [case.guest for case in document.cases]
        self.apart = len(self.targets) > 1
        self.counts = Counter(key for guest in guests for key in set(self._keys(guest)))

    def _keys(self, guest: Guest) -> list[tuple[str, str]]:
        """Return the words for a guest, each with where it is to be the only one.

        A command names one target. Where several were read, each knows its own guests alone, and a
        site that was collected does not know the name that it has here.
        """
        if not self.apart:
            return [("", word) for word in guest.names]
        own = f"{guest.site}:" if guest.site else ""
        return [(guest.site, word) for word in guest.names if not (own and word.startswith(own))]

    def target(self, case: GuestCase) -> str:
        """Return the target that the guest was read from, or a word in its place."""
        near = [
            called
            for target, called in zip(self.targets, self.called, strict=True)
            if _within(case.guest.location, target)
        ]
        found = near[0] if len(near) == 1 else ""
        if len(self.targets) == 1:
            found = self.called[0]
        return shlex.quote(found) if found and clean(found, CUT) == found else TARGET

    def guest(self, case: GuestCase) -> str:
        """Return what `--vm` takes for this guest alone; "" where there is no such plain word."""
        guest = case.guest
        keys = self._keys(guest)
        alone = [word for key, word in reversed(keys) if self.counts[key, word] == 1]
        first = (guest.name, guest.ident) if guest.platform is Platform.LIBVIRT else (guest.ident,)
        words = [*(word for word in (*first, guest.name) if word in alone), *alone]
        return next(filter(PLAIN.fullmatch, words), "")

    def fix(self, case: GuestCase, cpu: str) -> str:
        """Return the command that plans a change; "" where the guest cannot be named."""
        guest = self.guest(case)
        if not guest:
            return ""
        words = f"--vm {shlex.quote(guest)} --cpu {shlex.quote(cpu)}"
        return f"unmask fix {self.target(case)} {words} --dry-run"


def _within(location: str, target: str) -> bool:
    """Return whether a configuration was read in a target: below it, or it is the target."""
    return location == target or location.startswith(f"{target.rstrip('/')}/")


def _action(case: GuestCase, found: Sequence[Finding], words: _Words) -> Action:
    lead = _lead(found)
    what, command = _done(case, lead, found, words)
    return Action(
        subject=case.guest.subject,
        name=case.guest.name,
        codes=tuple(dict.fromkeys(finding.code for finding in found)),
        severity=found[0].problem.severity,
        what=what,
        command=command,
    )


def _lead(found: Sequence[Finding]) -> Finding:
    """Return the finding whose remedy comes first."""
    for codes in (FIRST, NEXT):
        for finding in found:
            if finding.code in codes:
                return finding
    return found[0]


def _done(
    case: GuestCase, lead: Finding, found: Sequence[Finding], words: _Words
) -> tuple[str, str]:
    """Return what to do, and the command."""
    guest = case.guest
    rented = [finding for finding in found if finding.code == RENTED]
    # It names all that the machine lacks, where what each workload wants is a part of that.
    problem = rented[0].problem if rented else lead.problem
    remedy = first_sentence(problem.remedy or problem.message)
    if guest.platform is Platform.UNSEEN:
        return remedy, f"unmask audit {words.target(case)} --ticket" if rented else ""
    if guest.kind is not GuestKind.VM:
        return remedy, ""
    if guest.state is GuestState.SUSPENDED or guest.lock == "suspended":
        return "Wake it and shut it down, then audit it again: it wakes up with its old CPU.", ""
    if problem.command.startswith(RESTARTS):
        return _after_restart(case, found, words) or (AGAIN, problem.command)
    if guest.template:
        return remedy, problem.command
    return _recommendable(case, lead) or remedy, _changes(case, lead, words)


def _changes(case: GuestCase, lead: Finding, words: _Words) -> str:
    """Return the command for a guest whose CPU may be set."""
    problem = lead.problem
    if _recommendable(case, lead):
        return words.fix(case, "recommended") or problem.command
    if lead.code == FLAGS and problem.command:
        flags = ",".join(f"+{flag}" for flag in problem.flags)
        return words.fix(case, flags) or problem.command
    if BASELINE in problem.remedy and not problem.command:
        return f"{BASELINE} {words.target(case)}"
    return _own(case, problem.command, words)


def _after_restart(
    case: GuestCase, found: Sequence[Finding], words: _Words
) -> tuple[str, str] | None:
    """Return what else is to be changed before the restart that the worst finding asks for."""
    for finding in found:
        what = _recommendable(case, finding)
        if what and CHANGE in finding.problem.command:
            return what, words.fix(case, "recommended") or finding.problem.command
    return None


def _recommendable(case: GuestCase, finding: Finding) -> str:
    """Return what `--cpu recommended` is for, as a sentence; "" where it does not serve."""
    if case.guest.template or not _changeable(case):
        return ""
    problem = finding.problem
    if finding.code == "CPU005" and not case.view.starts:
        return "Give it a CPU that its host can run: as it is, it does not start."
    if not SERVED.fullmatch(finding.code) or not problem.command:
        return ""
    if problem.command.startswith(RESTARTS):
        return ""
    slow = [item for item in case.workloads if item.outlook and item.outlook.missing]
    loads = [item.workload for item in sorted(slow, key=badness)]
    if not loads:
        seen = case.workloads or case.guest.visit.inside.known
        return MOST + ("." if seen else "; nobody has seen what it encrypts.")
    names = list(dict.fromkeys(f"{load.kind} {load.name}".strip() for load in loads))
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return (
        f"Show it the flags that it needs for {', '.join(clean(n, 60) for n in names[:2])}{more}."
    )


def _changeable(case: GuestCase) -> bool:
    """Return whether a named model may be chosen for it: its host is known, and `cpu` decides."""
    spec = case.guest.pending or case.guest.configured
    return (
        spec.origin not in (Origin.ARGS, Origin.CUSTOM)
        and case.view.accelerator is Accelerator.KVM
        and isinstance(case.host, Known)
        and isinstance(case.host.value.cpu, Known)
    )


def _own(case: GuestCase, command: str, words: _Words) -> str:
    """Return a rule's own command, as a plan where one of ours does the same.

    Ours keeps the guest's other flags, of which the rule's may leave some out: where there are
    such flags, the rule's it is.
    """
    spec = case.guest.pending or case.guest.configured
    if CHANGE not in command or "flags=" in command or "flags=" in spec.written:
        return command
    return words.fix(case, _value(command)) or command


def _value(command: str) -> str:
    parts = shlex.split(command)
    return parts[parts.index(CHANGE.strip()) + 1]


def first_sentence(text: str) -> str:
    """Return the first sentence of a remedy, with its full stop."""
    return next(_sentences(text), text)


def _sentences(text: str) -> Iterator[str]:
    for match in re.finditer(r".+?(?:[.!?](?=\s+[A-Z])|$)", text, re.DOTALL):
        yield match.group().strip()
