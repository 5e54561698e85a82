"""Comma-separated values that any program reads, and no spreadsheet obeys.

Records as in RFC 4180: a heading, commas, every field in double quotes, CRLF at each line's end,
UTF-8. Every field is quoted so that neither a semicolon (which some spreadsheets separate by) nor a
quote in a name begins a new field.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from unmask.report._text import clean

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a field begins with that a spreadsheet takes for a formula: the list of OWASP's page "CSV
Injection", the full-width forms included (owasp.org/www-community/attacks/CSV_Injection)."""
SAFE = "'"
"""What is put before them, which spreadsheets take for "this is text"."""
LIMIT = 4000
"""Characters of one field; a cell of a spreadsheet holds 32767 at most."""

Field: TypeAlias = str | int | float | bool | Sequence[str] | None
Row: TypeAlias = Mapping[str, Field]


def text(columns: Sequence[str], rows: Iterable[Row]) -> str:
    """Return a heading and a line for each row; a row has a value for every column.

    True and false are "yes" and "no", None is empty, and several texts stand in one field, apart by
    " | ".
    """
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows([_field(row[column]) for column in columns] for row in rows)
    return out.getvalue()


def _field(value: Field) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return str(value)
    if not isinstance(value, str):
        value = " | ".join(clean(item, LIMIT) for item in value)
    shown = clean(value, LIMIT)
    return f"{SAFE}{shown}" if shown.startswith(FORMULA) else shown
