"""What makes a finding the same one in the next run."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence

from unmask.model.finding import Finding

_FIGURES = re.compile(r"\d+(?:[.,]\d+)*")


def fingerprints(findings: Sequence[Finding]) -> tuple[str, ...]:
    """Return 32 hexadecimal digits for each finding, all different.

    A finding is the same while its code and subject are. Where a rule has several to say of one
    subject, their messages tell them apart, without the figures in them: a measured speed changes.
    """
    pairs = Counter((item.code, item.subject) for item in findings)
    seen: Counter[tuple[str, ...]] = Counter()
    prints = []
    for item in findings:
        parts: tuple[str, ...] = (item.code, item.subject)
        if pairs[item.code, item.subject] > 1:
            parts = (*parts, _FIGURES.sub("#", item.problem.message))
        seen[parts] += 1
        if seen[parts] > 1:
            parts = (*parts, str(seen[parts]))
        text = "\0".join(parts).encode("utf-8", "surrogatepass")
        prints.append(hashlib.sha256(text).hexdigest()[:32])
    return tuple(prints)
