"""What Proxmox VE's answers mean, errors above all.

The reason phrase is the text of an error (pve-http-server, AnyEvent.pm); since 8.4 the body has it
too, under "message" and with all its lines. A proxy on the way may drop the phrase, or answer with
a page of its own.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from unmask.errors import UnmaskError

TRANSIENT = frozenset({502, 503, 504, 595, 596})
"""Worth another try: a proxy's, and pveproxy's own for a node or daemon that it cannot reach."""

ABSENT = 501
"""This version has no such route."""

LONGER = "a longer --timeout"
"""What a run needs that is too slow for its time."""
TEXT_LIMIT = 300
"""Characters of an error's text that are passed on."""

DENIED = re.compile(r"\((?P<path>/[^,)]*), (?P<privileges>[A-Za-z.|]+)\)")

PHRASES = {
    401: "authentication failed",
    403: "permission check failed",
    501: "no such route",
    502: "bad gateway",
    503: "service unavailable",
    504: "gateway timeout",
    595: "the node cannot be reached",
    596: "the connection to the node broke",
}


class ApiError(UnmaskError):
    """The API did not give what was asked for."""

    def __init__(self, text: str, needs: str = "", status: int = 0) -> None:
        super().__init__(text)
        self.needs = needs
        """The privilege and path, package or option that would help."""
        self.status = status
        """Of HTTP; 0 where there was no answer."""


class TransientError(ApiError):
    """Another try may help."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as proxmoxer looks at it."""

    status_code: int
    reason: str
    content: bytes

    @property
    def text(self) -> str:
        """Return the body; what is no UTF-8 is replaced."""
        return self.content.decode("utf-8", errors="replace")


class Serializer:
    """Reads bodies; proxmoxer's own passes what is no JSON on as if it were data."""

    @staticmethod
    def loads(reply: Reply) -> Any:
        """Return `data`; raises `TransientError` where the body is no answer of Proxmox VE."""
        try:
            body = json.loads(reply.content)
        except (ValueError, RecursionError):
            raise TransientError(f"answered with {_instead(reply.content)}") from None
        if not isinstance(body, dict) or "data" not in body:
            raise TransientError("answered with JSON that Proxmox VE does not send")
        return body["data"]

    @staticmethod
    def loads_errors(reply: Reply) -> Any:
        """Return `errors` and `message` of a refusal, both None where there are none."""
        try:
            body = json.loads(reply.content)
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            return {"errors": None, "message": None}
        return {"errors": body.get("errors"), "message": body.get("message")}


def _instead(content: bytes) -> str:
    """Say what a body is that is no JSON."""
    start = content[:2000].lstrip().lower()
    if start.startswith((b"<!doctype", b"<html", b"<head")):
        return "an HTML page instead of JSON, as a proxy or a login page does"
    if not content:
        return "an empty body"
    if start[:1] in b"{[":
        return "JSON that breaks off or is damaged"
    return "something that is no JSON"


def reason_phrase(raw: str) -> str:
    """Return a reason phrase as it was meant: http.client reads its UTF-8 as Latin-1."""
    try:
        return raw.encode("latin-1").decode("utf-8")
    except (UnicodeEncodeError, UnicodeDecodeError):
        return raw


def refusal(status: int, phrase: str, detail: Any) -> ApiError:
    """Return the error for an answer that is none of success."""
    detail = detail if isinstance(detail, dict) else {}
    text = _words(status, phrase, detail)
    kind = TransientError if status in TRANSIENT else ApiError
    return kind(f"{status} {text}", needed(text) if status == 403 else "", status)


def _words(status: int, phrase: str, detail: dict[str, Any]) -> str:
    message = detail.get("message")
    said = message if isinstance(message, str) and message.strip() else phrase
    text = ", ".join(line.strip() for line in said.splitlines() if line.strip())
    errors = detail.get("errors")
    if isinstance(errors, dict) and errors:
        text += " " + "; ".join(f"{name}: {_flat(why)}" for name, why in sorted(errors.items()))
    return (text or PHRASES.get(status, "no reason given"))[:TEXT_LIMIT]


def _flat(value: Any) -> str:
    return " ".join(str(value).split())


def needed(text: str) -> str:
    """Return "VM.Audit on /vms/101" for the text of a refused permission, "" for any other."""
    match = DENIED.search(text)
    if match is None:
        return ""
    return f"{' or '.join(match['privileges'].split('|'))} on {match['path']}"
