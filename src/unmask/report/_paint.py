"""A terminal's colours for the few words that carry a verdict; the words stay without them."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.model.checkup import Status
from unmask.model.finding import Severity

_SEVERITY = {
    Severity.CRITICAL: "1;31",
    Severity.HIGH: "31",
    Severity.MEDIUM: "33",
    Severity.LOW: "36",
    Severity.INFO: "2",
}
_STATUS = {Status.OK: "32", Status.NOTE: "33", Status.PROBLEM: "31"}
_CELL = {
    "yes": "32", "no": "31", "host": "33", "?": "33", "n/a": "2",
    "hardware": "32", "partial": "33", "software": "31", "unknown": "33", "not-affected": "2",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Paint:
    """Colours, or none."""

    enabled: bool

    def severity(self, text: str, severity: Severity) -> str:
        """Return `text` in the colour of a severity."""
        return self._in(_SEVERITY[severity], text)

    def cell(self, text: str) -> str:
        """Return a cell of a verdict in its colour; one of two states takes the first one's."""
        word = text.split(" ", maxsplit=1)[0]
        code = _CELL.get(word) or _CELL.get(word.rstrip("?"))
        return self._in(code, text) if code else text

    def status(self, status: Status) -> str:
        """Return what a check has come to in its colour."""
        return self._in(_STATUS[status], status.value)

    def heading(self, text: str) -> str:
        """Return `text` in bold."""
        return self._in("1", text)

    def _in(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.enabled else text
