"""The metrics that unmask writes for Prometheus, and the text format that they are written in.

Prometheus documentation, "Exposition formats" and "Metric and label naming": one prefix, base
units, `_info` for what is told by labels alone, no label that has new values in each run.
docs/metrics.md has the same list; a test holds both together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from unmask.report._text import clean

LABEL = 120
"""Characters of a label's value."""
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
GUEST = ("guest",)
ABOUT = ("about", "subject", "name", "node", "cluster", "site")
"""What a finding is about; the same labels on every metric about findings."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: a gauge, since each run replaces all that the one before has written."""

    name: str
    labels: tuple[str, ...]
    help: str
    together: Callable[[float, float], float] = max
    """What two samples with the same labels make: names that were shortened may become equal."""


def _sum(one: float, other: float) -> float:
    return one + other


BUILD = Metric("unmask_build_info", ("version",), "Version of unmask that wrote this; always 1.")
TIMESTAMP = Metric(
    "unmask_audit_timestamp_seconds", (), "When the audit began, in seconds since 1970."
)
COMPLETE = Metric(
    "unmask_audit_complete", (), "1 where everything could be read and checked, else 0."
)
TARGET_READ = Metric(
    "unmask_target_read", ("target",), "1 where the target could be read, 0 where not at all.", min
)
HOSTS = Metric("unmask_hosts", (), "Number of hosts that the audit knows.")
GUESTS = Metric("unmask_guests", ("state",), "Number of guests, by state.", _sum)
GAPS = Metric("unmask_gaps", (), "Number of things that could not be read.")
SKIPS = Metric("unmask_skipped_checks", (), "Number of checks that could not be made.")
FINDINGS = Metric(
    "unmask_findings", ("severity",), "Number of findings that are not accepted, by severity."
)
ACCEPTED = Metric(
    "unmask_accepted_findings", ("severity",), "Number of accepted findings, by severity."
)
FINDING = Metric(
    "unmask_finding",
    ("code", "severity", *ABOUT),
    "Number of findings of one rule about one subject; no sample where there is none.",
    _sum,
)
HOST_INFO = Metric(
    "unmask_host_info",
    ("node", "name", "cluster", "site", "platform", "arch", "vendor", "model", "microcode"),
    "A host and its CPU; always 1. The CPU's labels are empty where it could not be read.",
)
HOST_FEATURE = Metric(
    "unmask_host_feature",
    ("node", "feature"),
    "1 where the host's CPU has the flag, 0 where not; no sample where that is not known.",
    min,
)
GUEST_INFO = Metric(
    "unmask_guest_info",
    ("guest", "name", "node", "cluster", "site", "platform", "kind", "state", "cpu"),
    "A guest and the CPU that it sees; always 1.",
)
GUEST_FEATURE = Metric(
    "unmask_guest_feature",
    ("guest", "feature"),
    "1 where the guest sees the flag, 0 where not; no sample where that is not known.",
    min,
)
GUEST_UNKNOWN = Metric(
    "unmask_guest_feature_unknown",
    ("guest", "feature"),
    "1 where it is not known whether the guest sees the flag; no sample where it is.",
)
GUEST_LEVEL = Metric(
    "unmask_guest_cpu_level",
    GUEST,
    "Whole x86-64 level that the guest sees, 0 to 4; no sample where it is not known.",
    min,
)
GUEST_PENDING = Metric(
    "unmask_guest_cpu_change_pending", GUEST, "1 where a CPU change waits for a stop and start."
)
GUEST_INSIDE = Metric(
    "unmask_guest_inside_read", GUEST, "1 where somebody has looked inside the guest, else 0.", min
)
GUEST_UNREAD = Metric(
    "unmask_guest_workload_kinds_unread",
    GUEST,
    "Kinds of encryption that could not be looked for in a guest; no sample where nobody looked.",
)
WORKLOADS = Metric("unmask_workloads", ("status",), "Number of encrypted workloads, by status.")
WORKLOAD_INFO = Metric(
    "unmask_workload_info",
    ("guest", "kind", "workload", "cipher", "status"),
    "An encrypted workload and on what it runs; always 1.",
)
WORKLOAD_SPEED = Metric(
    "unmask_workload_speed_ratio",
    ("guest", "kind", "workload"),
    "Part of its speed that the workload keeps without the flags that its guest lacks, 0 to 1.",
    min,
)
METRICS = (
    BUILD, TIMESTAMP, COMPLETE, TARGET_READ, HOSTS, GUESTS, GAPS, SKIPS, FINDINGS, ACCEPTED,
    FINDING, HOST_INFO, HOST_FEATURE, GUEST_INFO, GUEST_FEATURE, GUEST_UNKNOWN, GUEST_LEVEL,
    GUEST_PENDING, GUEST_INSIDE, GUEST_UNREAD, WORKLOADS, WORKLOAD_INFO, WORKLOAD_SPEED,
)  # fmt: skip
"""All of them, in the order in which they are written."""


class Samples:
    """Collects samples and writes them."""

    def __init__(self) -> None:
        """Begin with none."""
        self._values: dict[str, dict[tuple[str, ...], float]] = {}

    def add(self, metric: Metric, value: float, **labels: str) -> None:
        """Add a sample; a label that is not named is empty, which Prometheus takes for absent."""
        unknown = set(labels).difference(metric.labels)
        if unknown:
            raise TypeError(f"{metric.name} has no label {sorted(unknown)}")
        key = tuple(clean(labels.get(name, ""), LABEL) for name in metric.labels)
        held = self._values.setdefault(metric.name, {})
        held[key] = metric.together(held[key], value) if key in held else value

    def count(self, metric: Metric, numbers: Mapping[str, int]) -> None:
        """Add a sample for each value of the metric's only label."""
        for word, number in numbers.items():
            self.add(metric, number, **{metric.labels[0]: word})

    def write(self) -> str:
        """Return the text, without the metrics that have no sample."""
        return "".join(f"{line}\n" for metric in METRICS for line in self._lines(metric))

    def _lines(self, metric: Metric) -> Iterator[str]:
        samples = self._values.get(metric.name)
        if not samples:
            return
        yield f"# HELP {metric.name} {metric.help}"
        yield f"# TYPE {metric.name} gauge"
        for key, value in samples.items():
            pairs = ",".join(
                f'{name}="{text.translate(_ESCAPES)}"'
                for name, text in zip(metric.labels, key, strict=True)
                if text
            )
            yield (
                f"{metric.name}{{{pairs}}} {_number(value)}"
                if pairs
                else (f"{metric.name} {_number(value)}")
            )


def _number(value: float) -> str:
    """Return a number as the format has it: digits, and no exponent for what is counted."""
    return str(int(value)) if float(value).is_integer() else f"{value:.6g}"
