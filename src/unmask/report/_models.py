"""CPU models for people and for programs: the table of all, and the page of one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from unmask.cpu import levels, os_levels
from unmask.cpu.features import reported
from unmask.crypto.consumers import consumers
from unmask.crypto.outlook import judge
from unmask.crypto.sentence import sentence
from unmask.model.cpu import Accelerator, FeatureView, State
from unmask.report._grid import Layout, draw, fit
from unmask.report._model_facts import ModelFacts
from unmask.report._paint import Paint
from unmask.report._text import wrap

SCHEMA = "unmask.models/1"
FLAGS = {
    "AES": "aes",
    "CLMUL": "pclmulqdq",
    "SSSE3": "ssse3",
    "SSE4.2": "sse4_2",
    "AVX": "avx",
    "AVX2": "avx2",
    "VAES": "vaes",
    "SHA": "sha_ni",
    "AVX512F": "avx512f",
}
"""The flag behind each column of the table."""
LAYOUT = Layout(
    shrinkable={"MODEL": 25}, droppable=("SINCE", "VENDOR", "SSSE3", "AVX512F", "VAES", "SHA")
)

PAGE = (
    ("dm-crypt", "xts", "AES-XTS"),
    ("openzfs", "gcm", "AES-GCM"),
    ("openzfs", "ccm", "AES-CCM"),
    ("windows", "xts", "AES-XTS"),
    ("windows", "gcm", "AES-GCM"),
    ("freebsd", "xts", "AES-XTS"),
    ("ipsec", "gcm", "AES-GCM"),
    ("openvpn", "gcm", "AES-GCM"),
    ("wireguard", "chacha20", "ChaCha20-Poly1305"),
    ("openssl", "gcm", "AES-GCM"),
    ("openssl", "chacha20", "ChaCha20-Poly1305"),
    ("gnutls", "gcm", "AES-GCM"),
    ("go", "gcm", "AES-GCM"),
    ("java", "gcm", "AES-GCM"),
    ("ring", "gcm", "AES-GCM"),
    ("aws-lc", "gcm", "AES-GCM"),
    ("libsodium", "gcm", "AES-GCM"),
    ("restic", "ctr", "AES-CTR"),
    ("borg", "ctr", "AES-CTR"),
    ("kopia", "gcm", "AES-GCM"),
)
"""What a model's page judges: consumer, family of ciphers, and its name for people."""


def table(models: Sequence[ModelFacts], width: int, paint: Paint) -> str:
    """Return one line a model, and below them what is to be noted about some."""
    columns = {"MODEL": [model.name for model in models]}
    columns["VENDOR"] = [model.vendor or "host's" for model in models]
    for heading, flag in FLAGS.items():
        columns[heading] = ["yes" if flag in model.flags else "no" for model in models]
    columns["LEVEL"] = [f"v{model.level}" if model.level else "<v1" for model in models]
    columns["SINCE"] = [model.since for model in models]
    fitted = fit(columns, width, LAYOUT)
    lines = draw(fitted, lambda head, cell: paint.cell(cell) if head in FLAGS else cell)
    notes = [line for model in models for note in model.notes for line in _note(model, note, width)]
    return "\n".join([*lines, *([""] if notes else []), *notes]) + "\n"


def _note(model: ModelFacts, note: str, width: int) -> list[str]:
    return wrap(f"{model.name}: {note}", width, "", "  ")


def page(model: ModelFacts, width: int, paint: Paint) -> str:
    """Return all that is known about one model."""
    facts = {
        "since": model.since,
        "vendor": model.vendor or "the host's under KVM",
        "level": _level(model),
        "built on": f"{model.built_on} plus {' '.join(model.added)}" if model.built_on else "",
        "same as": ", ".join(model.same),
        "versions": ", ".join(model.versions),
        "flags": " ".join(sorted(model.flags)),
        "hidden": " ".join(flag for flag in reported("x86_64") if flag not in model.flags),
    }
    lines = [paint.heading(model.name)]
    for key, text in facts.items():
        if text:
            lines += wrap(text, width, f"  {key + ':':<10} ", " " * 13)
    for note in model.notes:
        lines += wrap(note, width, "  note:      ", " " * 13)
    lines += ["", paint.heading("What software makes of it")]
    for line in _judged(model):
        lines += wrap(line, width, "  ", "    ")
    return "\n".join(lines) + "\n"


def _judged(model: ModelFacts) -> Iterator[str]:
    """Yield what software makes of a model under KVM, and what does not start on it."""
    view = FeatureView(
        arch="x86_64",
        accelerator=Accelerator.KVM,
        label=model.name,
        model=model.built_on or model.name,
        vendor="",
        states=dict.fromkeys(model.flags, State.SHOWN),
        rest=State.HIDDEN,
        level=model.level,
        level_certain=True,
    )
    for identity, family, cipher in PAGE:
        consumer = consumers()[identity]
        yield f"{consumer.name} ({cipher}): {sentence(judge(consumer, view, cipher=family))}"
    for need in os_levels.strict():
        missing = sorted(need.flags - model.flags)
        lacks = f"lacks {', '.join(missing)}: does not start" if missing else "has what it needs"
        yield f"{need.system}: {lacks}"


def _level(model: ModelFacts) -> str:
    now = f"x86-64-v{model.level}" if model.level else "below x86-64-v1"
    if model.level == max(levels.LEVELS):
        return now
    lacking = " ".join(sorted(levels.lacking(model.level + 1, model.flags)))
    return f"{now}; for x86-64-v{model.level + 1} it lacks {lacking}"


def as_json(models: Sequence[ModelFacts]) -> str:
    """Return the models as one JSON object, described in docs/json.md."""
    body = {"schema": SCHEMA, "models": [_record(model) for model in models]}
    return json.dumps(body, indent=2) + "\n"


def _record(model: ModelFacts) -> dict[str, Any]:
    return {
        "name": model.name,
        "platform": model.platform,
        "vendor": model.vendor or None,
        "since": model.since,
        "level": f"x86-64-v{model.level}" if model.level else "none",
        "flags": sorted(model.flags),
        "same": list(model.same),
        "versions": list(model.versions),
        "built_on": model.built_on or None,
        "added": list(model.added),
        "notes": list(model.notes),
    }
