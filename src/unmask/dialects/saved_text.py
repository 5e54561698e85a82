"""What all texts that unmask saves have in common: one JSON object that names its schema."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

from unmask.errors import InputError


@dataclass(frozen=True, slots=True)
class Form:
    """One kind of saved text, and how sentences name it."""

    schema: str
    """"unmask.inventory"; the text has "unmask.inventory/1"."""
    version: int
    limit: int
    """Characters of text that are looked at."""
    what: str
    """"a saved inventory"."""
    no: str
    """What a text is said to be that is none: "not a saved inventory"."""
    has: str
    """"this inventory has"."""
    it: str
    """"it" or "them"."""


def dump(form: Form, body: dict[str, Any]) -> str:
    """Return ASCII JSON text that ends with a line break."""
    return json.dumps({"schema": f"{form.schema}/{form.version}", **body}, indent=1) + "\n"


def load(form: Form, text: str) -> dict[str, Any]:
    """Return the object that a saved text holds, without its schema.

    Raises:
        InputError: It is not such a text, or of another version.
    """
    value = _parsed(form, text)
    schema = value.pop("schema", None)
    name, _, version = schema.partition("/") if isinstance(schema, str) else ("", "", "")
    if name != form.schema:
        raise InputError(f'{form.no}: "schema" is not "{form.schema}/{form.version}"')
    if version != str(form.version):
        raise InputError(
            f"{form.has} version {version[:20]!r} and this unmask reads version {form.version}: "
            f"use the unmask that wrote {form.it}, or a newer one"
        )
    return value


def _parsed(form: Form, text: str) -> dict[str, Any]:
    if len(text) > form.limit:
        raise InputError(f"{form.what} of more than {form.limit} characters is not read")
    try:
        value = json.loads(text, object_pairs_hook=_unique_keys)
    except RecursionError as error:
        raise InputError(f"{form.no}: the JSON is nested too deeply") from error
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"{form.no}: it is no JSON from {where} on") from error
    except ValueError as error:
        raise InputError(f"{form.no}: {error}") from error
    if not isinstance(value, dict):
        raise InputError(f"{form.no}: the JSON is not an object")
    return value


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key {twice[:80]!r} appears twice in one object")
    return value
