"""What a lab hands out: a configuration of unmask, and a file that says that it is ready."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

CONFIG = "unmask.toml"
TARGETS = {"lab": "audit", "inside": "agent"}
"""Name of a token by the target that uses it: `inside` is the lab for who may enter its guests."""
OWNER_ONLY = 0o600


def write(folder: Path, address: str, ca: Path, tokens: Mapping[str, str]) -> None:
    """Write a configuration with the targets `TARGETS`, and the secrets that it refers to.

    Args:
        folder: Where.
        address: Of the lab, with its port.
        ca: The CA's certificate.
        tokens: By the lab's own names; targets whose token is not there are left out.
    """
    sections = []
    for target, name in TARGETS.items():
        if name not in tokens:
            continue
        token, _, secret = tokens[name].partition("=")
        file = folder / f"{name}.secret"
        _private(file, secret + "\n")
        sections.append(
            f"[targets.{target}]\n"
            f'address = "pve://{address}"\n'
            f'ca_file = "{ca}"\n'
            f'token_id = "{token}"\n'
            f'token_file = "{file}"\n'
        )
    if sections:
        (folder / CONFIG).write_text("\n".join(sections), encoding="utf-8")


def write_ready_file(path: Path, described: Mapping[str, object]) -> None:
    """Write what a lab says of itself as JSON, readable by its owner only and all at once."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    _private(unfinished, json.dumps(described, indent=2) + "\n")
    unfinished.replace(path)


def _private(path: Path, text: str) -> None:
    path.touch(mode=OWNER_ONLY)
    path.chmod(OWNER_ONLY)
    path.write_text(text, encoding="utf-8")
