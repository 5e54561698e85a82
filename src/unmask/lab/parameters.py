"""Checks of parameters against a schema, with the texts of PVE/JSONSchema.pm."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from unmask.lab.answer import Json, invalid_all

UNKNOWN = "property is not defined in schema and the schema does not allow additional properties"
MISSING = "property is missing and it is not optional"

BOOLEAN = re.compile(r"[01]")
INTEGER = re.compile(r"[+-]?[0-9]+")
VMID = re.compile(r"[1-9][0-9]{2,8}")


@dataclass(frozen=True, slots=True)
class Parameter:
    """What one parameter may be."""

    kind: str = "string"
    """string, integer, boolean or array."""
    needed: bool = False
    least: int | None = None
    most: int | None = None
    longest: int | None = None
    words: tuple[str, ...] = ()
    faulty: Callable[[str], str] | None = None
    """Returns what is wrong with a string, "" for nothing."""


TEXT = Parameter()
NEEDED = Parameter(needed=True)
FLAG = Parameter("boolean")
NUMBER = Parameter("integer")
DIGEST = Parameter(longest=40)
TIMEOUT = Parameter("integer", least=0)


def check(schema: Mapping[str, Parameter], given: Mapping[str, Json]) -> dict[str, Json]:
    """Return the parameters with numbers and booleans as integers.

    Raises:
        Refused: 400 with all that is wrong.
    """
    errors: dict[str, str] = {}
    found: dict[str, Json] = {}
    for name, value in given.items():
        parameter = schema.get(name)
        said = UNKNOWN if parameter is None else fault(parameter, value)
        if said:
            errors[name] = said
        elif parameter:
            number = parameter.kind in ("integer", "boolean")
            found[name] = int(value) if number else _text(parameter, value)
    errors |= {
        name: MISSING
        for name, parameter in schema.items()
        if parameter.needed and name not in given
    }
    if errors:
        raise invalid_all(errors)
    return found


def _text(parameter: Parameter, value: Json) -> Json:
    if parameter.kind == "array":
        return [str(item) for item in value] if isinstance(value, list) else [str(value)]
    return "" if value is None else str(value)


def fault(parameter: Parameter, value: Json) -> str:
    """Return what is wrong with a value, "" for nothing."""
    if parameter.kind == "array":
        return ""
    text = str(int(value)) if isinstance(value, bool) else str("" if value is None else value)
    if parameter.kind == "boolean":
        return "" if BOOLEAN.fullmatch(text) else f"type check ('boolean') failed - got '{text}'"
    if parameter.kind == "integer":
        return _out_of_range(parameter, text)
    return _bad_text(parameter, text)


def _out_of_range(parameter: Parameter, text: str) -> str:
    if not INTEGER.fullmatch(text) or len(text) > 18:
        return f"type check ('integer') failed - got '{text}'"
    if parameter.least is not None and int(text) < parameter.least:
        return f"value must have a minimum value of {parameter.least}"
    if parameter.most is not None and int(text) > parameter.most:
        return f"value must have a maximum value of {parameter.most}"
    return ""


def _bad_text(parameter: Parameter, text: str) -> str:
    if parameter.longest is not None and len(text) > parameter.longest:
        return f"value may only be {parameter.longest} characters long"
    if parameter.words and text not in parameter.words:
        words = ", ".join(parameter.words)
        return f"value '{text}' does not have a value in the enumeration '{words}'"
    return parameter.faulty(text) if parameter.faulty else ""


def vmid_fault(text: str) -> str:
    """Return what is wrong with a guest's id in a path."""
    if not INTEGER.fullmatch(text):
        return f"type check ('integer') failed - got '{text}'"
    return (
        "" if VMID.fullmatch(text) else "invalid format - value does not look like a valid VM ID\n"
    )
