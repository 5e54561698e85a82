"""The page's own style and script, and the policy that lets a browser take nothing else."""

from __future__ import annotations

import base64
import hashlib
import pkgutil
from dataclasses import dataclass
from functools import cache

PACKAGE = "unmask.report._html"
STYLES = ("base.css", "parts.css", "tables.css", "matrix.css", "print.css")
SCRIPTS = ("report.js",)


@dataclass(frozen=True, slots=True)
class Assets:
    """What stands in the page's head and at its end."""

    style: str
    script: str
    policy: str
    """For a `Content-Security-Policy` in a meta element."""


@cache
def assets() -> Assets:
    """Return style, script and policy.

    The policy names the two by their SHA-256, so that not even markup that came out of a name, if
    there ever were any, could bring a style or a script of its own (CSP level 2, hash-source).
    """
    style = "\n".join(text(f"assets/{name}") for name in STYLES)
    script = "\n".join(text(f"assets/{name}") for name in SCRIPTS)
    policy = (
        f"default-src 'none'; style-src {_source(style)}; script-src {_source(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return Assets(style, script, policy)


def text(name: str) -> str:
    """Return a file of this package with plain line breaks, as a browser hashes them."""
    data = pkgutil.get_data(PACKAGE, name) or b""
    return data.decode("utf-8").replace("\r\n", "\n")


def _source(content: str) -> str:
    digest = hashlib.sha256(content.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
