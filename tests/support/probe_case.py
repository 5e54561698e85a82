"""Recorded and written sections of probes, and what is read from them: fixtures/probes/MODULE.json.

`UNMASK_GOLDEN=write pytest tests/probes` writes the expected values anew, to be read.
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

from unmask import plugins
from unmask.dialects.records import codec
from unmask.errors import InputError
from unmask.model.inside import Inside
from unmask.model.reading import Known
from unmask.probes._bounds import bounded
from unmask.probes._probe import Probe
from unmask.probes._section import Section

FOLDER = Path(__file__).parents[2] / "fixtures" / "probes"
PACKAGE = "unmask.probes"


@cache
def probes() -> dict[str, Probe]:
    """Return all probes by the name of their module."""
    found = plugins.load(PACKAGE, "PROBE", Probe)
    return dict(zip(plugins.names(PACKAGE), found, strict=True))


def cases(module: str) -> list[dict[str, Any]]:
    """Return the cases of one probe."""
    text = (FOLDER / f"{module}.json").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = json.loads(text)["cases"]
    return found


def all_cases() -> list[tuple[str, int, str]]:
    """Return module, number and name of every case."""
    return [
        (module, number, case["name"])
        for module in probes()
        for number, case in enumerate(cases(module))
    ]


def section(case: dict[str, Any]) -> Section:
    """Return the section of a case."""
    return Section(
        content=case.get("content", "").encode(),
        parts={name: text.encode() for name, text in case["parts"].items()},
        status=case.get("status", 0),
        unreadable=tuple(case.get("unreadable", ())),
    )


def outcome(module: str, case: dict[str, Any]) -> Any:
    """Return what the probe reads, in its saved form, or {"missing": why}."""
    probe = probes()[module]
    try:
        value = bounded(probe.parse(section(case)))
    except InputError as error:
        return {"missing": str(error)}
    reading = codec(Inside).dump(filled({probe.name: Known(value)}))[probe.name]
    return reading["known"]


def filled(readings: dict[str, Any]) -> Inside:
    """Return an `Inside` with these fields."""
    return Inside(**readings)


def check(module: str, number: int) -> None:
    """Hold a case's outcome against the expected one."""
    path = FOLDER / f"{module}.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    case = document["cases"][number]
    found = outcome(module, case)
    if os.environ.get("UNMASK_GOLDEN") == "write":
        case["expected"] = found
        path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    assert found == case["expected"]
