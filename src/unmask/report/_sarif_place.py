"""Where a finding is, for SARIF: a thing of the cluster, and a file that stands for it."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from unmask.report._subjects import Subject
from unmask.report._text import clean

SEGMENT = 200
"""Characters of one part of a path."""


def location(item: Subject, name: str) -> dict[str, Any]:
    """Return a location (3.28) by what it is called and by a file.

    GitHub shows no result without a file, its first line at least, and tells two alerts apart by
    it, so that one is made up where nothing was read from a file: "guests/homelab/101".
    """
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": artifact(item)},
            "region": {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 1},
        },
        "logicalLocations": [
            {
                "name": clean(name) or clean(item.subject),
                "fullyQualifiedName": clean(item.subject) or "(nameless)",
                "kind": str(item.about),
            }
        ],
    }


def artifact(item: Subject) -> str:
    """Return the relative URI of a guest's configuration file, or of what stands for it.

    It is relative whatever was read, so that it does not depend on the machine: an absolute path
    loses its first "/", a URI its scheme and its user. An audit of copies in a repository gives the
    files' own paths, and GitHub shows its alerts at them.
    """
    return _path(item.location) or _path(f"{item.about}s/{item.subject}") or f"{item.about}s"


def _path(text: str) -> str:
    scheme, mark, rest = text.partition("://")
    if mark and "/" not in scheme:
        authority, slash, path = rest.partition("/")
        text = authority.rpartition("@")[2] + slash + path
    parts = (clean(part, SEGMENT) for part in text[:4000].split("/"))
    # The reader may take a colon in the first part for the end of a scheme: it is quoted as well.
    return "/".join(quote(part, safe="") for part in parts if part not in ("", ".", ".."))
