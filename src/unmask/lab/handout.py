"""What a lab hands out: a configuration of unmask, and a file that says that it is ready."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

CONFIG = "unmask.toml"
SECRET = "audit.secret"  # noqa: S105 - the name of a file
OWNER_ONLY = 0o600


def write(folder: Path, address: str, ca: Path, tokens: Mapping[str, str]) -> None:
    """Write a configuration with the target `lab`, and the secret that it refers to.

    Args:
        folder: Where.
        address: Of the lab, with its port.
        ca: The CA's certificate.
        tokens: By the lab's own names; without one called "audit" nothing is written.
    """
    if "audit" not in tokens:
        return
    token, _, secret = tokens["audit"].partition("=")
    _private(folder / SECRET, secret + "\n")
    text = (
        "[targets.lab]\n"
        f'address = "pve://{address}"\n'
        f'ca_file = "{ca}"\n'
        f'token_id = "{token}"\n'
        f'token_file = "{folder / SECRET}"\n'
    )
    (folder / CONFIG).write_text(text, encoding="utf-8")


def write_ready_file(path: Path, described: Mapping[str, object]) -> None:
    """Write what a lab says of itself as JSON, readable by its owner only and all at once."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    _private(unfinished, json.dumps(described, indent=2) + "\n")
    unfinished.replace(path)


def _private(path: Path, text: str) -> None:
    path.touch(mode=OWNER_ONLY)
    path.chmod(OWNER_ONLY)
    path.write_text(text, encoding="utf-8")
