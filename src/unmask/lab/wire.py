"""Replies as they go over the wire: status line, headers, body, and how broken they are."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from unmask.lab.answer import Answer, Json, Refused

JSON_TYPE = "application/json;charset=UTF-8"
HTML_TYPE = "text/html; charset=utf-8"
PIECE = 64
"""Bytes of a piece that drips."""

PROXY_PAGE = (
    "<html><head><title>502 Bad Gateway</title></head><body><h1>Bad Gateway</h1>"
    "<p>The proxy server received an invalid response from an upstream server.</p></body></html>"
)
START_PAGE = (
    "<!DOCTYPE html><html><head><title>pve - Proxmox Virtual Environment</title></head></html>"
)


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply."""

    status: int
    reason: str
    body: bytes
    kind: str = ""
    """The content type, "" for none."""
    location: str = ""
    sent: str = "whole"
    """whole, cut (the body breaks off) or reset (nothing comes at all)."""
    pause: float = 0.0
    """Seconds after each piece of the body."""

    def headers(self) -> dict[str, str]:
        """Return the headers."""
        found = {"Cache-Control": "max-age=0", "Pragma": "no-cache"}
        if self.kind:
            found["Content-Type"] = self.kind
        if self.location:
            found["Location"] = self.location
        found["Content-Length"] = str(len(self.body))
        return found

    def pieces(self) -> Iterator[bytes]:
        """Yield the body in the pieces in which it is sent."""
        body = self.body[: len(self.body) // 2] if self.sent == "cut" else self.body
        size = PIECE if self.pause else max(1, len(body))
        for start in range(0, len(body), size):
            yield body[start : start + size]

    def cut(self) -> Reply:
        """Return the reply whose body breaks off in the middle."""
        return replace(self, sent="cut")

    def dripping(self, pause: float) -> Reply:
        """Return the reply whose body comes slowly."""
        return replace(self, pause=pause)


def answered(answer: Answer, formatter: str) -> Reply:
    """Return the reply to a request that was served."""
    body: dict[str, Json] = {"data": answer.data, **answer.beside}
    if formatter == "extjs":
        body["success"] = 1
    return Reply(200, "OK", _encoded(body), JSON_TYPE)


def refused(said: Refused, formatter: str, *, message: bool) -> Reply:
    """Return the reply to a request that was refused.

    Args:
        said: With what text and status.
        formatter: "json" or "extjs", which always answers 200.
        message: The version tells the text in the body too.
    """
    body: dict[str, Json] = {"data": None}
    text = said.text if said.bare else said.text.rstrip("\n") + "\n"
    if message or formatter == "extjs":
        body["message"] = text
    if said.errors:
        body["errors"] = said.errors
    if formatter == "extjs":
        return Reply(200, "OK", _encoded(body | {"success": 0, "status": said.status}), JSON_TYPE)
    reason = said.text.split("\n", 1)[0].encode("latin-1", "replace").decode("latin-1")
    if said.empty:
        return Reply(said.status, reason, b"")
    return Reply(said.status, reason, _encoded(body), JSON_TYPE)


def page(*, proxy: bool = False) -> Reply:
    """Return a page of HTML: the web interface's, or a proxy's in front of it."""
    text = PROXY_PAGE if proxy else START_PAGE
    return Reply(200, "OK", text.encode(), HTML_TYPE)


def _encoded(body: dict[str, Json]) -> bytes:
    """Return the body as JSON; keys come in another order each time, as Perl's do."""
    data = body["data"]
    if isinstance(data, list):
        data = [_shuffled(item) for item in data]
    return json.dumps(_shuffled(body | {"data": _shuffled(data)}), ensure_ascii=False).encode()


def _shuffled(value: Json) -> Json:
    if not isinstance(value, dict):
        return value
    items = list(value.items())
    random.shuffle(items)
    return dict(items)
