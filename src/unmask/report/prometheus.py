"""Metrics for Prometheus, in the text format that node_exporter's textfile collector reads.

`unmask.report._metrics` has the names, docs/metrics.md the same for people. What is not known is
absent rather than NaN: comparisons with NaN are silently false, and sums with it are lost.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

from unmask.model.case import GuestCase
from unmask.model.cpu import State
from unmask.model.finding import Severity
from unmask.model.inventory import GuestState, Host
from unmask.model.reading import Known
from unmask.model.report import Document, Format
from unmask.report import _cells
from unmask.report import _metrics as metric
from unmask.report._metrics import Samples
from unmask.report._subjects import Subjects
from unmask.report._workloads import WORDS, badness

FEATURES = {
    "x86_64": ("aes", "avx2", "pclmulqdq", "ssse3", "vaes", "vpclmulqdq"),
    "i686": ("aes", "pclmulqdq", "ssse3"),
    "aarch64": ("aes", "pmull", "sha2"),
}
"""The flags that encryption is fast by, by architecture. A series each for every guest and host."""
WORKLOADS = 50
"""Workloads of one guest that have series of their own, the slowest; all of them are counted."""


def render(document: Document, width: int) -> str:  # noqa: ARG001 - it is no table
    """Return all metrics, each with HELP and TYPE, in UTF-8 with a line break at the end."""
    samples = Samples()
    _audit(document, samples)
    _findings(document, samples)
    for host in document.inventory.hosts:
        _host(host, samples)
    for case in document.cases:
        _guest(case, samples)
        _workloads(case, samples)
    return samples.write()


def _audit(document: Document, samples: Samples) -> None:
    run, inventory = document.run, document.inventory
    samples.add(metric.BUILD, 1, version=run.version)
    started = datetime.fromisoformat(run.started)
    started = started if started.tzinfo else started.replace(tzinfo=UTC)
    samples.add(metric.TIMESTAMP, int(started.timestamp()))
    samples.add(metric.COMPLETE, int(run.complete))
    unread = {gap.subject for gap in inventory.gaps}
    for target in run.targets:
        samples.add(metric.TARGET_READ, int(target not in unread), target=target)
    samples.add(metric.HOSTS, len(inventory.hosts))
    states = Counter(str(case.guest.state) for case in document.cases)
    samples.count(metric.GUESTS, {str(state): states[state] for state in GuestState})
    samples.add(metric.GAPS, len(inventory.gaps))
    samples.add(metric.SKIPS, len(document.outcome.skips))
    statuses = Counter(item.status for case in document.cases for item in case.workloads)
    samples.count(metric.WORKLOADS, {word: statuses[word] for word in WORDS})


def _findings(document: Document, samples: Samples) -> None:
    outcome, subjects = document.outcome, Subjects(document)
    worst_first = sorted(Severity, reverse=True)
    found = Counter(finding.problem.severity for finding in outcome.findings)
    accepted = Counter(item.finding.problem.severity for item in outcome.accepted)
    samples.count(metric.FINDINGS, {severity.word: found[severity] for severity in worst_first})
    samples.count(metric.ACCEPTED, {severity.word: accepted[severity] for severity in worst_first})
    for finding in outcome.findings:
        about = subjects.of(finding.code, finding.subject)
        samples.add(
            metric.FINDING,
            1,
            code=finding.code,
            severity=finding.problem.severity.word,
            about=str(about.about),
            subject=finding.subject,
            name=finding.name,
            node=finding.host,
            cluster=about.cluster,
            site=about.site,
        )


def _host(host: Host, samples: Samples) -> None:
    labels = {
        "node": host.subject,
        "name": host.name,
        "cluster": host.cluster,
        "site": host.site,
        "platform": str(host.platform),
    }
    if not isinstance(host.cpu, Known):
        samples.add(metric.HOST_INFO, 1, **labels)
        return
    cpu = host.cpu.value
    told = {"arch": cpu.arch, "vendor": cpu.vendor, "model": cpu.model_name}
    samples.add(metric.HOST_INFO, 1, **labels, **told, microcode=cpu.microcode)
    for flag in FEATURES.get(cpu.arch, ()):
        if flag in cpu.flags or cpu.complete:
            value = int(flag in cpu.flags)
            samples.add(metric.HOST_FEATURE, value, node=host.subject, feature=flag)


def _guest(case: GuestCase, samples: Samples) -> None:
    guest = case.guest
    host = case.host.value if isinstance(case.host, Known) else None
    samples.add(
        metric.GUEST_INFO,
        1,
        guest=guest.subject,
        name=guest.name,
        node=guest.host,
        cluster=host.cluster if host else "",
        site=guest.site,
        platform=str(guest.platform),
        kind=str(guest.kind),
        state=str(guest.state),
        cpu=case.view.label,
    )
    seen = {"guest": guest.subject}
    samples.add(metric.GUEST_PENDING, int(guest.pending is not None), **seen)
    samples.add(metric.GUEST_INSIDE, int(guest.visit.inside.known), **seen)
    if guest.visit.inside.known or case.unread:
        samples.add(metric.GUEST_UNREAD, len({item.kind for item in case.unread}), **seen)
    view = _cells.leveled(case)
    if view.x86 and view.level_certain and view.level is not None:
        samples.add(metric.GUEST_LEVEL, view.level, **seen)
    for flag in FEATURES.get(case.view.arch, ()):
        state = _cells.seen(case, flag)
        if state in (State.SHOWN, State.HIDDEN):
            samples.add(metric.GUEST_FEATURE, int(state is State.SHOWN), **seen, feature=flag)
        else:
            samples.add(metric.GUEST_UNKNOWN, 1, **seen, feature=flag)


def _workloads(case: GuestCase, samples: Samples) -> None:
    for item in sorted(case.workloads, key=badness)[:WORKLOADS]:
        work, outlook = item.workload, item.outlook
        named = {"guest": case.guest.subject, "kind": str(work.kind), "workload": work.name}
        cipher = work.cipher or (outlook.cipher if outlook else "")
        samples.add(metric.WORKLOAD_INFO, 1, **named, cipher=cipher, status=item.status)
        if outlook and outlook.factor is not None:
            samples.add(metric.WORKLOAD_SPEED, outlook.factor, **named)


FORMAT = Format(name="prometheus", summary="metrics for Prometheus: docs/metrics.md", render=render)
